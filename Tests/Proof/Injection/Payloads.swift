/// Texts that mean something else where a text isn't kept apart from SQL, patterns, names or paths.
enum Payloads {
  static let all =
    sql + quotes + comments + patterns + fullText + json + names + characters + lengths

  private static let sql = [
    "'; DROP TABLE treasury; --", "\"; DROP TABLE treasury; --", "`; DROP TABLE treasury; --",
    "]; DROP TABLE treasury; --", "'); DELETE FROM treasury; --", "\"); DELETE FROM treasury; --",
    "1; UPDATE treasury SET gold = 0", "' OR '1'='1", "\" OR \"\"=\"", "' OR 1=1 --", "1 OR 1=1",
    "' UNION SELECT gold FROM treasury --", "x' || (SELECT gold FROM treasury) || 'x",
    "'; ATTACH DATABASE 'other.db' AS other; --", "'; PRAGMA writable_schema = ON; --",
    "'; VACUUM INTO 'other.db'; --", "'; COMMIT; --", "'; ROLLBACK; --", "; END; --",
    "(SELECT gold FROM treasury)", "gold FROM treasury", "randomblob(1000000000)",
    "load_extension('other')", "'; SELECT load_extension('other'); --",
    "x\"); DROP TABLE treasury; CREATE TABLE y(\"a", "a\" TEXT); DROP TABLE treasury; --",
    "name\" DESC, (SELECT gold FROM treasury) --", "id; DROP TABLE treasury",
    "?", "?1", ":name", "@name", "$name", "$name(x)", "NULL", "DEFAULT", "CURRENT_TIMESTAMP",
    "x'00'", "0x10", "-1", "1e999", "9223372036854775808",
  ]

  private static let quotes = [
    "'", "''", "'''", "\"", "\"\"", "\"\"\"", "`", "``", "[", "]", "[]", "]]", "'\"`]",
    "\\'", "\\\"", "\\", "\\\\'", "'\u{301}", "\"\u{301}", "\u{2018}'\u{2019}", "\u{02BC}",
    "\u{FF07}",
  ]

  private static let comments = [
    "--", "-- \n DROP TABLE treasury", "/*", "*/", "/* */", "/*/", "#", ";",
  ]

  private static let patterns = [
    "%", "_", "%%", "100%", "a_b", "*", "?*", "[a-z]", "[^a]", "[!a]", "!%", "\\%", "[]]",
  ]

  private static let fullText = [
    "NEAR(", "a AND", "OR OR", "\"unbalanced", "name:oslo", "-oslo", "^oslo", "oslo*", "{name}: x",
    "(",
    "NOT",
  ]

  private static let json = [
    "$", "$.", "$[", "$[0]", "$.a.b", "$.\"a", "$[#-1]", "$.a'b", "{\"a\":1}", "[1,2", "..",
  ]

  private static let names = [
    "", " ", "a b", "select", "table", "rowid", "_rowid_", "sqlite_schema", "sqlite_x",
    "main.treasury",
    "temp.treasury", "treasury", "TREASURY", "id", "name", "larder scope", "larder_migrations",
    "file:other.db?mode=memory", ":memory:", "../other", "/etc/passwd", "other\u{2215}db", "%2e%2e",
    "BINARY", "NOCASE", "count", "unix", "unix-none", "%Y", "%s%n%f",
  ]

  private static let characters = [
    "\0", "a\0b", "\0'; DROP TABLE treasury; --", "'\0", "\n", "\r\n", "\t", "\u{1B}[2J", "\u{7F}",
    "é", "e\u{301}", "北京市", "🇳🇴", "👩‍👩‍👧", "\u{FEFF}bom", "\u{202E}rtl", "\u{200B}", "\u{FFFD}",
    "\u{FFFF}",
    "\u{10FFFF}", "İ", "ß", "ſ", "\u{212A}",
  ]

  private static let lengths = [
    String(repeating: "a", count: 300), String(repeating: "'", count: 1000),
    String(repeating: "%_", count: 2000), String(repeating: "(", count: 2000),
    String(repeating: "é", count: 70_000),
  ]
}
