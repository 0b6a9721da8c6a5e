#include "fault_injection.h"

int fault_vfs_install(void) { return SQLITE_OK; }
