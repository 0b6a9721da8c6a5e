#ifndef LARDER_TABLE_REFERENCE_H
#define LARDER_TABLE_REFERENCE_H

#include <sqlite3.h>

/// Registers `series(from, to)`, a table-valued function of integers, as one writes it in C.
int reference_register_series(sqlite3 *db);

#endif
