// What the VFS tells the recorder.

#ifndef LARDER_FAULT_RECORDING_H
#define LARDER_FAULT_RECORDING_H

#include "fault_injection.h"

/// The number of the file at a path, which was just opened; -1 if it isn't recorded.
int fault_record_open(const char *path);
void fault_record_delete(const char *path);
void fault_record_write(int file, const void *bytes, sqlite3_int64 count, sqlite3_int64 offset);
void fault_record_truncate(int file, sqlite3_int64 size);
/// A sync that began when there were this many events, and has ended.
void fault_record_sync(int file, long beginning, int has_failed);
void fault_record_folder_sync(long beginning);

#endif
