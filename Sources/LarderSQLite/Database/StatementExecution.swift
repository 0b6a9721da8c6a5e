// The path of every statement: taken from the cache or compiled, bound, run, and given back.

extension Database {
  /// Takes a statement for the caller alone. It has to go back through ``giveBack(_:)``.
  @usableFromInline
  func take(_ sql: SQL) throws -> PreparedStatement {
    try connection.check()
    if let known = cache.takeLast(where: { $0.isSame(as: sql.text) }) { return known }
    guard sql.isCacheable else { return try compileUncached(sql.text) }
    return try sql.text.withBytes { try find($0, sql.text) }
  }

  /// Takes a statement of SQL that is found by its number, for the caller alone.
  @usableFromInline
  package func take(_ sql: FixedSQL) throws -> PreparedStatement {
    try connection.check()
    if let known = cache.take(sql.number) { return known }
    return try find(sql)
  }

  @inline(never)
  private func find(_ sql: FixedSQL) throws -> PreparedStatement {
    try sql.text.withBytes { try find($0, sql.text, number: sql.number) }
  }

  private func find(
    _ bytes: LentBytes, _ text: @autoclosure () -> String, number: Int = 0
  ) throws -> PreparedStatement {
    try cache.take(bytes, number) { try connection.prepare(text(), isPersistent: $0) }
  }

  private func compileUncached(_ text: String) throws -> PreparedStatement {
    cache.countMiss()
    return try connection.prepare(text, isPersistent: false)
  }

  /// Resets a statement and puts it back into the cache, or finalizes it if it isn't the cache's.
  @usableFromInline
  package func giveBack(_ statement: PreparedStatement) {
    statement.reset()
    statement.arena.releaseCopies()
    statement.isDeclared = false
    if _slowPath(statement.arena.isEngine) { forgetOutdated(statement) }
    if _slowPath(!cache.giveBack(statement)) { cache.discard(statement) }
  }

  /// Binds a statement's values. If that throws, the statement is given back.
  private func bound(
    _ statement: PreparedStatement, _ bind: (PreparedStatement) throws -> Void
  ) throws -> PreparedStatement {
    do {
      try bind(statement)
      return statement
    } catch {
      statement.mayBeStale = statement.engine != nil
      giveBack(statement)
      throw error
    }
  }

  /// Takes a statement and binds its values. The caller gives it back.
  @usableFromInline
  func take(_ sql: SQL, _ arguments: Arguments) throws -> PreparedStatement {
    try bound(takeOrTell(sql)) { try $0.bind(sql, arguments) }
  }

  /// Takes a statement. If another engine refuses it, an error of its values is thrown first: it may be the
  /// cause.
  private func takeOrTell(_ sql: SQL) throws -> PreparedStatement {
    do {
      return try take(sql)
    } catch  where engine != nil {
      if sql.values.contains(where: { $0 is BoundRows }) {
        throw UnsupportedByEngine(engine: engine?.name ?? "", feature: "tables bound to parameters")
      }
      for value in sql.values { _ = try value?.databaseValue }
      throw error
    }
  }

  /// Takes a statement and binds the SQL's own values. The caller gives it back.
  @usableFromInline
  package func take(bound sql: SQL) throws -> PreparedStatement { try take(sql, Arguments()) }

  /// Takes a statement and binds its values. The caller gives it back.
  ///
  /// Its text is written into temporary memory, and becomes a String only if the statement isn't in the
  /// cache.
  ///
  /// - Parameters:
  ///   - use: the ways in which it uses the tables.
  ///   - tables: the declared tables that are written with the text.
  ///   - write: writes the text.
  ///   - bind: binds the values.
  package func take(
    for use: TableUse, _ tables: () -> [any ExpectedTable],
    write: (inout TextWriter) -> Void, bind: (inout ArgumentWriter) throws -> Void
  ) throws -> PreparedStatement {
    try connection.check()
    let (statement, valueCount) = try TextWriter.withBytes(write) { bytes, writer in
      let statement: PreparedStatement
      do {
        statement = try take(bytes, isCacheable: writer.isCacheable)
      } catch {
        throw explaining(error, use, tables())
      }
      let number = writer.tables
      statement.isDeclared = number != 0
      if number != 0, statement.checkedMark != connection.schemaMark | number {
        try check(statement, number, for: use, tables())
      }
      return (statement, writer.valueCount)
    }
    return try bound(statement) {
      try $0.checkCount(valueCount)
      try $0.bind { arena in
        var writer = ArgumentWriter(arena)
        try bind(&writer)
      }
    }
  }

  private func take(_ bytes: LentBytes, isCacheable: Bool) throws -> PreparedStatement {
    guard isCacheable else { return try compileUncached(String(decoding: bytes, as: UTF8.self)) }
    if let known = cache.takeLast(where: { $0.hasBytes(bytes) }) { return known }
    return try find(bytes, String(decoding: bytes, as: UTF8.self))
  }

  /// Runs an INSERT, UPDATE or DELETE with the values that a closure binds, and returns the number of
  /// rows that it changed.
  package func run(_ sql: FixedSQL, bind: (BindingArena) throws -> Void) throws -> Int {
    let statement = try take(sql)
    defer { giveBack(statement) }
    try statement.bind(bind)
    return try statement.run()
  }

  /// Calls a closure with a statement before its first row. The closure must not keep it.
  ///
  /// The closure may be the caller's code, which can't close the database meanwhile.
  @inlinable
  package func withRows<T>(
    _ sql: FixedSQL, bind: (BindingArena) throws -> Void, _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    let statement = try take(sql)
    defer { giveBack(statement) }
    try statement.bind(bind)
    return try statement.whileStepping(body)
  }

  /// Calls a closure with a statement that was taken, and whose values are bound. Gives it back.
  @inlinable
  package func withRows<T>(
    of statement: PreparedStatement, _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    defer { giveBack(statement) }
    return try statement.whileStepping(body)
  }
}

extension PreparedStatement {
  /// Binds all parameters. On failure nothing runs.
  @usableFromInline
  func bind(_ sql: SQL, _ arguments: Arguments) throws {
    try bind { arena in
      if arguments.pairs == nil && (sql.values.isEmpty || arguments.positional.isEmpty) {
        let values = sql.values.isEmpty ? arguments.positional : sql.values
        try checkCount(values.count)
        try arena.bind(values)
      } else {
        try parameters.bind(named: arguments, anonymous: sql.values, in: arena)
      }
    }
  }

  @inlinable
  func checkCount(_ count: Int) throws {
    if count != parameterCount { throw countError(given: count) }
  }

  @usableFromInline
  func countError(given count: Int) -> DatabaseError { parameters.countError(given: count) }

  /// Begins an execution and calls a closure, which may be the caller's code, to step through it.
  @inlinable
  func whileStepping<T>(_ body: (PreparedStatement) throws -> T) throws -> T {
    try begin()
    connection.callDepth &+= 1
    defer { connection.callDepth &-= 1 }
    return try body(self)
  }
}
