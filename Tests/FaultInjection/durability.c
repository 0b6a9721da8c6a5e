// A VFS around the default one that knows how much of a write-ahead log is on disk. See
// https://www.sqlite.org/vfs.html.

#include "durability.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

static sqlite3_vfs vfs;
static sqlite3_vfs *real_vfs;

// The files are the default VFS's own; those of logs have two of their methods replaced. All logs have
// the same methods otherwise: that of locking, which differs by file system, is asked for files of
// databases only, whose methods are those of the first.
static const sqlite3_io_methods *real_methods;
static sqlite3_io_methods log_methods;
static const sqlite3_io_methods *real_journal_methods;
static sqlite3_io_methods journal_methods;
static const sqlite3_io_methods *real_database_methods;
static sqlite3_io_methods database_methods;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static atomic_long written, synced, syncs, failing;
static atomic_long journal_syncs;
static atomic_uint sync_time, pause_after_commit;
static atomic_int has_failed;

// The log's files that have been told of the failure: the kernel tells of it once for each descriptor. See
// https://wiki.postgresql.org/wiki/Fsync_Errors.
enum { MOST_FILES = 64 };
static sqlite3_file *told[MOST_FILES];
static int told_count;

static int is_told_first(sqlite3_file *file) {
  pthread_mutex_lock(&mutex);
  int is_first = told_count < MOST_FILES;
  for (int i = 0; i < told_count && is_first; i++) is_first = told[i] != file;
  if (is_first) told[told_count++] = file;
  pthread_mutex_unlock(&mutex);
  return is_first;
}

// Syncs that wait for the test.
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opens = PTHREAD_COND_INITIALIZER;
static int holds, passes, waiting;

static void wait_at_gate(void) {
  pthread_mutex_lock(&gate);
  waiting++;
  while (holds && passes == 0) pthread_cond_wait(&gate_opens, &gate);
  if (holds) passes--;
  waiting--;
  pthread_mutex_unlock(&gate);
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  int code = real_methods->xWrite(file, bytes, count, offset);
  // The header of a log, which is synced before the first frame is written, is no part of a commit.
  if (code == SQLITE_OK && offset >= 32) atomic_fetch_add(&written, 1);
  return code;
}

// The machine isn't going to lose its power: the real call isn't needed.
static int log_sync(sqlite3_file *file, int flags) {
  (void)flags;
  long covered = atomic_load(&written);
  long number = atomic_fetch_add(&syncs, 1) + 1;
  wait_at_gate();
  if (atomic_load(&sync_time)) usleep(atomic_load(&sync_time));
  if (number == atomic_load(&failing)) {
    atomic_store(&has_failed, 1);
  }
  if (atomic_load(&has_failed)) return is_told_first(file) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
  long before = atomic_load(&synced);
  while (before < covered && !atomic_compare_exchange_weak(&synced, &before, covered)) {
  }
  return SQLITE_OK;
}

static int journal_sync(sqlite3_file *file, int flags) {
  atomic_fetch_add(&journal_syncs, 1);
  return real_journal_methods->xSync(file, flags);
}

// The lock of the writer is the first. When it is let go of, others see the commit, and SQLite has not
// called the hook of the log yet.
static int database_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  unsigned pause = atomic_load(&pause_after_commit);
  int code = real_database_methods->xShmLock(file, offset, count, flags);
  if (pause && offset == 0 && flags == (SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)) usleep(pause);
  return code;
}

// Replaces a file's methods by a copy that is made of the first ones; those of another file system stay.
static void replace_methods(
    sqlite3_file *file, const sqlite3_io_methods **real, sqlite3_io_methods *copy) {
  pthread_mutex_lock(&mutex);
  if (!*real) {
    *copy = *file->pMethods;
    if (copy == &log_methods) {
      copy->xWrite = log_write;
      copy->xSync = log_sync;
    } else if (copy == &journal_methods) {
      copy->xSync = journal_sync;
    } else {
      copy->xShmLock = database_shm_lock;
    }
    *real = file->pMethods;
  }
  pthread_mutex_unlock(&mutex);
  if (copy == &log_methods || *real == file->pMethods) file->pMethods = copy;
}

static int open_file(
    sqlite3_vfs *self, sqlite3_filename path, sqlite3_file *file, int flags, int *flags_out) {
  (void)self;
  int code = real_vfs->xOpen(real_vfs, path, file, flags, flags_out);
  if (code != SQLITE_OK || !file->pMethods) return code;
  if (flags & SQLITE_OPEN_WAL) replace_methods(file, &real_methods, &log_methods);
  if (flags & SQLITE_OPEN_MAIN_JOURNAL) {
    replace_methods(file, &real_journal_methods, &journal_methods);
  }
  if (flags & SQLITE_OPEN_MAIN_DB) {
    replace_methods(file, &real_database_methods, &database_methods);
  }
  return code;
}

int durability_vfs_install(void) {
  real_vfs = sqlite3_vfs_find(0);
  if (!real_vfs) return SQLITE_ERROR;
  vfs = *real_vfs;
  vfs.pNext = 0;
  vfs.zName = "durability";
  vfs.xOpen = open_file;
  return sqlite3_vfs_register(&vfs, 0);
}

void durability_begin(unsigned microseconds, long failing_sync) {
  atomic_store(&written, 0);
  atomic_store(&synced, 0);
  atomic_store(&syncs, 0);
  atomic_store(&has_failed, 0);
  pthread_mutex_lock(&mutex);
  told_count = 0;
  pthread_mutex_unlock(&mutex);
  atomic_store(&journal_syncs, 0);
  atomic_store(&sync_time, microseconds);
  atomic_store(&failing, failing_sync);
}

long durability_written(void) { return atomic_load(&written); }
long durability_synced(void) { return atomic_load(&synced); }
int durability_has_failed(void) { return atomic_load(&has_failed); }
long durability_syncs(void) { return atomic_load(&syncs); }
long durability_journal_syncs(void) { return atomic_load(&journal_syncs); }

void durability_pause_after_commit(unsigned microseconds) {
  atomic_store(&pause_after_commit, microseconds);
}

void durability_hold_syncs(int are_held) {
  pthread_mutex_lock(&gate);
  holds = are_held;
  passes = 0;
  pthread_cond_broadcast(&gate_opens);
  pthread_mutex_unlock(&gate);
}

void durability_let_sync(void) {
  pthread_mutex_lock(&gate);
  passes++;
  pthread_cond_broadcast(&gate_opens);
  pthread_mutex_unlock(&gate);
}

int durability_held_syncs(void) {
  pthread_mutex_lock(&gate);
  int count = holds ? waiting : 0;
  pthread_mutex_unlock(&gate);
  return count;
}
