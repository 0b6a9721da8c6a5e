// Statements that write: executeUpdate, and batches of SQL.

extension Database {
  /// Runs a statement to its end and returns the number of rows that it inserted, changed or deleted.
  ///
  /// ```swift
  /// try db.executeUpdate("UPDATE city SET population = ? WHERE name = ?", 709_037, "Oslo")
  /// try db.executeUpdate("UPDATE city SET population = \(709_037) WHERE name = \("Oslo")")
  /// ```
  ///
  /// Rows that it returns, like those of a PRAGMA, are stepped over. Rows that triggers and foreign
  /// keys change aren't counted. Throws for a wrong number of arguments, and for text with more
  /// than one statement or none.
  @discardableResult
  public func executeUpdate(
    _ sql: SQL, _ arguments: (any DatabaseValueConvertible)?...
  ) throws -> Int { try executeUpdate(sql, arguments: Arguments(arguments)) }

  /// Runs a statement with arguments whose types are all known. They are bound without being put
  /// into a list first, which takes longer than binding. Throws as with a list.
  @discardableResult
  @inlinable
  public func executeUpdate<each Value: DatabaseValueConvertible>(
    _ sql: SQL, _ arguments: repeat each Value
  ) throws -> Int {
    guard sql.values.isEmpty else {
      var list: [(any DatabaseValueConvertible)?] = []
      repeat list.append(each arguments)
      return try executeUpdate(sql, arguments: Arguments(list))
    }
    let statement = try take(sql)
    defer { giveBack(statement) }
    // There is no closure here: it would take a third of the time of binding.
    try statement.beginBinding()
    var index: Int32 = 0
    func bind(_ value: some DatabaseValueConvertible) throws {
      index += 1
      try value.bind(to: ParameterBinder(arena: statement.arena, index: index))
    }
    do {
      var count = 0
      for _ in repeat each arguments { count += 1 }
      try statement.checkCount(count)
      repeat try bind(each arguments)
    } catch {
      throw statement.endBinding(after: error)
    }
    try statement.endBinding()
    return try statement.run()
  }

  /// Runs a statement with arguments from an array or, by name, from a dictionary. Throws as with
  /// positional ones.
  @discardableResult
  public func executeUpdate(_ sql: SQL, arguments: Arguments) throws -> Int {
    let statement = try take(sql, arguments)
    defer { giveBack(statement) }
    return try statement.run()
  }
}

/// Whether a batch goes on after a row.
public enum BatchControl: Hashable, Sendable {
  /// Go on.
  case next
  /// Stop the batch here; what has run stays.
  case stop
}

extension Database {
  /// Runs several statements one after the other.
  ///
  /// Interpolated values go to the statements' parameters in order. A statement that fails ends the
  /// batch with its error, and those before it have run. A batch that has to be all or nothing
  /// belongs in a transaction.
  ///
  /// - `onRow`: called for each row that a statement returns; it can stop the batch. An error that it
  ///   throws ends the batch.
  ///
  /// Also throws `ResultCode.range` for interpolated values that no parameter takes.
  public func executeStatements(_ sql: SQL, onRow: ((Row) throws -> BatchControl)? = nil) throws {
    try connection.check()
    if let engine { return try execute(engine.statements(in: sql.text), sql.values, onRow) }
    var values = sql.values[...]
    let text = try SQLText(sql.text)
    var position = 0
    while position < text.count {
      let (statement, end) = try connection.prepareFirst(
        of: text, from: position, isPersistent: false)
      position = end
      guard let statement else { continue }
      guard try run(statement, &values, onRow) == .next else { return }
    }
    try checkTaken(values, sql.text)
  }

  private func execute(
    _ statements: [String], _ values: [(any DatabaseValueConvertible)?],
    _ onRow: ((Row) throws -> BatchControl)?
  ) throws {
    var values = values[...]
    for text in statements {
      let statement = try connection.prepare(text, isPersistent: false)
      defer { forgetOutdated(statement) }
      guard try run(statement, &values, onRow) == .next else { return }
    }
    try checkTaken(values, statements.last ?? "")
  }

  private func checkTaken(
    _ values: ArraySlice<(any DatabaseValueConvertible)?>, _ sql: String
  ) throws {
    guard values.isEmpty else {
      throw DatabaseError(
        .range, "there are \(values.count) more values than the statements have parameters",
        sql: sql)
    }
  }

  /// Runs a statement of a batch, whose parameters take the first of the values.
  private func run(
    _ statement: PreparedStatement, _ values: inout ArraySlice<(any DatabaseValueConvertible)?>,
    _ onRow: ((Row) throws -> BatchControl)?
  ) throws -> BatchControl {
    let arguments = Arguments(Array(values.prefix(statement.parameterCount)))
    values = values.dropFirst(statement.parameterCount)
    try statement.bind(SQL(raw: statement.sql), arguments)
    guard let onRow else {
      _ = try statement.run()
      return .next
    }
    let rows = try ResultSet(self, statement)
    defer { rows.close() }
    while try rows.next() {
      if try onRow(rows.row) == .stop { return .stop }
    }
    return .next
  }
}

// What users of other libraries write first.
extension Database {
  /// Not available: see ``executeUpdate(_:_:)``, `executeStatements` and `executeQuery`.
  @available(
    *, unavailable,
    message: "executeUpdate runs one statement, executeStatements several, executeQuery reads rows"
  )
  @_documentation(visibility: internal)
  public func execute(_ sql: SQL, _ arguments: (any DatabaseValueConvertible)?...) throws {}

  /// Not available: see ``executeUpdate(_:_:)``, `executeStatements` and `executeQuery`.
  @available(
    *, unavailable,
    message: "executeUpdate runs one statement, executeStatements several, executeQuery reads rows"
  )
  @_documentation(visibility: internal)
  public func execute(sql: SQL, arguments: Arguments = []) throws {}
}
