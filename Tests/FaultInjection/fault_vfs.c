// A VFS around the default one that fails calls, and tells the recorder of the others. See
// https://www.sqlite.org/vfs.html.

#include <stdatomic.h>
#include <unistd.h>

#include "fault_recording.h"

extern atomic_int fault_writes;

static sqlite3_vfs vfs;
static sqlite3_vfs *real_vfs;

typedef struct {
  sqlite3_file base;
  // The real file lies behind this one.
  sqlite3_file *real;
  // Its number in the recording.
  int number;
  int is_log;
  // How many failed syncs of logs it knows of.
  atomic_long known_failures;
} fault_file;

static atomic_long log_sync_failures;
static atomic_uint log_sync_delay;

#define FILE_OF(file) ((fault_file *)(file))
#define REAL(file) (FILE_OF(file)->real)

// MARK: Files

static int fault_close(sqlite3_file *file) { return REAL(file)->pMethods->xClose(REAL(file)); }

static int fault_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  if (fault_hits(FAULT_READ)) return SQLITE_IOERR_READ;
  return REAL(file)->pMethods->xRead(REAL(file), bytes, count, offset);
}

static int fault_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  if (fault_hits(FAULT_WRITE)) {
    if (atomic_load(&fault_writes) != FAULT_WRITES_HALF) return SQLITE_IOERR_WRITE;
    REAL(file)->pMethods->xWrite(REAL(file), bytes, count / 2, offset);
    return SQLITE_FULL;
  }
  int code = REAL(file)->pMethods->xWrite(REAL(file), bytes, count, offset);
  if (code == SQLITE_OK) fault_record_write(FILE_OF(file)->number, bytes, count, offset);
  return code;
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size) {
  if (fault_hits(FAULT_TRUNCATE)) return SQLITE_IOERR_TRUNCATE;
  int code = REAL(file)->pMethods->xTruncate(REAL(file), size);
  if (code == SQLITE_OK) fault_record_truncate(FILE_OF(file)->number, size);
  return code;
}

// How many events there were when this thread last began to sync a folder; -1 if it hasn't since
// that was recorded.
static _Thread_local long folder_sync_beginning = -1;

static void record_folder_sync(void) {
  if (folder_sync_beginning >= 0) fault_record_folder_sync(folder_sync_beginning);
  folder_sync_beginning = -1;
}

void fault_delay_log_syncs(unsigned microseconds) {
  atomic_store(&log_sync_delay, microseconds);
}

// Whether a sync of a log is to fail: because it is its turn, or because one on another file that
// is open on the log has, which this one hasn't been told.
static int log_sync_fails(fault_file *own) {
  if (!own->is_log) return 0;
  if (fault_hits(FAULT_LOG_SYNC)) atomic_fetch_add(&log_sync_failures, 1);
  long failures = atomic_load(&log_sync_failures);
  return atomic_exchange(&own->known_failures, failures) != failures;
}

static int fault_sync(sqlite3_file *file, int flags) {
  if (fault_hits(FAULT_SYNC)) return SQLITE_IOERR_FSYNC;
  fault_file *own = FILE_OF(file);
  // The machine isn't going to lose its power: only what is recorded needs the real call, which
  // syncs the folder too where it should.
  if (own->number < 0) return SQLITE_OK;
  long beginning = fault_event_count();
  unsigned delay = own->is_log ? atomic_load(&log_sync_delay) : 0;
  if (delay) usleep(delay);
  if (log_sync_fails(own)) {
    fault_record_sync(own->number, beginning, 1);
    return SQLITE_IOERR_FSYNC;
  }
  int code = REAL(file)->pMethods->xSync(REAL(file), flags);
  fault_record_sync(own->number, beginning, code != SQLITE_OK);
  record_folder_sync();
  return code;
}

static int fault_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  if (fault_hits(FAULT_SIZE)) return SQLITE_IOERR_FSTAT;
  return REAL(file)->pMethods->xFileSize(REAL(file), size);
}

static int fault_lock(sqlite3_file *file, int lock) {
  if (fault_hits(FAULT_LOCK)) return SQLITE_IOERR_LOCK;
  return REAL(file)->pMethods->xLock(REAL(file), lock);
}

static int fault_unlock(sqlite3_file *file, int lock) {
  return REAL(file)->pMethods->xUnlock(REAL(file), lock);
}

static int fault_check_reserved_lock(sqlite3_file *file, int *result) {
  if (fault_hits(FAULT_LOCK)) return SQLITE_IOERR_CHECKRESERVEDLOCK;
  return REAL(file)->pMethods->xCheckReservedLock(REAL(file), result);
}

static int fault_file_control(sqlite3_file *file, int operation, void *argument) {
  return REAL(file)->pMethods->xFileControl(REAL(file), operation, argument);
}

static int fault_sector_size(sqlite3_file *file) {
  return REAL(file)->pMethods->xSectorSize(REAL(file));
}

static int fault_device_characteristics(sqlite3_file *file) {
  return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}

static int fault_shm_map(
    sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
  if (fault_hits(FAULT_SHARED_MEMORY)) return SQLITE_IOERR_SHMMAP;
  return REAL(file)->pMethods->xShmMap(REAL(file), page, size, extend, memory);
}

static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  // Letting go of a lock that is held doesn't fail.
  if ((flags & SQLITE_SHM_LOCK) && fault_hits(FAULT_SHARED_MEMORY)) return SQLITE_IOERR_SHMLOCK;
  return REAL(file)->pMethods->xShmLock(REAL(file), offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *file) { REAL(file)->pMethods->xShmBarrier(REAL(file)); }

static int fault_shm_unmap(sqlite3_file *file, int deletes) {
  return REAL(file)->pMethods->xShmUnmap(REAL(file), deletes);
}

static int fault_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **memory) {
  return REAL(file)->pMethods->xFetch(REAL(file), offset, count, memory);
}

static int fault_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *memory) {
  return REAL(file)->pMethods->xUnfetch(REAL(file), offset, memory);
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_file_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_reserved_lock,
    .xFileControl = fault_file_control,
    .xSectorSize = fault_sector_size,
    .xDeviceCharacteristics = fault_device_characteristics,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
    .xFetch = fault_fetch,
    .xUnfetch = fault_unfetch,
};

// MARK: The system

static int fault_open(
    sqlite3_vfs *self, const char *path, sqlite3_file *file, int flags, int *flags_out) {
  (void)self;
  file->pMethods = 0;
  if (fault_hits(FAULT_OPEN)) return SQLITE_CANTOPEN;
  fault_file *own = FILE_OF(file);
  own->real = (sqlite3_file *)(own + 1);
  int code = real_vfs->xOpen(real_vfs, path, own->real, flags, flags_out);
  if (own->real->pMethods) file->pMethods = &methods;
  own->number = code == SQLITE_OK ? fault_record_open(path) : -1;
  own->is_log = (flags & SQLITE_OPEN_WAL) != 0;
  atomic_init(&own->known_failures, atomic_load(&log_sync_failures));
  return code;
}

static int fault_delete(sqlite3_vfs *self, const char *path, int syncs_folder) {
  (void)self;
  if (fault_hits(FAULT_DELETE)) return SQLITE_IOERR_DELETE;
  // Before the folder is synced for it.
  fault_record_delete(path);
  int code = real_vfs->xDelete(real_vfs, path, syncs_folder);
  record_folder_sync();
  return code;
}

static int fault_access(sqlite3_vfs *self, const char *path, int flags, int *result) {
  (void)self;
  if (fault_hits(FAULT_ACCESS)) return SQLITE_IOERR_ACCESS;
  return real_vfs->xAccess(real_vfs, path, flags, result);
}

static int fault_full_path(sqlite3_vfs *self, const char *path, int count, char *result) {
  (void)self;
  if (fault_hits(FAULT_OPEN)) return SQLITE_CANTOPEN_FULLPATH;
  return real_vfs->xFullPathname(real_vfs, path, count, result);
}

static atomic_int sleeps = 0;

void fault_let_sleep(int lets) { atomic_store(&sleeps, lets); }

// One thread alone waits for nobody. Where there are several, SQLite waits by sleeping until a lock of another is
// free, and gives up after a hundred times (SQLITE_PROTOCOL): a thread that the system stops for a
// few milliseconds between two writes of the log's header would otherwise be enough for that.
static int fault_sleep(sqlite3_vfs *self, int microseconds) {
  (void)self;
  return atomic_load(&sleeps) ? real_vfs->xSleep(real_vfs, microseconds) : microseconds;
}

static int (*real_open_directory)(const char *, int *);

// The default VFS opens a folder for nothing but to sync it.
static int fault_open_directory(const char *path, int *file) {
  folder_sync_beginning = fault_event_count();
  return real_open_directory(path, file);
}

int fault_vfs_install(int is_default) {
  real_vfs = sqlite3_vfs_find(0);
  if (!real_vfs) return SQLITE_ERROR;
  real_open_directory =
      (int (*)(const char *, int *))real_vfs->xGetSystemCall(real_vfs, "openDirectory");
  if (!real_open_directory) return SQLITE_ERROR;
  int code = real_vfs->xSetSystemCall(
      real_vfs, "openDirectory", (sqlite3_syscall_ptr)fault_open_directory);
  if (code != SQLITE_OK) return code;
  vfs = *real_vfs;
  vfs.pNext = 0;
  vfs.zName = "faulty";
  vfs.szOsFile = (int)sizeof(fault_file) + real_vfs->szOsFile;
  vfs.xOpen = fault_open;
  vfs.xDelete = fault_delete;
  vfs.xAccess = fault_access;
  vfs.xFullPathname = fault_full_path;
  vfs.xSleep = fault_sleep;
  return sqlite3_vfs_register(&vfs, is_default);
}
