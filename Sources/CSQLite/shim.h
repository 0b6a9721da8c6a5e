#ifndef LARDER_CSQLITE_SHIM_H
#define LARDER_CSQLITE_SHIM_H

// SQLite's interface as the system declares it, and the few parts of it that Swift can't call:
// variadic functions and the destructor constants, which are casts of integers to pointers.

#include <sqlite3.h>
#include <stddef.h>

#if SQLITE_VERSION_NUMBER < 3037000
#error "Larder needs SQLite 3.37 or newer (STRICT tables, 64-bit change counts)"
#endif

static inline int larder_db_config(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

/// The value of a Boolean connection option (a negative argument asks without changing it).
static inline int larder_db_config_value(sqlite3 *db, int option) {
  int value = 0;
  return sqlite3_db_config(db, option, -1, &value) == SQLITE_OK ? value : -1;
}

/// Turns off SQLite's memory statistics; has to run before the first connection is opened.
static inline int larder_config_memory_statistics(int enabled) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, enabled);
}

static inline int larder_bind_text_transient(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, (const char *)bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int larder_bind_text_static(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, (const char *)bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int larder_bind_blob_transient(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int larder_bind_blob_static(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_STATIC);
}

static inline void larder_result_text(
    sqlite3_context *context, const void *bytes, sqlite3_uint64 count) {
  sqlite3_result_text64(context, (const char *)bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void larder_result_blob(
    sqlite3_context *context, const void *bytes, sqlite3_uint64 count) {
  sqlite3_result_blob64(context, bytes, count, SQLITE_TRANSIENT);
}

/// The offset in bytes of the token that the last error is about, or -1 (always before 3.38).
static inline int larder_error_offset(sqlite3 *db) {
#if SQLITE_VERSION_NUMBER >= 3038000
  return sqlite3_error_offset(db);
#else
  (void)db;
  return -1;
#endif
}

/// Whether databases other than main and temp are attached; where SQLite can't tell (before 3.39),
/// there may be.
static inline int larder_has_attached(sqlite3 *db) {
#if SQLITE_VERSION_NUMBER >= 3039000
  return sqlite3_db_name(db, 2) != 0;
#else
  (void)db;
  return 1;
#endif
}

// Extensions of glibc's that its headers hide by default.
extern void *memmem(const void *, size_t, const void *, size_t);
extern char *strcasestr(const char *, const char *);

/// Where bytes are in others, or NULL, in linear time.
static inline const void *larder_find(
    const void *bytes, size_t count, const void *wanted, size_t wanted_count) {
  return memmem(bytes, count, wanted, wanted_count);
}

/// Whether a text has a part that is the same but for the case of ASCII letters.
static inline int larder_mentions(const char *text, const char *part) {
  return strcasestr(text, part) != 0;
}

/// Tells the processor that this is a loop that waits.
static inline void larder_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
