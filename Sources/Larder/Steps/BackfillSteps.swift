import FoundationEssentials
import LarderSQLite

extension Backfill {
  /// - Parameters:
  ///   - detail: the step in words, for errors.
  ///   - rows: the number of rows in a batch.
  ///   - fill: fills the rows that meet a condition.
  fileprivate init(
    _ detail: String, of table: String, rows: Int,
    _ fill: @escaping @Sendable (AlteredTable, _ range: SQL) throws -> Void
  ) {
    self.init { db, position in
      let table = try AlteredTable(table, for: detail, in: db)
      guard let batch = try table.batch(after: position, rows: max(1, rows)) else { return nil }
      try fill(table, batch.range)
      return batch.last
    }
  }
}

extension SchemaStep {
  /// Fills a column of all rows by an expression, in batches, each in a transaction of its own, so that others can
  /// write meanwhile.
  ///
  /// ```swift
  /// Migration("words of entries", .backfill("words", of: "entry", with: "length(body) / 6", rows: 5_000))
  /// ```
  ///
  /// The database remembers where the batches have come to, in the same transactions: after a crash or `kill -9`,
  /// the next start goes on behind the last committed batch, and no row is filled twice. So a migration of backfills has no
  /// other steps. The step has to allow that others write: rows that are inserted meanwhile behind the present position
  /// are filled too, and those before it aren't, so give the column a default, or let the program write it. The
  /// table needs a primary key, or SQLite's row ids. Triggers are fired. Undoing the step does nothing.
  ///
  /// - `condition`: the rows to fill; nil for all.
  /// - `rows`: how many rows of the table a batch looks at.
  public static func backfill(
    _ column: String, of table: String, with expression: SQL, where condition: SQL? = nil,
    rows: Int = 10_000
  ) -> SchemaStep {
    let text =
      [expression.checkedText] + (condition.map { ["where", $0.checkedText] } ?? [])
    return backfill(column, of: table, text, rows: rows) { table, range in
      _ = try table.position(of: column)
      try table.db.executeUpdate(
        ("""
        UPDATE \(table.name) SET \(identifier: column) = \(expression)
        WHERE \(range) AND (\(condition ?? "true"))
        """ as SQL).uncached)
    }
  }

  /// Fills a column of all rows by Swift code, from the values of another column, in batches; see
  /// ``backfill(_:of:with:where:rows:)``.
  ///
  /// ```swift
  /// .backfill("words", of: "entry", from: "body") { (body: String) in body.split(separator: " ").count }
  /// ```
  ///
  /// The code isn't part of the migration's checksum. Equal values have to be converted equally. A new value is stored
  /// in its type's own form: for a column with a coding there is
  /// ``backfill(_:of:from:as:rows:converting:)``.
  public static func backfill<Old: DatabaseValueConvertible, New: DatabaseValueConvertible>(
    _ column: String, of table: String, from source: String, rows: Int = 10_000,
    converting: @escaping @Sendable (Old) throws -> New
  ) -> SchemaStep {
    filling(column, of: table, from: source, rows: rows) { (old: Old) in try converting(old) }
  }

  /// Fills a column that has a coding by Swift code, from the values of another column, in batches; see
  /// ``backfill(_:of:with:where:rows:)``.
  ///
  /// ```swift
  /// .backfill("seen", of: "entry", from: "seenText", as: ColumnCoding<Date>.unixMilliseconds) {
  ///   (text: String) in try? Date(text, strategy: .iso8601)
  /// }
  /// ```
  public static func backfill<Old: DatabaseValueConvertible, Value: Sendable>(
    _ column: String, of table: String, from source: String, as coding: ColumnCoding<Value>,
    rows: Int = 10_000, converting: @escaping @Sendable (Old) throws -> Value?
  ) -> SchemaStep {
    filling(column, of: table, from: source, rows: rows) { (old: Old) in
      guard let value = try converting(old) else { return DatabaseValue.null }
      return CodedValue(value: value, coding: coding)
    }
  }

  private static func filling<Old: DatabaseValueConvertible>(
    _ column: String, of table: String, from source: String, rows: Int,
    _ converting: @escaping @Sendable (Old) throws -> any DatabaseValueConvertible
  ) -> SchemaStep {
    backfill(column, of: table, ["from", source.quotedIdentifier], rows: rows) { table, range in
      _ = try (table.position(of: column), table.position(of: source))
      try table.fill(column, from: source, in: range, converting)
    }
  }

  private static func backfill(
    _ column: String, of table: String, _ text: [String], rows: Int,
    _ fill: @escaping @Sendable (AlteredTable, SQL) throws -> Void
  ) -> SchemaStep {
    let detail = "fill the column “\(column)” of “\(table)”"
    let backfill = Backfill(detail, of: table, rows: rows, fill)
    var step = NamedStep(
      ["backfill", table.quotedIdentifier, column.quotedIdentifier] + text, undo: { _ in },
      backfill.fillAll)
    step.backfill = backfill
    return SchemaStep(detail, step)
  }
}

extension AlteredTable {
  /// The columns by which the rows are put in order, each with its name as an identifier.
  private func keyColumns() throws -> [String] {
    let names = found.rowIDSource.map { [$0] } ?? found.primaryKey
    guard !names.isEmpty else { throw problem("“\(found.name)” has no primary key") }
    return names.map(\.quotedIdentifier)
  }

  /// The key as literals, which the engine compares with the columns.
  private func literals(_ columns: [String]) -> [String] {
    columns.map { column in
      guard db.engine == nil else { return "quote_literal(\(column)::text)" }
      // SQLite's function quotes a text up to a NUL, and infinity as a name.
      return """
        CASE typeof(\(column)) WHEN 'text' THEN 'CAST(x''' || hex(\(column)) || ''' AS TEXT)'
        ELSE replace(quote(\(column)), 'Inf', '9e999') END
        """
    }
  }

  /// The condition of the next rows in the order of the key, and the key of the last of them, as literals.
  fileprivate func batch(
    after position: String?, rows: Int
  ) throws -> (range: SQL, last: String)? {
    let columns = try keyColumns()
    let names = columns.indices.map { "k\($0)" }
    let key = SQL(raw: columns.joined(separator: ", "))
    let start: SQL = position.map { "(\(key)) > (\(SQL(raw: $0)))" } ?? "true"
    let aliased = zip(columns, names).map { "\($0) AS \($1)" }.joined(separator: ", ")
    let last = try db.executeQuery(
      ("""
      SELECT \(SQL(raw: literals(names).joined(separator: ", "))) FROM (
        SELECT \(SQL(raw: aliased)) FROM \(name) WHERE \(start) ORDER BY \(key) LIMIT \(rows)
      ) AS batch ORDER BY \(SQL(raw: names.map { $0 + " DESC" }.joined(separator: ", "))) LIMIT 1
      """ as SQL).uncached
    ).map { row in try names.indices.map { try row.get(at: $0, as: String.self) } }.first
    guard let text = last?.joined(separator: ", ") else { return nil }
    return ("\(start) AND (\(key)) <= (\(SQL(raw: text)))", text)
  }

  /// Writes converted values into a column of the rows that meet a condition.
  fileprivate func fill<Old: DatabaseValueConvertible>(
    _ column: String, from source: String, in range: SQL,
    _ convert: @escaping @Sendable (Old) throws -> any DatabaseValueConvertible
  ) throws {
    guard db.engine != nil else {
      return try db.withFunction(of: source, convert) { function in
        try db.executeUpdate(
          ("""
          UPDATE \(name) SET \(identifier: column) = \(function)(\(identifier: source))
          WHERE \(range)
          """ as SQL).uncached)
      }
    }
    let columns = try keyColumns()
    let types = try columns.indices.map {
      found.columns[try position(of: found.primaryKey[$0])].type
    }
    let type = SQL(raw: found.columns[try position(of: column)].type)
    let rows = try db.executeQuery(
      ("""
      SELECT \(SQL(raw: literals(columns).joined(separator: ", "))), \(identifier: source)
      FROM \(name) WHERE \(range)
      """ as SQL).uncached
    ).map { row -> SQL in
      let key = try types.indices.map {
        "CAST(\(try row.get(at: $0, as: String.self)) AS \(types[$0]))"
      }
      let value = try convert(row.get(at: types.count))
      return "(\(SQL(raw: key.joined(separator: ", "))), CAST(\(value) AS \(type)))"
    }
    let names = columns.indices.map { "k\($0)" }
    let isSame = zip(columns, names).map { "t.\($0) = v.\($1)" }.joined(separator: " AND ")
    for start in stride(from: 0, to: rows.count, by: Self.rowsOfStatement) {
      var values = rows[start]
      for row in rows[start..<min(start + Self.rowsOfStatement, rows.count)].dropFirst() {
        values = "\(values), \(row)"
      }
      try db.executeUpdate(
        ("""
        WITH v (\(SQL(raw: names.joined(separator: ", "))), value) AS (VALUES \(values))
        UPDATE \(name) AS t SET \(identifier: column) = v.value FROM v WHERE \(SQL(raw: isSame))
        """ as SQL).uncached)
    }
  }

  /// The number of rows that one statement writes. Each has a parameter, of which a server takes 65,535.
  private static let rowsOfStatement = 1000

  /// Runs a closure with the expression for the converted values of a column.
  func converting<Old: DatabaseValueConvertible>(
    _ column: String, in changed: TableSchema,
    _ convert: @escaping @Sendable (Old) throws -> any DatabaseValueConvertible,
    _ body: (SQL) throws -> Void
  ) throws {
    guard let definitions = db.definitions, let target = changed.column(column) else {
      return try db.withFunction(of: column, convert) { try body("\($0)(\(identifier: column))") }
    }
    // A server doesn't know the function, so a column for the new values is filled first.
    let helper = "larder_converted"
    try alter("ADD COLUMN \(helper) \(target.type)")
    let detail = "convert “\(column)”"
    let backfill = Backfill(detail, of: found.name, rows: Self.rowsOfStatement) {
      try $0.fill(helper, from: column, in: $1, convert)
    }
    try definitions.withoutTriggers(of: found, in: db) { try backfill.fillAll(db) }
    try body("\(identifier: helper)")
  }
}

extension Database {
  /// Runs a closure with the name of a SQL function that calls a conversion. The conversion's own error is thrown,
  /// with the column if a value wasn't of the old type.
  fileprivate func withFunction<Old: DatabaseValueConvertible>(
    of column: String, _ convert: @escaping @Sendable (Old) throws -> any DatabaseValueConvertible,
    _ body: (SQL) throws -> Void
  ) throws {
    let name = "larder_converted"
    let format = dateFormat
    let failure = Lock<(any Error)?>(nil)
    try createFunction(name, argumentCount: 1) { arguments in
      do {
        let date = Old.self is Date.Type || Old.self is Date?.Type
        let value = arguments[0]
        if date, value != .null, let old = try format.date(from: value) as? Old {
          return try convert(old)
        }
        return try convert(Self.old(value, in: column))
      } catch {
        failure.withLock { $0 = error }
        throw error
      }
    }
    defer { try? removeFunction(name, argumentCount: 1) }
    do {
      try body("\(identifier: name)")
    } catch {
      throw failure.withLock { $0 } ?? error
    }
  }

  private static func old<Old: DatabaseValueConvertible>(
    _ value: DatabaseValue, in column: String
  ) throws -> Old {
    do {
      return try Old(databaseValue: value)
    } catch let error as ConversionError {
      throw ConversionError(
        error, column: column, index: 0, sql: "SELECT \(column.quotedIdentifier)")
    }
  }
}
