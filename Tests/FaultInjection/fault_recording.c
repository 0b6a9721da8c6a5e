// The log of what is done to files.

#define _GNU_SOURCE
#include "fault_recording.h"
#include "slow_disk.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_recording = 0;
static fault_event *events = 0;
static long event_count = 0, event_room = 0;

// The paths of files by number; NULL once deleted, so that the name can be used anew.
enum { MOST_FILES = 4096 };
static char *paths[MOST_FILES];
static char *names[MOST_FILES];
// Names of files that have another one now: events still refer to them.
static char *former_names[MOST_FILES];
static int file_count = 0;

// Where memory for the log is lacking the test is over: an incomplete log would prove nothing.
static void *needed(void *memory) {
  if (!memory) abort();
  return memory;
}

static void add(int type, int file, sqlite3_int64 offset, const void *bytes, sqlite3_int64 count) {
  if (event_count == event_room) {
    event_room = event_room ? event_room * 2 : 1024;
    events = needed(realloc(events, (size_t)event_room * sizeof *events));
  }
  void *copy = 0;
  if (count > 0) {
    copy = needed(malloc((size_t)count));
    memcpy(copy, bytes, (size_t)count);
  }
  events[event_count++] =
      (fault_event){type, file, file < 0 ? 0 : names[file], offset, count, copy};
}

static void record(
    int type, int file, sqlite3_int64 offset, const void *bytes, sqlite3_int64 count) {
  pthread_mutex_lock(&mutex);
  if (is_recording) add(type, file, offset, bytes, count);
  pthread_mutex_unlock(&mutex);
}

static int number_of(const char *path) {
  for (int i = file_count - 1; i >= 0; i--) {
    if (paths[i] && strcmp(paths[i], path) == 0) return i;
  }
  return -1;
}

void fault_record_begin(void) {
  pthread_mutex_lock(&mutex);
  for (long i = 0; i < event_count; i++) free((void *)events[i].bytes);
  for (int i = 0; i < file_count; i++) {
    free(names[i]);
    free(former_names[i]);
    paths[i] = names[i] = former_names[i] = 0;
  }
  event_count = 0;
  file_count = 0;
  is_recording = 1;
  pthread_mutex_unlock(&mutex);
}

void fault_record_end(void) {
  pthread_mutex_lock(&mutex);
  is_recording = 0;
  pthread_mutex_unlock(&mutex);
}

void fault_record_mark(sqlite3_int64 value) { record(FAULT_EVENT_MARK, -1, value, 0, 0); }

long fault_event_count(void) {
  pthread_mutex_lock(&mutex);
  long count = event_count;
  pthread_mutex_unlock(&mutex);
  return count;
}

fault_event fault_event_at(long index) { return events[index]; }

int fault_record_open(const char *path) {
  if (!path) return -1;
  pthread_mutex_lock(&mutex);
  int number = -1;
  struct stat status;
  if (is_recording && (number = number_of(path)) < 0 && file_count < MOST_FILES
      && stat(path, &status) == 0 && status.st_size == 0) {
    number = file_count++;
    names[number] = paths[number] = needed(strdup(path));
    add(FAULT_EVENT_CREATE, number, 0, 0, 0);
  }
  pthread_mutex_unlock(&mutex);
  return number;
}

void fault_record_delete(const char *path) {
  pthread_mutex_lock(&mutex);
  int number = is_recording ? number_of(path) : -1;
  if (number >= 0) {
    add(FAULT_EVENT_DELETE, number, 0, 0, 0);
    paths[number] = 0;
  }
  pthread_mutex_unlock(&mutex);
}

void fault_record_write(int file, const void *bytes, sqlite3_int64 count, sqlite3_int64 offset) {
  if (file >= 0) record(FAULT_EVENT_WRITE, file, offset, bytes, count);
}

void fault_record_truncate(int file, sqlite3_int64 size) {
  if (file >= 0) record(FAULT_EVENT_TRUNCATE, file, size, 0, 0);
}

void fault_record_sync(int file, long beginning, int has_failed) {
  int type = has_failed ? FAULT_EVENT_FAILED_SYNC : FAULT_EVENT_SYNC;
  if (file >= 0) record(type, file, beginning, 0, 0);
}

void fault_record_folder_sync(long beginning) {
  record(FAULT_EVENT_FOLDER_SYNC, -1, beginning, 0, 0);
}

// The program's own calls of the system, which pass SQLite and its VFS by: these definitions are found
// before those of the C library.

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  int (*real)(int, const char *, int, const char *, unsigned) =
      (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2");
  int code = real(from_folder, from, to_folder, to, flags);
  if (code != 0) return code;
  pthread_mutex_lock(&mutex);
  int number = is_recording ? number_of(from) : -1;
  if (number >= 0 && !former_names[number]) {
    add(FAULT_EVENT_DELETE, number, 0, 0, 0);
    former_names[number] = names[number];
    names[number] = paths[number] = needed(strdup(to));
    add(FAULT_EVENT_RENAME, number, 0, 0, 0);
  }
  pthread_mutex_unlock(&mutex);
  return code;
}

int fsync(int descriptor) {
  long beginning = fault_event_count();
  int code = slow_disk_sync(SYS_fsync, descriptor);
  struct stat status;
  if (code == 0 && fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    fault_record_folder_sync(beginning);
  }
  return code;
}
