import Synchronization

/// A table that a program declares, which is compared with the one that a connection has before a statement uses it.
@usableFromInline
package protocol ExpectedTable: AnyObject, Sendable {
  /// A number of the table's own, from 1, of 32 bits.
  var number: Int { get }
  /// Throws where to use the table in these ways would lose or mistake a value.
  func check(for use: TableUse, _ schema: SchemaReader) throws
}

/// Gives each declared table a number.
package enum TableNumber {
  private static let count = Atomic<Int>(0)

  /// One that no other table has.
  package static func next() -> Int { count.add(1, ordering: .relaxed).newValue & 0xffff_ffff }
}

/// What a statement does with a table.
@usableFromInline
package struct TableUse: OptionSet, Sendable {
  @usableFromInline package let rawValue: UInt8

  // Each operation names what it does: as a list it would be made anew each time, by generic code.
  @inlinable
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// All columns of the declaration are named.
  @inlinable package static var allColumns: Self { Self(rawValue: 1) }
  /// Rows are inserted with the values of records.
  @inlinable package static var insertion: Self { Self(rawValue: 2) }
  /// Rows are changed or deleted.
  @inlinable package static var change: Self { Self(rawValue: 4) }
  /// One row is meant by a key.
  @inlinable package static var key: Self { Self(rawValue: 8) }

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

/// The declared tables that a statement was looked at for, which is done again once SQLite has compiled it anew.
final class LookedAtTables {
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

extension Database {
  package var schemaReader: SchemaReader { SchemaReader(connection) }

  /// Looks at a table before it is decided how to write to it, in ``whileSchemaStays(_:)``.
  package func look(at table: any ExpectedTable, for use: TableUse) throws {
    try connection.check()
    let look = { try table.check(for: use, self.schemaReader) }
    let isKnown = schemaReader[finding: table.number] != nil
    if !isKnown, connection.knownSchema.postpone(look) { return }
    if engine != nil || connection.knownSchema.isPostponing { return try look() }
    try connection.knownSchema.whileLooking(connection, look)
  }

  /// Has a statement's tables compared with those of this connection. On failure the statement is given back.
  @inline(never)
  func check(
    _ statement: PreparedStatement, _ number: Int, for use: TableUse, _ tables: [any ExpectedTable]
  ) throws {
    let look = {
      let looked = LookedAtTables(tables, use)
      try looked.check(on: self.connection)
      statement.lookedAt = looked
      statement.checkedMark = self.connection.schemaMark | number
    }
    do {
      if connection.knownSchema.postpone(look) { return }
      if engine != nil { return try look() }
      try connection.knownSchema.whileLooking(connection, look)
    } catch {
      giveBack(statement)
      throw error
    }
  }

  /// A statement of one declared table, for the caller alone, which has to go back through ``giveBack(_:)``.
  ///
  /// - Parameters:
  ///   - number: the table's.
  ///   - table: the table, for which is only asked where the statement wasn't looked at yet.
  @usableFromInline
  package func take(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable
  ) throws -> PreparedStatement {
    let statement: PreparedStatement
    do {
      statement = try take(sql)
    } catch {
      throw explaining(error, use, [table()])
    }
    statement.isDeclared = true
    if statement.checkedMark != connection.schemaMark | number {
      try check(statement, number, for: use, [table()])
    }
    return statement
  }

  /// Why a statement can't be compiled: mostly what is found where its tables are looked at.
  @inline(never)
  func explaining(
    _ error: any Error, _ use: TableUse, _ tables: [any ExpectedTable]
  ) -> any Error {
    guard engine == nil, let known = error as? DatabaseError, known.code == .error else {
      return error
    }
    do {
      try connection.knownSchema.whileLooking(connection) {
        try LookedAtTables(tables, use).check(on: connection)
      }
      return error
    } catch let failure as DatabaseError {
      return failure.code == .noMemory ? failure : error
    } catch let problem {
      return problem
    }
  }

  /// Runs an INSERT, UPDATE or DELETE of a declared table with what a closure binds, and returns the number of rows
  /// that it changed.
  package func run(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable,
    bind: (BindingArena) throws -> Void
  ) throws -> Int {
    if connection.schemaWriteMark != 0 {
      return try runKnown(sql, of: number, for: use, table, bind: bind)
    }
    return try whileSchemaStays { try runKnown(sql, of: number, for: use, table, bind: bind) }
  }

  @inline(__always)
  private func runKnown(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable,
    bind: (BindingArena) throws -> Void
  ) throws -> Int {
    let statement = try take(sql, of: number, for: use, table)
    defer { giveBack(statement) }
    try statement.bind(bind)
    return try statement.run()
  }

  /// Calls a closure with a statement of a declared table that stands before its first row, and must not be kept.
  @inlinable
  package func withRows<T>(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable,
    bind: (BindingArena) throws -> Void, _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    let statement = try take(sql, of: number, for: use, table)
    defer { giveBack(statement) }
    try statement.bind(bind)
    return try statement.whileStepping(body)
  }
}
