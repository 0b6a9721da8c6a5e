import Synchronization

/// A table that a program declares. It is compared with the connection's before a statement uses it.
@usableFromInline
package protocol ExpectedTable: AnyObject, Sendable {
  /// The table's unique number, from 1, of 32 bits.
  var number: Int { get }
  /// Throws if using the table in these ways would lose or misread a value.
  func check(for use: TableUse, _ schema: SchemaReader) throws
}

/// Gives each declared table a number.
package enum TableNumber {
  private static let count = Atomic<Int>(0)

  package static func next() -> Int {
    count.wrappingAdd(1, ordering: .relaxed).newValue & 0xffff_ffff
  }
}

/// The ways in which a statement uses a table.
@usableFromInline
package struct TableUse: OptionSet, Sendable {
  @usableFromInline package let rawValue: UInt8

  // Each combination is written as bits: generic code would build an array literal each time.
  @inlinable
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable package static var allColumns: Self { Self(rawValue: 1) }
  /// Rows are inserted with the values of records.
  @inlinable package static var insertion: Self { Self(rawValue: 2) }
  /// Rows are changed or deleted.
  @inlinable package static var change: Self { Self(rawValue: 4) }
  /// One row is chosen by its key.
  @inlinable package static var key: Self { Self(rawValue: 8) }
  /// All rows are put in an order by the key, in which each has a place of its own.
  @inlinable package static var place: Self { Self(rawValue: 8 | 16) }

  /// A record is inserted.
  @inlinable package static var newRecord: Self { Self(rawValue: 1 | 2) }
  /// A record is inserted, or written to the row of its key.
  @inlinable package static var newOrKnownRecord: Self { Self(rawValue: 1 | 2 | 4 | 8) }
  /// All of a record's columns are written to its row.
  @inlinable package static var wholeRecord: Self { Self(rawValue: 1 | 4 | 8) }
  /// A record's row is changed or deleted.
  @inlinable package static var row: Self { Self(rawValue: 4 | 8) }

  @inlinable @inline(__always)
  package func contains(_ member: Self) -> Bool { rawValue & member.rawValue == member.rawValue }
}

/// The declared tables that a statement was checked against. That is repeated once SQLite has recompiled it.
final class CheckedTables {
  private let tables: [any ExpectedTable]
  private let use: TableUse

  init(_ tables: [any ExpectedTable], _ use: TableUse) {
    self.tables = tables
    self.use = use
  }

  func check(on connection: Connection) throws {
    for table in tables { try table.check(for: use, SchemaReader(connection)) }
  }
}
