#ifndef LARDER_CSQLCIPHER_SHIM_H
#define LARDER_CSQLCIPHER_SHIM_H

// The same interface where SQLCipher takes SQLite's place; its header declares the functions of keys only then.

#ifndef SQLITE_HAS_CODEC
#define SQLITE_HAS_CODEC 1
#endif

#include "../CSQLite/shim.h"

#endif
