import LarderSQLite

// Running fragments as statements: compiling them, checking the declared tables in them, and executing them.

extension Database {
  /// The compiled statement with its values, which the caller gives back.
  ///
  /// - Parameter use: what the statement does with the declared tables in it.
  func take(_ fragment: SQLFragment, for use: TableUse = []) throws -> PreparedStatement {
    if let dialect {
      return try take(in: dialect, { fragment.expectedTables }) { fragment.write(to: &$0) }
    }
    return try take(for: use) {
      fragment.expectedTables
    } write: {
      fragment.write(to: &$0)
    } bind: {
      try fragment.write(to: &$0)
    }
  }

  /// A compiled statement with its values, written by a closure in a dialect. The caller gives it back.
  func take(
    in dialect: any Dialect, _ tables: () -> [any ExpectedTable],
    _ write: (inout DialectWriter) -> Void
  ) throws -> PreparedStatement {
    var values: [(any DatabaseValueConvertible)?] = []
    do {
      return try take(for: [], tables) { text in
        var writer = DialectWriter(dialect, text)
        write(&writer)
        (text, values) = (writer.text, writer.values)
      } bind: {
        try $0.append(values)
      }
    } catch let error as DatabaseError where error.sqlState != nil {
      // A value that can't be stored may be the cause: then its own error is thrown instead.
      for value in values { _ = try value?.databaseValue }
      throw error
    }
  }

  /// The first column of the first row; the default value if there is no row.
  func value<T: DatabaseValueConvertible>(
    _ statement: SQLFragment, as type: T.Type, default value: T
  ) throws -> T {
    try withRows(of: take(statement)) { statement in
      guard try statement.step() else { return value }
      return try T(column: statement.reader(at: 0))
    }
  }

  /// Runs a statement that changes rows of declared tables to its end, and returns their number.
  func run(_ statement: SQLFragment, for use: TableUse) throws -> Int {
    try whileSchemaStays {
      let statement = try take(statement, for: use)
      defer { giveBack(statement) }
      return try statement.run()
    }
  }
}

/// A declared table, kept in the place of a fragment's value. It is never bound.
struct MentionedTable: DatabaseValueConvertible {
  let table: any ExpectedTable

  init(table: any ExpectedTable) { self.table = table }

  var databaseValue: DatabaseValue { .null }

  init(databaseValue: DatabaseValue) throws { throw ConversionError(.malformed, Self.self) }
}

extension SQLFragment {
  /// The declared tables in the fragment, each as often as it occurs.
  var expectedTables: [any ExpectedTable] { TableCollector.tables { write(to: &$0) } }
}

/// A writer that only collects the declared tables in a statement.
struct TableCollector: SQLWriter {
  typealias Failure = Never

  private var tables: [any ExpectedTable] = []

  static func tables(_ write: (inout TableCollector) -> Void) -> [any ExpectedTable] {
    var collector = TableCollector()
    write(&collector)
    return collector.tables
  }

  mutating func note(table: SQLFragment) {
    if let table = table.table { tables.append(table) }
  }

  mutating func append(word: StaticString) {}
  mutating func append(_ bytes: LentBytes) {}
  mutating func append(_ text: String) {}
  mutating func append(value: any DatabaseValueConvertible) {}
  mutating func append(sql: SQL) {}
  mutating func appendUnlikely() {}
  mutating func append(parameter name: String?, _ column: Int) {}
}
