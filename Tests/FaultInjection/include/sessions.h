#ifndef LARDER_SESSIONS_H
#define LARDER_SESSIONS_H

#include <sqlite3.h>

// SQLite's session extension, with which what Larder makes of changesets is compared: for tests only. Bytes and texts
// that are returned are the caller's, who gives them back by sqlite3_free.

/// Whether the library has the extension. Nothing else may be called where it doesn't.
int sessions_exist(void);

/// Opens a database in memory that has these bytes, with foreign keys enforced; NULL where that fails.
sqlite3 *sessions_open(const void *bytes, sqlite3_int64 count);

/// Attaches a database in memory that has these bytes.
int sessions_attach(sqlite3 *db, const char *name, const void *bytes, sqlite3_int64 count);

/// Decides about a conflict of this kind, which is told as a text.
typedef int (*sessions_decision)(void *context, int kind, const char *conflict);

/// Applies a changeset; returns SQLite's code, and what was decided.
int sessions_apply(sqlite3 *db, const void *bytes, int count, sessions_decision decide, void *context,
                   int *decisions_count, void **decisions);

int sessions_invert(const void *bytes, int count, int *result_count, void **result);

int sessions_combine(const void *first, int first_count, const void *second, int second_count,
                     int *result_count, void **result);

/// Rebases a changeset onto what was decided of one or two others.
int sessions_rebase(const void *first, int first_count, const void *second, int second_count,
                    const void *bytes, int count, int *result_count, void **result);

/// What makes the table of an attached database like that of the main one.
int sessions_difference(sqlite3 *db, const char *from, const char *table, int *result_count,
                        void **result);

/// The changes as lines of text; NULL where they can't be read.
char *sessions_text(const void *bytes, int count, int with_indirect);

/// The first column of the rows of a query, a line each; NULL where that fails.
char *sessions_rows(sqlite3 *db, const char *sql);

#endif
