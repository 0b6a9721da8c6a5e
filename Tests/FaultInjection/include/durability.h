#ifndef LARDER_DURABILITY_H
#define LARDER_DURABILITY_H

// How much of a write-ahead log is on disk: for tests only.

/// Registers the VFS “durability” around the default one, which counts the writes to write-ahead logs
/// and how many of them a sync that has ended covers. Call it once, before the first connection.
int durability_vfs_install(void);

/// Counts from zero again, while nobody writes. From now on each sync of a log takes this many
/// microseconds, and the one with this number (the first is 1) fails; 0 for none. Each descriptor that is
/// open is told of it once. After it nothing becomes durable any more: what the system held in memory
/// is gone, although later syncs succeed. See
/// https://wiki.postgresql.org/wiki/Fsync_Errors.
void durability_begin(unsigned microseconds, long failing_sync);

/// How many writes to the log there were.
long durability_written(void);

/// How many of them are on disk: those that were made before the last sync that succeeded began.
long durability_synced(void);

/// How many syncs have begun.
long durability_syncs(void);

/// How many syncs of rollback journals there were.
long durability_journal_syncs(void);

/// Makes whoever commits pause for so many microseconds when others see the commit and SQLite has not
/// told of it yet; 0 for none.
void durability_pause_after_commit(unsigned microseconds);

/// Makes syncs wait once they have begun, or lets all go on.
void durability_hold_syncs(int are_held);

/// Lets one of the syncs that are held, or the next, go on to its end.
void durability_let_sync(void);

/// How many syncs have begun and are held.
int durability_held_syncs(void);

/// Whether a sync has failed.
int durability_has_failed(void);

#endif
