import LarderSQLite

/// Opens an in-memory database with four cities, the smallest first.
func makeCities() throws -> Database {
  let db = try Database()
  try createCities(in: db)
  return db
}

/// Creates a table of four cities, the smallest first.
func createCities(in db: Database) throws {
  try db.executeStatements(
    """
    CREATE TABLE city (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, population INTEGER, area REAL);
    INSERT INTO city VALUES (1, 'Bergen', 291940, 464.7);
    INSERT INTO city VALUES (2, 'Oslo', 709037, 454.1);
    INSERT INTO city VALUES (3, 'Lagos', 15388000, 1171.3);
    INSERT INTO city VALUES (4, '北京市', 21893095, 16410.5);
    """)
}

extension Database {
  /// The first column of all rows of a query, as text.
  func texts(_ sql: SQL, _ arguments: (any DatabaseValueConvertible)?...) throws -> [String] {
    try executeQuery(sql, arguments: Arguments(arguments)).map { try $0.get(at: 0) }
  }

  /// The number of rows in the table `city`.
  func cityCount() throws -> Int? { try value("SELECT count(*) FROM city") }
}
