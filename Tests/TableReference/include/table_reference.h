#ifndef LARDER_TABLE_REFERENCE_H
#define LARDER_TABLE_REFERENCE_H

#include <sqlite3.h>

/// Registers `series(from, to)`, a table-valued function of integers, as one writes it in C.
int reference_register_series(sqlite3 *db);

/// Calls a function, with a name by which callgrind knows when to count: see `Tests/instructions`.
void reference_counted(void (*work)(void *), void *context);

#endif
