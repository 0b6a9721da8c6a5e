import Synchronization

/// A table that a program declares, which is compared with the one that a connection has before a statement uses it.
package protocol ExpectedTable: AnyObject, Sendable {
  /// Throws where to use the table in these ways would lose or mistake a value.
  func check(for use: TableUse, _ schema: SchemaReader) throws
}

/// What a statement does with a table.
package struct TableUse: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// All columns of the declaration are named.
  package static var allColumns: Self { Self(rawValue: 1) }
  /// Rows are inserted with the values of records.
  package static var insertion: Self { Self(rawValue: 2) }
  /// Rows are changed or deleted.
  package static var change: Self { Self(rawValue: 4) }
  /// One row is meant by a key.
  package static var key: Self { Self(rawValue: 8) }
}

/// A declared table that a statement uses.
@usableFromInline
package struct TableMention {
  let table: any ExpectedTable
  /// A number of the table's own, from 1, of 32 bits.
  let number: Int
  let use: TableUse

  package init(_ table: any ExpectedTable, _ number: Int, for use: TableUse) {
    self.table = table
    self.number = number
    self.use = use
  }

  /// A number that no other table has.
  package static func newNumber() -> Int { count.add(1, ordering: .relaxed).newValue & 0xffff_ffff }

  private static let count = Atomic<Int>(0)
}

/// The declared tables that a statement was looked at for, which is done again once SQLite has compiled it anew.
final class LookedAtTables {
  fileprivate let tables: [any ExpectedTable]
  fileprivate let use: TableUse

  fileprivate init(_ tables: [any ExpectedTable], _ use: TableUse) {
    self.tables = tables
    self.use = use
  }

  func check(on connection: Connection) throws {
    for table in tables { try table.check(for: use, SchemaReader(connection)) }
  }
}

extension Database {
  /// Looks at a table before it is decided how to write to it, in ``whileSchemaStays(_:)``.
  package func look(at mention: TableMention) throws {
    try connection.check()
    let look = { try mention.table.check(for: mention.use, self.schemaReader) }
    let isKnown = schemaReader[finding: mention.number] != nil
    if !isKnown, connection.knownSchema.postpone(look) { return }
    if engine == nil, !connection.knownSchema.isPostponing {
      try connection.knownSchema.refresh(connection)
    }
    try look()
  }

  package var schemaReader: SchemaReader { SchemaReader(connection) }

  /// Has a statement's tables compared with those of this connection, unless that was done under the schema that is
  /// known. On failure the statement is given back.
  @inline(__always)
  func checked(
    _ statement: PreparedStatement, _ number: Int, for use: TableUse,
    _ tables: @autoclosure () -> [any ExpectedTable]
  ) throws -> PreparedStatement {
    if statement.checkedMark != connection.knownSchema.mark | number {
      try check(statement, number, use, tables())
    }
    return statement
  }

  @inline(never)
  private func check(
    _ statement: PreparedStatement, _ number: Int, _ use: TableUse, _ tables: [any ExpectedTable]
  ) throws {
    let look = {
      let looked = LookedAtTables(tables, use)
      try looked.check(on: self.connection)
      statement.lookedAt = looked
      statement.checkedMark = self.connection.knownSchema.mark | number
    }
    do {
      if connection.knownSchema.postpone(look) { return }
      if engine == nil { try connection.knownSchema.refresh(connection) }
      try look()
    } catch {
      giveBack(statement)
      throw error
    }
  }

  /// A statement of one declared table, for the caller alone, which has to go back through ``giveBack(_:)``.
  @usableFromInline
  package func take(_ sql: FixedSQL, _ mention: TableMention) throws -> PreparedStatement {
    let statement: PreparedStatement
    do {
      statement = try take(sql)
    } catch {
      throw explaining(error, mention.use, [mention.table])
    }
    return try checked(statement, mention.number, for: mention.use, [mention.table])
  }

  /// Why a statement can't be compiled: mostly what is found where its tables are looked at.
  func explaining(
    _ error: any Error, _ use: TableUse, _ tables: [any ExpectedTable]
  ) -> any Error {
    guard engine == nil, let known = error as? DatabaseError, known.code == .error else {
      return error
    }
    do {
      try connection.knownSchema.refresh(connection)
      try LookedAtTables(tables, use).check(on: connection)
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
    _ sql: FixedSQL, of mention: TableMention, bind: (BindingArena) throws -> Void
  ) throws -> Int {
    try whileSchemaStays {
      let statement = try take(sql, mention)
      defer { giveBack(statement) }
      try statement.bind(bind)
      return try statement.run()
    }
  }

  /// Calls a closure with a statement of a declared table that stands before its first row, and must not be kept.
  @inlinable
  package func withRows<T>(
    _ sql: FixedSQL, of mention: TableMention, bind: (BindingArena) throws -> Void,
    _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    let statement = try take(sql, mention)
    defer { giveBack(statement) }
    try statement.bind(bind)
    return try statement.whileStepping(body)
  }
}
