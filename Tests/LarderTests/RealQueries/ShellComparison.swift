import Foundation
import Larder
import RandomQueries
import TestSupport
import Testing

@testable import Larder

/// A database that both Larder and the sqlite3 shell open: a typed query must find the rows that
/// the shell finds with SQL.
struct ShellComparison {
  private let folder: ScratchFolder
  private let format: DateFormat
  let db: Database

  /// - Parameters:
  ///   - format: the date format of the database.
  ///   - fill: makes the tables and their rows.
  init(_ format: DateFormat, _ fill: (Database) throws -> Void) throws {
    folder = try ScratchFolder(inMemory: true)
    self.format = format
    db = try Database(path: folder.file("database"))
    try db.inTransaction { try fill($0) }
  }

  // MARK: Queries

  /// Compares a selection of several values with the shell's rows.
  @_disfavoredOverload
  func expect<each Value: DatabaseValueConvertible>(
    _ selection: Selection<(repeat each Value)>, _ sql: String,
    at place: SourceLocation = #_sourceLocation
  ) throws {
    _ = selection.snapshot
    try expect(selection.fetchAll(db), sql, at: place)
  }

  /// Compares a selection of one value with the shell's rows.
  func expect<Value: DatabaseValueConvertible>(
    _ selection: Selection<Value>, _ sql: String, at place: SourceLocation = #_sourceLocation
  ) throws {
    _ = selection.snapshot
    try expect(selection.fetchAll(db).map { [$0] }, sql, at: place)
  }

  /// Compares fetched rows of several values with the shell's rows.
  @_disfavoredOverload
  func expect<each Value: DatabaseValueConvertible>(
    _ rows: [(repeat each Value)], _ sql: String,
    at place: SourceLocation = #_sourceLocation
  ) throws {
    let values = rows.map { row in
      var values: [any DatabaseValueConvertible] = []
      repeat values.append(each row)
      return values
    }
    try expect(values, sql, at: place)
  }

  /// Compares records with the shell's rows, in all columns.
  func expect<R: Record>(
    _ query: Query<R>, _ sql: String, at place: SourceLocation = #_sourceLocation
  ) throws {
    _ = query.snapshot
    let rows = try query.fetchAll(db).map { record in
      try withUnsafePointer(to: record) { record in
        try R.table.columns.indices.map {
          try R.table.core.layout.value(of: $0, in: record, db.dateFormat)
        }
      }
    }
    try expect(rows, sql, at: place)
  }

  /// Compares rows of any values with the shell's rows, in order.
  func expect(
    _ rows: [[any DatabaseValueConvertible]], _ sql: String,
    at place: SourceLocation = #_sourceLocation
  ) throws {
    let shown = try SQLiteShell(folder: folder.path).rows([sql])[0]
    let rows = try rows.map { try $0.map(stored) }
    // A query without rows would prove nothing.
    #expect(!shown.isEmpty, "no rows", sourceLocation: place)
    #expect(shown.count == rows.count, sourceLocation: place)
    for (number, (row, expected)) in zip(rows, shown).enumerated() {
      let isSame = row.count == expected.count && zip(row, expected).allSatisfy(Self.areEqual)
      #expect(isSame, "row \(number): \(row), the shell has \(expected)", sourceLocation: place)
      if !isSame { break }
    }
  }

  private func stored(_ value: any DatabaseValueConvertible) throws -> DatabaseValue {
    switch value {
    case let date as Date: try format.databaseValue(of: date)
    case let number as Decimal: .real(NSDecimalNumber(decimal: number).doubleValue)
    default: try value.databaseValue
    }
  }

  /// Numbers are equal regardless of storage class and of rounding in sums: NUMERIC stores some
  /// reals as integers.
  private static func areEqual(_ left: DatabaseValue, _ right: DatabaseValue) -> Bool {
    guard let first = number(left), let second = number(right) else { return left == right }
    return abs(first - second) <= 1e-12 * max(abs(first), abs(second))
  }

  private static func number(_ value: DatabaseValue) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  // MARK: Changes

  /// Makes a change here, and by the shell in a copy of the database, and compares all rows of the
  /// tables.
  func expectChange(
    of tables: String..., sql: String, at place: SourceLocation = #_sourceLocation,
    _ change: (Database) throws -> Void
  ) throws {
    let copy = try ScratchFolder(inMemory: true)
    let (shell, other) = (SQLiteShell(folder: folder.path), SQLiteShell(folder: copy.path))
    _ = try shell.run(".backup \(copy.file("database"))\n")
    let all = tables.map { "SELECT * FROM \"\($0)\" ORDER BY rowid" }
    let before = try shell.rows(all)
    _ = try other.run("PRAGMA foreign_keys = ON;\n\(sql);\n")
    try change(db)
    for (table, (mine, theirs)) in zip(tables, zip(try shell.rows(all), try other.rows(all))) {
      let isSame =
        mine.count == theirs.count
        && zip(mine, theirs).allSatisfy { zip($0, $1).allSatisfy(Self.areEqual) }
      #expect(isSame, "\(table): \(mine), the shell has \(theirs)", sourceLocation: place)
    }
    #expect(try shell.rows(all) != before, "nothing has changed", sourceLocation: place)
  }
}
