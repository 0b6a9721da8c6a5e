// SQLite's session extension, looked up when it is called: not every library has it. See
// https://www.sqlite.org/sessionintro.html.

#define _GNU_SOURCE
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include "sessions.h"

#include <dlfcn.h>
#include <string.h>

#define LOOK_UP(name) ((__typeof__(&sqlite3##name))dlsym(RTLD_DEFAULT, "sqlite3" #name))

int sessions_exist(void) {
  return LOOK_UP(changeset_apply_v2) != 0 && LOOK_UP(rebaser_create) != 0 && LOOK_UP(session_diff) != 0;
}

static int fill(sqlite3 *db, const char *name, const void *bytes, sqlite3_int64 count) {
  unsigned char *copy = sqlite3_malloc64(count > 0 ? count : 1);
  if (!copy) return SQLITE_NOMEM;
  memcpy(copy, bytes, count);
  return sqlite3_deserialize(db, name, copy, count, count,
                             SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
}

sqlite3 *sessions_open(const void *bytes, sqlite3_int64 count) {
  sqlite3 *db = 0;
  int code = sqlite3_open(":memory:", &db);
  if (code == SQLITE_OK) code = fill(db, "main", bytes, count);
  if (code == SQLITE_OK) code = sqlite3_exec(db, "PRAGMA foreign_keys = ON", 0, 0, 0);
  if (code == SQLITE_OK) return db;
  sqlite3_close(db);
  return 0;
}

int sessions_attach(sqlite3 *db, const char *name, const void *bytes, sqlite3_int64 count) {
  char *sql = sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", name);
  int code = sqlite3_exec(db, sql, 0, 0, 0);
  sqlite3_free(sql);
  return code == SQLITE_OK ? fill(db, name, bytes, count) : code;
}

// MARK: Texts

static void append_value(sqlite3_str *text, sqlite3_value *value) {
  if (!value) {
    sqlite3_str_appendall(text, " -");
    return;
  }
  int type = sqlite3_value_type(value);
  switch (type) {
  case SQLITE_INTEGER: sqlite3_str_appendf(text, " i%lld", sqlite3_value_int64(value)); break;
  case SQLITE_FLOAT: {
    double number = sqlite3_value_double(value);
    unsigned long long bits;
    memcpy(&bits, &number, sizeof bits);
    sqlite3_str_appendf(text, " r%llx", bits);
    break;
  }
  case SQLITE_NULL: sqlite3_str_appendall(text, " n"); break;
  default: {
    const unsigned char *bytes =
        type == SQLITE_TEXT ? sqlite3_value_text(value) : sqlite3_value_blob(value);
    int count = sqlite3_value_bytes(value);
    sqlite3_str_appendall(text, type == SQLITE_TEXT ? " t" : " b");
    for (int index = 0; index < count; index++) sqlite3_str_appendf(text, "%02x", bytes[index]);
  }
  }
}

static void append_change(sqlite3_str *text, sqlite3_changeset_iter *iterator, int with_indirect) {
  const char *table = 0;
  int count = 0, operation = 0, indirect = 0;
  LOOK_UP(changeset_op)(iterator, &table, &count, &operation, &indirect);
  sqlite3_str_appendf(text, "%s %d", table, operation);
  if (with_indirect) sqlite3_str_appendall(text, indirect ? " indirect" : " direct");
  sqlite3_str_appendall(text, " old");
  for (int index = 0; index < count; index++) {
    sqlite3_value *value = 0;
    if (operation != SQLITE_INSERT) LOOK_UP(changeset_old)(iterator, index, &value);
    append_value(text, value);
  }
  sqlite3_str_appendall(text, " new");
  for (int index = 0; index < count; index++) {
    sqlite3_value *value = 0;
    if (operation != SQLITE_DELETE) LOOK_UP(changeset_new)(iterator, index, &value);
    append_value(text, value);
  }
}

char *sessions_text(const void *bytes, int count, int with_indirect) {
  sqlite3_str *text = sqlite3_str_new(0);
  sqlite3_changeset_iter *iterator = 0;
  int code = LOOK_UP(changeset_start)(&iterator, count, (void *)bytes);
  while (code == SQLITE_OK && (code = LOOK_UP(changeset_next)(iterator)) == SQLITE_ROW) {
    append_change(text, iterator, with_indirect);
    sqlite3_str_appendchar(text, 1, '\n');
    code = SQLITE_OK;
  }
  int end = LOOK_UP(changeset_finalize)(iterator);
  sqlite3_str_appendchar(text, 1, '\n');
  char *result = sqlite3_str_finish(text);
  if (code == SQLITE_DONE && end == SQLITE_OK) return result;
  sqlite3_free(result);
  return 0;
}

char *sessions_rows(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = 0;
  sqlite3_str *text = sqlite3_str_new(db);
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, 0);
  while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
    sqlite3_str_appendf(text, "%s\n", sqlite3_column_text(statement, 0));
  }
  if (sqlite3_finalize(statement) != SQLITE_OK) code = SQLITE_ERROR;
  sqlite3_str_appendchar(text, 1, '\n');
  char *result = sqlite3_str_finish(text);
  if (code == SQLITE_OK) return result;
  sqlite3_free(result);
  return 0;
}

// MARK: Calls

typedef struct {
  sessions_decision decide;
  void *context;
} decider;

static int decide(void *context, int kind, sqlite3_changeset_iter *iterator) {
  decider *asked = context;
  sqlite3_str *text = sqlite3_str_new(0);
  sqlite3_str_appendf(text, "%d ", kind);
  if (kind != SQLITE_CHANGESET_FOREIGN_KEY) {
    append_change(text, iterator, 0);
    if (kind == SQLITE_CHANGESET_DATA || kind == SQLITE_CHANGESET_CONFLICT) {
      sqlite3_str_appendall(text, " found");
      const char *table = 0;
      int count = 0, operation = 0, indirect = 0;
      LOOK_UP(changeset_op)(iterator, &table, &count, &operation, &indirect);
      for (int index = 0; index < count; index++) {
        sqlite3_value *value = 0;
        LOOK_UP(changeset_conflict)(iterator, index, &value);
        append_value(text, value);
      }
    }
  }
  char *conflict = sqlite3_str_finish(text);
  int decision = conflict ? asked->decide(asked->context, kind, conflict) : SQLITE_CHANGESET_ABORT;
  sqlite3_free(conflict);
  return decision;
}

int sessions_apply(sqlite3 *db, const void *bytes, int count, sessions_decision asked, void *context,
                   int *decisions_count, void **decisions) {
  decider decider = {asked, context};
  return LOOK_UP(changeset_apply_v2)(db, count, (void *)bytes, 0, decide, &decider, decisions,
                                     decisions_count, 0);
}

int sessions_invert(const void *bytes, int count, int *result_count, void **result) {
  return LOOK_UP(changeset_invert)(count, bytes, result_count, result);
}

int sessions_combine(const void *first, int first_count, const void *second, int second_count,
                     int *result_count, void **result) {
  return LOOK_UP(changeset_concat)(first_count, (void *)first, second_count, (void *)second,
                                   result_count, result);
}

int sessions_rebase(const void *first, int first_count, const void *second, int second_count,
                    const void *bytes, int count, int *result_count, void **result) {
  sqlite3_rebaser *rebaser = 0;
  int code = LOOK_UP(rebaser_create)(&rebaser);
  if (code == SQLITE_OK) code = LOOK_UP(rebaser_configure)(rebaser, first_count, first);
  if (code == SQLITE_OK && second) code = LOOK_UP(rebaser_configure)(rebaser, second_count, second);
  if (code == SQLITE_OK) code = LOOK_UP(rebaser_rebase)(rebaser, count, bytes, result_count, result);
  LOOK_UP(rebaser_delete)(rebaser);
  return code;
}

int sessions_difference(sqlite3 *db, const char *from, const char *table, int *result_count,
                        void **result) {
  sqlite3_session *session = 0;
  int code = LOOK_UP(session_create)(db, "main", &session);
  if (code == SQLITE_OK) code = LOOK_UP(session_attach)(session, table);
  if (code == SQLITE_OK) code = LOOK_UP(session_diff)(session, from, table, 0);
  if (code == SQLITE_OK) code = LOOK_UP(session_changeset)(session, result_count, result);
  if (session) LOOK_UP(session_delete)(session);
  return code;
}
