#include "fault_injection.h"

// What the program registers under these names must never be called; here they are harmless.
static void nothing(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  (void)values;
  sqlite3_result_int(context, 1);
}

int hostile_file_write(const char *path, const char *sql) {
  sqlite3 *db = 0;
  int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix");
  if (code == SQLITE_OK) {
    int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS;
    sqlite3_create_function(db, "wire", -1, flags | SQLITE_DETERMINISTIC, 0, nothing, 0, 0);
    sqlite3_create_function(db, "wire_twice", -1, flags, 0, nothing, 0, 0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, (int *)0);
    code = sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA writable_schema = ON", 0, 0, 0);
  }
  // Statements are run one by one: what can't be done is left out of the file.
  const char *rest = sql;
  while (code == SQLITE_OK && *rest) {
    sqlite3_stmt *statement = 0;
    const char *begin = rest;
    if (sqlite3_prepare_v2(db, begin, -1, &statement, &rest) != SQLITE_OK) break;
    while (sqlite3_step(statement) == SQLITE_ROW) {}
    sqlite3_finalize(statement);
  }
  sqlite3_close_v2(db);
  return code;
}

sqlite3_int64 hostile_memory_peak(int reset) { return sqlite3_memory_highwater(reset); }
