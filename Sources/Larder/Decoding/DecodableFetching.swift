import LarderSQLite

// Decodable results of any SQL.

extension Database {
  /// The rows of a query as values of any `Decodable` type, whose keys are the columns' names.
  ///
  /// ```swift
  /// struct Summary: Decodable {
  ///   var country: String
  ///   var largest: Int?
  /// }
  /// let summaries = try db.fetch(
  ///   Summary.self, "SELECT country, max(population) AS largest FROM city GROUP BY country")
  /// let names = try db.fetch(String.self, "SELECT name FROM city WHERE population > ?", 100_000)
  /// ```
  ///
  /// It is meant for results without a record type; a ``Larder/Record`` reads its own rows faster. Columns
  /// are found by name, ignoring case. A type with a single value, such as `Int`, takes the first column.
  /// Values are read as ``DatabaseValueConvertible`` says, dates in the connection's format, and other
  /// `Codable` values inside a row from text that holds JSON.
  ///
  /// Throws ``ConversionError`` with column, row and statement if a value doesn't fit, such as NULL for a
  /// type that isn't Optional; ``DatabaseError`` with the columns for a key without one, even if Optional.
  public func fetch<T: Decodable>(
    _ type: T.Type, _ sql: SQL, _ arguments: (any DatabaseValueConvertible)?...
  ) throws -> [T] { try fetch(type, sql, arguments: Arguments(arguments)) }

  /// The same with arguments from an array or, by name, from a dictionary.
  public func fetch<T: Decodable>(_ type: T.Type, _ sql: SQL, arguments: Arguments) throws -> [T] {
    var number = 0
    return try executeQuery(sql, arguments: arguments).map { row in
      defer { number += 1 }
      return try DecodedRow(row: row, number: number, sql: sql.text).decode(type)
    }
  }
}
