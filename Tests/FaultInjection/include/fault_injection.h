#ifndef LARDER_FAULT_INJECTION_H
#define LARDER_FAULT_INJECTION_H

// Failures of the system under SQLite, made on purpose: for tests only.

#include <sqlite3.h>

// MARK: Failing calls

// What can be made to fail.
enum {
  FAULT_OPEN = 1,
  FAULT_READ = 2,
  FAULT_WRITE = 4,
  FAULT_SYNC = 8,
  FAULT_TRUNCATE = 16,
  FAULT_LOCK = 32,
  FAULT_SHARED_MEMORY = 64,
  FAULT_DELETE = 128,
  FAULT_ACCESS = 256,
  FAULT_SIZE = 512,
  FAULT_FILES = 1023,
  FAULT_MEMORY = 1024,
  // Syncs of write-ahead logs, apart from the others. As Linux does, each file that is open on the
  // log is told once of a sync that failed, and none of what it covered is certain from then on.
  FAULT_LOG_SYNC = 2048,
};

// How a failing write fails.
enum {
  // With SQLITE_IOERR_WRITE, having written nothing.
  FAULT_WRITES_NOTHING,
  // With SQLITE_FULL, having written the first half.
  FAULT_WRITES_HALF,
};

/// Registers the VFS “faulty”, which passes everything on to the default one, maybe as the new
/// default. Call it once, before the first connection.
int fault_vfs_install(int is_default);

/// Makes SQLite's allocator able to fail. Call it before SQLite is used for anything.
int fault_memory_install(void);

/// From now on counts calls of these kinds, and fails the one with this number (the first is 1) and
/// those that follow, as many as `times`. With 0 it counts only.
void fault_arm(unsigned kinds, long at, long times, int writes);

/// Lets all calls through, and counts none.
void fault_disarm(void);

/// How many calls have been counted since arming.
long fault_seen(void);

/// How many of them have failed.
long fault_fired(void);

/// The kind of the first that failed, or 0.
unsigned fault_kind(void);

/// For the VFS and the allocator: whether this call is to fail.
int fault_hits(unsigned kind);

// MARK: Watching

/// The bytes that the allocator has given out.
long fault_heap_in_use(void);

/// Makes the allocator give the system back what nobody uses: it keeps pages of what was freed, in an arena
/// for each core and more.
void fault_heap_give_back(void);

/// Ends the process with status 3 and says this label, should it crash or not say a label again
/// within this many seconds. Seconds of 0 end the watch.
void fault_watch(const char *label, unsigned seconds);

/// Lets each sync of a recorded log take this many microseconds longer, in which others may write.
void fault_delay_log_syncs(unsigned microseconds);

/// Whether SQLite's waits take their time, as they have to where threads wait for each other; they
/// take none until this is called.
void fault_let_sleep(int lets);

/// Whether this was built with the address sanitizer.
int fault_has_address_sanitizer(void);

// MARK: Hostile files

/// Runs statements on a file without any of the rules that
/// keep a program from writing what it shouldn't: the schema can be written, and calls of the functions
/// `wire` and `wire_twice` do nothing. What fails
/// while it runs is left out.
int hostile_file_write(const char *path, const char *sql);

/// The most bytes that SQLite had allocated since the last call that reset it.
sqlite3_int64 hostile_memory_peak(int reset);

// MARK: Recording

enum {
  FAULT_EVENT_CREATE,
  FAULT_EVENT_DELETE,
  // A file has got another name, after FAULT_EVENT_DELETE of the one it had.
  FAULT_EVENT_RENAME,
  FAULT_EVENT_WRITE,
  FAULT_EVENT_TRUNCATE,
  // A sync has ended, which covers what was recorded before the event with the number that is its
  // offset: what others wrote while it ran it may have missed.
  FAULT_EVENT_SYNC,
  // One that failed. What it was to cover may be lost, and no later sync is sure to write it.
  FAULT_EVENT_FAILED_SYNC,
  // The folder was synced: what had been created and deleted in it when that began stays so.
  FAULT_EVENT_FOLDER_SYNC,
  // Set by the test.
  FAULT_EVENT_MARK,
};

typedef struct {
  int type;
  /// The number of the file; another one for a file that is made anew under an old name.
  int file;
  /// The file's path; NULL for what isn't of a file.
  const char *path;
  /// Where bytes are written, the size after truncation, the value of a mark, or how many events
  /// there were when a sync began.
  sqlite3_int64 offset;
  sqlite3_int64 count;
  const void *bytes;
} fault_event;

/// Records what is done to files from now on, by any thread; no file may be open. Files that exist
/// and hold something aren't recorded.
void fault_record_begin(void);

/// Stops recording. The events stay until the next recording.
void fault_record_end(void);

/// Puts a mark among the events.
void fault_record_mark(sqlite3_int64 value);

/// How many events there are. Read them when nothing records any more.
long fault_event_count(void);
fault_event fault_event_at(long index);

#endif
