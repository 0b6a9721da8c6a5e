#ifndef LARDER_CSQLITE_SHIM_H
#define LARDER_CSQLITE_SHIM_H

// SQLite's interface as the system declares it, and the few parts of it that Swift can't call:
// variadic functions and the destructor constants, which are casts of integers to pointers.

#include <linux/futex.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if SQLITE_VERSION_NUMBER < 3037000
#error "Larder needs SQLite 3.37 or newer (STRICT tables, 64-bit change counts)"
#endif

static inline int larder_db_config(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

/// The value of a Boolean connection option (a negative argument asks without changing it).
static inline int larder_db_config_value(sqlite3 *db, int option) {
  int value = 0;
  return sqlite3_db_config(db, option, -1, &value) == SQLITE_OK ? value : -1;
}

/// Turns off SQLite's memory statistics; has to run before the first connection is opened.
static inline int larder_config_memory_statistics(int enabled) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, enabled);
}

/// Marks the virtual table that is being opened as innocuous: triggers and views may use it. (Since 3.47,
/// FTS5 does so by itself, and makes tokenizers when no table is being opened.)
static inline void larder_vtab_is_innocuous(sqlite3 *db) {
  if (sqlite3_libversion_number() < 3047000) sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

/// A virtual table and a cursor, as SQLite knows them, with the objects that they belong to.
typedef struct {
  sqlite3_vtab base;
  void *object;
} larder_vtab;

typedef struct {
  sqlite3_vtab_cursor base;
  void *object;
  /// The rows that are being read, and the arena that their values are given to. The object keeps both alive.
  /// The rows are NULL once they have ended.
  void *rows, *arena;
  /// The number of the current row, from 1.
  sqlite3_int64 row;
  int column_count;
} larder_vtab_cursor;

/// Marks the virtual table that is being opened as direct-only: only the program's own statements may use it.
static inline void larder_vtab_is_direct_only(sqlite3 *db) {
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

/// Whether a constraint compares a virtual table's column with a value that stands in the statement (never
/// before 3.38). Only within xBestIndex.
static inline _Bool larder_vtab_is_literal(sqlite3_index_info *info, int constraint) {
#if SQLITE_VERSION_NUMBER >= 3038000
  sqlite3_value *value = 0;
  return sqlite3_vtab_rhs_value(info, constraint, &value) == SQLITE_OK && value;
#else
  (void)info, (void)constraint;
  return 0;
#endif
}

/// Whether a column of a virtual table is compared with a list of values; the scan then gets all of them at
/// once. Always false before 3.38, since SQLite can't tell. Only within xBestIndex.
static inline _Bool larder_vtab_takes_list(sqlite3_index_info *info, int constraint) {
#if SQLITE_VERSION_NUMBER >= 3038000
  return sqlite3_vtab_in(info, constraint, -1) != 0 && sqlite3_vtab_in(info, constraint, 1) != 0;
#else
  (void)info, (void)constraint;
  return 0;
#endif
}

/// Reads the first or next value of such a list; NULL after the last. Only within xFilter.
static inline int larder_vtab_list_next(
    sqlite3_value *list, _Bool is_first, sqlite3_value **value) {
#if SQLITE_VERSION_NUMBER >= 3038000
  *value = 0;
  int code = is_first ? sqlite3_vtab_in_first(list, value) : sqlite3_vtab_in_next(list, value);
  return code == SQLITE_DONE ? SQLITE_OK : code;
#else
  (void)list, (void)is_first, (void)value;
  return SQLITE_MISUSE;
#endif
}

/// Binds a table's rows, which SQL can neither make nor look at; see https://www.sqlite.org/bindptr.html.
static inline int larder_bind_table(
    sqlite3_stmt *statement, int index, void *rows, void (*release)(void *)) {
  return sqlite3_bind_pointer(statement, index, rows, "larder_table", release);
}

/// The rows that were bound, or NULL if the value is another one.
static inline void *larder_value_table(sqlite3_value *value) {
  return sqlite3_value_pointer(value, "larder_table");
}

/// Copies a text for SQLite to free; NULL if there is no memory.
static inline char *larder_copy_text(const char *text) {
  size_t count = strlen(text) + 1;
  char *copy = (char *)sqlite3_malloc64(count);
  if (copy) memcpy(copy, text, count);
  return copy;
}

static inline int larder_bind_text_transient(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, (const char *)bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int larder_bind_text_static(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, (const char *)bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int larder_bind_blob_transient(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int larder_bind_blob_static(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_STATIC);
}

static inline void larder_result_text(
    sqlite3_context *context, const void *bytes, sqlite3_uint64 count) {
  sqlite3_result_text64(context, (const char *)bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void larder_result_blob(
    sqlite3_context *context, const void *bytes, sqlite3_uint64 count) {
  sqlite3_result_blob64(context, bytes, count, SQLITE_TRANSIENT);
}

/// Renames a file unless the new name exists, in which case it fails with EEXIST. Swift doesn't see this
/// function of the C library, nor its flag, RENAME_NOREPLACE.
static inline int larder_rename_new(const char *from, const char *to) {
  extern int renameat2(int, const char *, int, const char *, unsigned int);
  return renameat2(-100 /* AT_FDCWD */, from, -100, to, 1);
}

/// The offset in bytes of the token that the last error is about, or -1 (always before 3.38).
static inline int larder_error_offset(sqlite3 *db) {
#if SQLITE_VERSION_NUMBER >= 3038000
  return sqlite3_error_offset(db);
#else
  (void)db;
  return -1;
#endif
}

/// Whether databases other than main and temp are attached. Always true before 3.39, since SQLite can't tell.
static inline int larder_has_attached(sqlite3 *db) {
#if SQLITE_VERSION_NUMBER >= 3039000
  return sqlite3_db_name(db, 2) != 0;
#else
  (void)db;
  return 1;
#endif
}

/// Whether the library encrypts files, as SQLCipher does; see <https://www.zetetic.net/sqlcipher/>.
static inline int larder_has_cipher(void) {
#ifdef SQLITE_HAS_CODEC
  return 1;
#else
  return 0;
#endif
}

/// Gives a database its key. Called before anything of its file is read.
static inline int larder_key(sqlite3 *db, const void *bytes, int count) {
#ifdef SQLITE_HAS_CODEC
  return sqlite3_key_v2(db, "main", bytes, count);
#else
  (void)db, (void)bytes, (void)count;
  return SQLITE_MISUSE;
#endif
}

/// Rewrites each page of a database with another key.
static inline int larder_rekey(sqlite3 *db, const void *bytes, int count) {
#ifdef SQLITE_HAS_CODEC
  return sqlite3_rekey_v2(db, "main", bytes, count);
#else
  (void)db, (void)bytes, (void)count;
  return SQLITE_MISUSE;
#endif
}

/// Overwrites bytes with zeros, even if nothing reads them afterwards.
static inline void larder_wipe(void *bytes, size_t count) { explicit_bzero(bytes, count); }

/// Whether the file of a database has the header of an unencrypted one. Reads by SQLite's own descriptor:
/// closing another one would release the file's locks.
static inline int larder_has_plain_header(sqlite3 *db) {
  sqlite3_file *file = 0;
  char bytes[16];
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods) return 0;
  return file->pMethods->xRead(file, bytes, sizeof bytes, 0) == SQLITE_OK &&
         memcmp(bytes, "SQLite format 3", sizeof bytes) == 0;
}

/// Opens the write-ahead log of a database a second time, by its VFS, to sync it; NULL if that fails.
static inline sqlite3_file *larder_open_log(sqlite3 *db) {
  sqlite3_vfs *vfs = 0;
  const char *path = sqlite3_db_filename(db, "main");
  if (!path || !*path) return 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs) != SQLITE_OK) return 0;
  sqlite3_file *file = vfs ? sqlite3_malloc(vfs->szOsFile) : 0;
  if (!file) return 0;
  memset(file, 0, (size_t)vfs->szOsFile);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL;
  if (vfs->xOpen(vfs, sqlite3_filename_wal(path), file, flags, &flags) == SQLITE_OK) return file;
  sqlite3_free(file);
  return 0;
}

/// Whether a database's name is that of the main one.
static inline _Bool larder_is_main(const char *name) {
  return name[0] == 'm' && name[1] == 'a' && name[2] == 'i' && name[3] == 'n' && !name[4];
}

/// The first part of the index of a write-ahead log, 32 KiB, and the file that it belongs to; NULL if it can't be mapped.
/// Only for a database whose index is open: see https://www.sqlite.org/walformat.html#walidxfmt.
static inline void volatile *larder_log_index(sqlite3 *db, sqlite3_file **file) {
  void volatile *index = 0;
  sqlite3_file *found = 0;
  // Without a name this is the main database, which SQLite needn't look for.
  if (sqlite3_file_control(db, 0, SQLITE_FCNTL_FILE_POINTER, &found) != SQLITE_OK) return 0;
  if (!found || !found->pMethods || found->pMethods->iVersion < 2 || !found->pMethods->xShmMap) return 0;
  if (found->pMethods->xShmMap(found, 0, 32768, 0, &index) != SQLITE_OK) return 0;
  *file = found;
  return index;
}

/// Reads how many transactions the index of a write-ahead log has counted, of all connections; returns 0 if
/// it can't.
static inline int larder_log_changes(sqlite3 *db, uint32_t *changes) {
  sqlite3_file *file = 0;
  void volatile *index = larder_log_index(db, &file);
  if (!index) return 0;
  *changes = ((uint32_t volatile *)index)[2];
  return 1;
}

/// Takes (1) or releases (0) the lock that a connection holds while it writes to the log, which its checkpoints then
/// hold, too; returns SQLite's result code. Only for a database whose index is open.
static inline int larder_lock_log(sqlite3 *db, int locks) {
  sqlite3_file *file = 0;
  if (!larder_log_index(db, &file)) return SQLITE_IOERR;
  // The first of the log's locks: see https://www.sqlite.org/walformat.html#wal_locks.
  return file->pMethods->xShmLock(
    file, 0, 1, (locks ? SQLITE_SHM_LOCK : SQLITE_SHM_UNLOCK) | SQLITE_SHM_EXCLUSIVE);
}

/// Copies the header of the index of a write-ahead log, 12 words, once both of its copies agree; returns 0 if they don't.
/// Only for a database whose index is open: see https://www.sqlite.org/walformat.html#walidxfmt.
static inline int larder_log_header(sqlite3 *db, uint32_t *header) {
  sqlite3_file *file = 0;
  void volatile *index = larder_log_index(db, &file);
  if (!index) return 0;
  for (int attempt = 0; attempt < 10000; attempt++) {
    uint32_t second[12];
    memcpy(header, (const void *)index, 48);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy(second, (const char *)index + 48, 48);
    if (memcmp(header, second, 48) == 0) return 1;
  }
  return 0;
}

/// Reads how many frames of a write-ahead log are in the database file, and then its five read marks; returns 0 if
/// it can't. See https://www.sqlite.org/walformat.html#walckptinfo.
static inline int larder_log_marks(sqlite3 *db, uint32_t *marks) {
  sqlite3_file *file = 0;
  void volatile *index = larder_log_index(db, &file);
  if (!index) return 0;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  memcpy(marks, (const char *)index + 96, 24);
  return 1;
}

/// Locks one of the read marks 1 to 4 (shared), or unlocks it; returns SQLite's result code.
static inline int larder_lock_mark(sqlite3 *db, int mark, _Bool locks) {
  sqlite3_file *file = 0;
  if (!larder_log_index(db, &file)) return SQLITE_IOERR;
  return file->pMethods->xShmLock(
      file, 3 + mark, 1, (locks ? SQLITE_SHM_LOCK : SQLITE_SHM_UNLOCK) | SQLITE_SHM_SHARED);
}

/// Notes that one of the read marks 1 to 4 isn't in use, as SQLite's checkpoints do; returns 0 if some connection uses
/// it.
static inline int larder_reset_mark(sqlite3 *db, int mark) {
  sqlite3_file *file = 0;
  void volatile *index = larder_log_index(db, &file);
  if (!index) return 0;
  int lock = 3 + mark;
  // Who reads by a mark has a shared lock of it. So with the exclusive one nobody does, nor begins to.
  if (file->pMethods->xShmLock(file, lock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) != SQLITE_OK) return 0;
  __atomic_store_n((uint32_t volatile *)index + 25 + mark, 0xffffffff, __ATOMIC_SEQ_CST);
  file->pMethods->xShmLock(file, lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
  return 1;
}

/// Reads a part of the database file by SQLite's own descriptor; returns SQLite's result code. What is beyond the end
/// of the file is zero.
static inline int larder_read_file(sqlite3 *db, void *bytes, int count, sqlite3_int64 offset) {
  sqlite3_file *file = 0;
  if (sqlite3_file_control(db, 0, SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return SQLITE_IOERR;
  if (!file || !file->pMethods) return SQLITE_IOERR;
  int code = file->pMethods->xRead(file, bytes, count, offset);
  return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

/// The size of the database file in bytes, or -1.
static inline sqlite3_int64 larder_file_size(sqlite3 *db) {
  sqlite3_file *file = 0;
  sqlite3_int64 size = -1;
  if (sqlite3_file_control(db, 0, SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return -1;
  if (!file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK) return -1;
  return size;
}

/// Reads a part of a log that ``larder_open_log`` has opened; returns SQLite's result code. What is beyond the end is
/// zero.
static inline int larder_read_log(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  int code = file->pMethods->xRead(file, bytes, count, offset);
  return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

/// Writes a part of a log that ``larder_open_log`` has opened; returns SQLite's result code.
static inline int larder_write_log(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  return file->pMethods->xWrite(file, bytes, count, offset);
}

/// Makes the index of a write-ahead log be built anew from the log, by whoever reads next, as after a crash; returns 0
/// if it can't. Only with ``larder_lock_log``.
static inline int larder_forget_log_index(sqlite3 *db) {
  sqlite3_file *file = 0;
  void volatile *index = larder_log_index(db, &file);
  if (!index) return 0;
  memset((void *)index, 0, 96);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return 1;
}

static inline void larder_close_log(sqlite3_file *file) {
  if (file->pMethods) file->pMethods->xClose(file);
  sqlite3_free(file);
}

/// Whether overwriting a part of the database file leaves the bytes beside it alone when power fails.
static inline int larder_has_safe_overwrite(sqlite3 *db) {
  sqlite3_file *file = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  return file && file->pMethods &&
         (file->pMethods->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
}

static inline int larder_sync_file(sqlite3_file *file) {
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

/// The time by the system's coarse clock. (In Swift the address of a local variable would have its caller check the stack.)
static inline int64_t larder_coarse_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Sleeps while the word holds this value, at most that many nanoseconds (less than 0: for ever).
static inline void larder_futex_wait(const void *word, uint32_t value, int64_t nanoseconds) {
  struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds < 0 ? 0 : &timeout, 0, 0);
}

/// Wakes up to `count` threads that sleep on the word.
static inline void larder_futex_wake(const void *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

/// A thread-local pointer. Only one file may call this, since each file has a variable of its own.
static inline void **larder_thread_slot(void) {
  static _Thread_local void *slot = 0;
  return &slot;
}

/// The processor's time-stamp counter, whose constant rate isn't known. Reading it takes a third of the time
/// of asking the system.
static inline uint64_t larder_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

// Extensions of glibc that its headers hide by default.
extern int malloc_trim(size_t);
extern void *memmem(const void *, size_t, const void *, size_t);
extern char *strcasestr(const char *, const char *);

/// Finds bytes in others, in linear time; NULL if they aren't there.
static inline const void *larder_find(
    const void *bytes, size_t count, const void *wanted, size_t wanted_count) {
  return memmem(bytes, count, wanted, wanted_count);
}

/// Whether a text contains another one, ignoring the case of ASCII letters.
static inline int larder_mentions(const char *text, const char *part) {
  return strcasestr(text, part) != 0;
}

/// Gives freed memory back to the system.
static inline void larder_trim_memory(void) { malloc_trim(0); }

/// Tells the processor that this is a spin loop.
static inline void larder_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
