#ifndef LARDER_SLOW_DISK_H
#define LARDER_SLOW_DISK_H

/// How long each sync of this process takes longer from now on.
void slow_disk_delay(long microseconds);

/// How many of the next syncs fail; less than 0 for all.
void slow_disk_fail(long count);

/// Whether syncs wait until they are let go.
void slow_disk_hold(int is_held);

/// How many there were.
long slow_disk_syncs(void);

/// How many threads are in one.
int slow_disk_inside(void);

/// Syncs a file by a call of the system's, with what is set by the others.
int slow_disk_sync(long call, int file);

/// How long this thread has been in syncs of its own so far.
long slow_disk_own_nanoseconds(void);

#endif
