#define _GNU_SOURCE
#include "slow_disk.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// In place of the C library's functions, for all that this program links: SQLite too.

static atomic_long delay = 0;
static atomic_long failures = 0;
static atomic_int held = 0;
static atomic_long syncs = 0;
static atomic_int inside = 0;

// Threads that are in a sync, so that a call which is one of theirs can be told from one that waits for it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
static _Thread_local long own_nanoseconds = 0;

void slow_disk_delay(long microseconds) { atomic_store(&delay, microseconds); }

void slow_disk_fail(long count) { atomic_store(&failures, count); }

void slow_disk_hold(int is_held) {
  pthread_mutex_lock(&lock);
  atomic_store(&held, is_held);
  pthread_cond_broadcast(&let_go);
  pthread_mutex_unlock(&lock);
}

long slow_disk_syncs(void) { return atomic_load(&syncs); }

int slow_disk_inside(void) { return atomic_load(&inside); }

long slow_disk_own_nanoseconds(void) { return own_nanoseconds; }

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

int slow_disk_sync(long call, int file) {
  atomic_fetch_add(&syncs, 1);
  atomic_fetch_add(&inside, 1);
  long start = now();
  long microseconds = atomic_load(&delay);
  if (microseconds > 0) {
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&time, 0);
  }
  pthread_mutex_lock(&lock);
  while (atomic_load(&held)) pthread_cond_wait(&let_go, &lock);
  pthread_mutex_unlock(&lock);
  int code;
  long left = atomic_load(&failures);
  if (left != 0) {
    if (left > 0) atomic_fetch_sub(&failures, 1);
    errno = EIO;
    code = -1;
  } else {
    code = (int)syscall(call, file);
  }
  own_nanoseconds += now() - start;
  atomic_fetch_sub(&inside, 1);
  return code;
}

// `fsync` is in fault_recording.c.
int fdatasync(int file) { return slow_disk_sync(SYS_fdatasync, file); }
