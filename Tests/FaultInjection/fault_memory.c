// An allocator for SQLite that fails when told to.

#include "fault_injection.h"

static sqlite3_mem_methods real;

static void *fault_malloc(int size) { return fault_hits(FAULT_MEMORY) ? 0 : real.xMalloc(size); }

static void *fault_realloc(void *memory, int size) {
  return fault_hits(FAULT_MEMORY) ? 0 : real.xRealloc(memory, size);
}

int fault_memory_install(void) {
  int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
  if (code != SQLITE_OK) return code;
  sqlite3_mem_methods methods = real;
  methods.xMalloc = fault_malloc;
  methods.xRealloc = fault_realloc;
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
