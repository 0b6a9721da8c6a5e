// Statements of declared tables: a table is compared with the connection's before a statement uses it.

extension Database {
  package var schemaReader: SchemaReader { SchemaReader(connection) }

  /// Checks a table before it is decided how to write to it, in ``whileSchemaStays(_:)``.
  package func look(at table: any ExpectedTable, for use: TableUse) throws {
    try connection.check()
    let look = { try table.check(for: use, self.schemaReader) }
    let isKnown = schemaReader[finding: table.number] != nil
    if !isKnown, connection.knownSchema.postpone(look) { return }
    if engine != nil || connection.knownSchema.isPostponing { return try look() }
    try connection.knownSchema.whileLooking(connection, look)
  }

  /// Compares a statement's declared tables with the connection's. On failure the statement is given back.
  @inline(never)
  func check(
    _ statement: PreparedStatement, _ number: Int, for use: TableUse, _ tables: [any ExpectedTable]
  ) throws {
    let look = {
      let looked = CheckedTables(tables, use)
      try looked.check(on: self.connection)
      statement.checkedTables = looked
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

  /// Lends a statement of one declared table to the caller alone. It has to go back through ``giveBack(_:)``, until when
  /// the cache keeps it.
  ///
  /// - Parameters:
  ///   - number: the table's number.
  ///   - table: returns the table; only called if the statement wasn't checked yet, or can't be compiled.
  @usableFromInline
  package func lend(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable
  ) throws -> Unmanaged<PreparedStatement> {
    try connection.check()
    let lent = try cache.lend(sql.number) ?? lendMissing(sql, use, table)
    try lent._withUnsafeGuaranteedRef { statement in
      statement.isDeclared = true
      if _slowPath(statement.checkedMark != connection.schemaMark | number) {
        try check(statement, number, for: use, [table()])
      }
    }
    return lent
  }

  @inline(never)
  private func lendMissing(
    _ sql: FixedSQL, _ use: TableUse, _ table: () -> any ExpectedTable
  ) throws -> Unmanaged<PreparedStatement> {
    do {
      let statement = try take(sql)
      if statement.cacheEntry.place == nil { cache.park(statement) }
      return .passUnretained(statement)
    } catch {
      throw explaining(error, use, [table()])
    }
  }

  /// The reason why a statement can't be compiled: mostly the problem that checking its tables finds.
  @inline(never)
  func explaining(
    _ error: any Error, _ use: TableUse, _ tables: [any ExpectedTable]
  ) -> any Error {
    guard engine == nil, let known = error as? DatabaseError, known.code == .error else {
      return error
    }
    do {
      try connection.knownSchema.whileLooking(connection) {
        try CheckedTables(tables, use).check(on: connection)
      }
      return error
    } catch let failure as DatabaseError {
      return failure.code == .noMemory ? failure : error
    } catch let problem {
      return problem
    }
  }

  /// Runs an INSERT, UPDATE or DELETE of a declared table with the values that a closure binds, and returns
  /// the number of rows that it changed.
  package func run(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable,
    bind: (BindingArena) throws -> Void
  ) throws -> Int {
    if _slowPath(connection.schemaWriteMark == 0) {
      return try runFirst(sql, of: number, for: use, table, bind: bind)
    }
    return try runKnown(sql, of: number, for: use, table, bind: bind)
  }

  /// Runs a statement where the schema may change before it.
  @inline(never)
  private func runFirst(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable,
    bind: (BindingArena) throws -> Void
  ) throws -> Int {
    try whileSchemaStays { try runKnown(sql, of: number, for: use, table, bind: bind) }
  }

  @inline(__always)
  private func runKnown(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable,
    bind: (BindingArena) throws -> Void
  ) throws -> Int {
    try lend(sql, of: number, for: use, table)._withUnsafeGuaranteedRef { statement in
      defer { giveBack(statement) }
      try statement.bind(bind)
      return try statement.run()
    }
  }

  /// Calls a closure with a statement of a declared table before its first row. The closure must not keep it.
  @inlinable
  package func withRows<T>(
    _ sql: FixedSQL, of number: Int, for use: TableUse, _ table: () -> any ExpectedTable,
    bind: (BindingArena) throws -> Void, _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    try lend(sql, of: number, for: use, table)._withUnsafeGuaranteedRef { statement in
      defer { giveBack(statement) }
      try statement.bind(bind)
      return try statement.whileStepping(body)
    }
  }
}
