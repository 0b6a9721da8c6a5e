#ifndef LARDER_FAULT_INJECTION_H
#define LARDER_FAULT_INJECTION_H

// Failures of the system under SQLite, made on purpose: for tests only.

#include <sqlite3.h>

/// Makes a VFS that passes everything on to the default one the default; call it once, before the
/// first connection.
int fault_vfs_install(void);

#endif
