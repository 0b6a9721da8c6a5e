#ifndef LARDER_POSTGRES_REFERENCE_H
#define LARDER_POSTGRES_REFERENCE_H

// libpq called by hand, the way an expert does: statements prepared once, everything in binary, as few
// round trips as there can be. Each function returns 0, or -1 where the server or the memory fails.

#include <stdint.h>

typedef struct pg_conn reference_connection;

typedef struct {
  int64_t id;
  char *name;
  int64_t population;
  double area;
  /// NULL where there is none.
  char *country;
} reference_city;

/// Connects, makes the table anew and prepares the statements; NULL where that fails.
reference_connection *reference_open(const char *address);
void reference_close(reference_connection *connection);

int reference_empty(reference_connection *connection);
/// Inserts rows one by one, in one transaction.
int reference_insert(reference_connection *connection, const reference_city *cities, int count);
/// Stores rows by COPY.
int reference_copy(reference_connection *connection, const reference_city *cities, int count);
/// Finds rows by their keys, 1 to `count`, and adds up what they hold.
int reference_find(reference_connection *connection, int count, int64_t *sum);
/// Changes one row in each of so many transactions: BEGIN travels with the statement.
int reference_transactions(reference_connection *connection, int count);
/// Reads all rows, with copies of their texts, into memory that `reference_free` gives back.
int reference_fetch_all(reference_connection *connection, reference_city **cities, int *count);
void reference_free(reference_city *cities, int count);
/// Reads all rows one by one, and adds up what they hold.
int reference_stream(reference_connection *connection, int64_t *sum);

/// Reads all rows of a query as texts, copies each, and adds up their lengths in bytes.
int reference_fetch_texts(reference_connection *connection, const char *sql, int64_t *bytes);

/// Calls a function, with a name by which callgrind knows when to count: see `Tests/instructions`.
void reference_counted(void (*work)(void *), void *context);

#endif
