extension CraftedFile {
  /// Those whose schema says something else than it is.
  static var wrong: [CraftedFile] {
    statements.map { CraftedFile($0, "CREATE TABLE victim (a);" + city(as: $0)) }
      + damages.map { CraftedFile($0, "CREATE TABLE victim (a);" + city + $0) }
  }

  private static var statements: [String] {
    let dots = String(repeating: ".a", count: 20_000)
    let quotes = String(repeating: "\"\"", count: 20_000)
    let comments = String(repeating: "/**/ -- x\n", count: 6_000)
    return [
      "CREATE TABLE city (id, name); DROP TABLE victim",
      "CREATE TABLE city (id, name); ATTACH 'secret' AS s", "-- nothing", "",
      "CREATE VIEW city AS SELECT 1", "CREATE TABLE town (id, name)", "SELECT wire(1)",
      "PRAGMA writable_schema = ON", "CREATE VIRTUAL TABLE city USING fts5 (name)",
      "CREATE TABLE city AS SELECT wire(1) AS id, wire_twice(2) AS name",
      "CREATE TABLE city (id, name", "CREATE TABLE city (id, \u{1} name)",
      "CREATE TABLE \"ci\"\"ty\" (id, name)", "CREATE TABLE city (id, \"\(dots)\" UNIQUE)",
      "CREATE TABLE city (id, \"\(quotes)\")", "CREATE TABLE city (id, \(comments)name)",
    ]
  }

  private static let damages = [
    """
    CREATE VIEW v AS SELECT 1;
    UPDATE sqlite_schema SET sql = 'CREATE VIEW v AS SELECT * FROM v' WHERE name = 'v';
    """,
    """
    CREATE INDEX i ON city (name);
    UPDATE sqlite_schema SET sql = sql || '; DROP TABLE victim' WHERE name = 'i';
    """,
    """
    CREATE TABLE town (a, b, c);
    UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'city');
    """,
    "UPDATE sqlite_schema SET rootpage = 2147483647;", "UPDATE sqlite_schema SET rootpage = 1;",
    "UPDATE sqlite_schema SET name = x'ff00', type = 7;",
    "UPDATE city SET name = CAST(x'3DD84100' AS TEXT);",
  ]
}
