extension Database {
  /// Runs one of the statements that scopes are made of, compiled once per connection.
  private func execute(_ control: TransactionControl) throws {
    _ = try connection.check()
    let statement: PreparedStatement
    if let prepared = cache.controls[control.rawValue] {
      statement = prepared
    } else {
      statement = try connection.prepare(control.sql, isPersistent: true)
      cache.controls[control.rawValue] = statement
    }
    defer { statement.reset() }
    _ = try statement.begin()
    _ = try statement.step()
  }

  /// Begins a transaction. Throws where one is open already, or a lock can't be had in time.
  public func begin(_ kind: TransactionKind = .immediate) throws {
    try execute(kind.control)
  }

  /// Commits the transaction. Where that throws, as for a deferred foreign key or a lock, the
  /// transaction is mostly still open: ask ``isInTransaction``, then try again or roll back.
  public func commit() throws {
    try execute(.commit)
  }

  /// Rolls the transaction back.
  public func rollback() throws {
    try execute(.rollback)
  }

  /// Runs a closure in a transaction, commits when it returns, and rolls back when it throws.
  ///
  /// ```swift
  /// try db.inTransaction { db in
  ///   try db.executeUpdate("UPDATE account SET balance = balance - 10 WHERE id = 1")
  ///   try db.executeUpdate("UPDATE account SET balance = balance + 10 WHERE id = 2")
  /// }
  /// ```
  ///
  /// The closure never runs unless the transaction has begun. When the commit fails, the
  /// transaction is rolled back and the error thrown. Inside of a transaction this is a savepoint
  /// (and the kind means nothing). See also ``setRollbackOnly()``.
  public func inTransaction<T>(
    _ kind: TransactionKind = .immediate, _ body: (Database) throws -> T
  ) throws -> T {
    _ = try connection.check()
    if isInTransaction { return try inSavepoint(body) }
    try begin(kind)
    return try runScope(body, end: commit, undo: rollback)
  }

  /// Runs a closure in a savepoint, keeps its changes when it returns, and undoes them when it
  /// throws. Outside of a transaction the savepoint is a deferred transaction of its own.
  ///
  /// See [Savepoints](https://www.sqlite.org/lang_savepoint.html).
  public func inSavepoint<T>(_ body: (Database) throws -> T) throws -> T {
    try execute(.savepoint)
    return try runScope(body) {
      try execute(.release)
    } undo: {
      try execute(.rollbackTo)
      try execute(.release)
    }
  }

  /// Makes the transaction or savepoint whose closure is running end in a rollback, although the
  /// closure returns normally. Outside of such a closure it does nothing.
  public func setRollbackOnly() { isRollbackOnly = true }

  private func runScope<T>(
    _ body: (Database) throws -> T, end: () throws -> Void, undo: () throws -> Void
  ) throws -> T {
    let outer = isRollbackOnly
    isRollbackOnly = false
    defer { isRollbackOnly = outer }
    let result: T
    do {
      result = try body(self)
    } catch {
      // After some errors SQLite has rolled back by itself. An error of the rollback goes to the
      // log: the caller needs to know why there had to be one.
      if isInTransaction { try? undo() }
      throw error
    }
    _ = try connection.check()
    guard isInTransaction else {
      throw DatabaseError(
        .abort, "the transaction ended inside its scope: by COMMIT or ROLLBACK, or by an error")
    }
    if isRollbackOnly {
      try undo()
      return result
    }
    do {
      try end()
    } catch {
      if isInTransaction { try? undo() }
      throw error
    }
    return result
  }

  /// Begins a savepoint. Its name may hold anything but NUL.
  public func savepoint(_ name: String) throws {
    try executeUpdate("SAVEPOINT \(identifier: name)")
  }

  /// Ends a savepoint, the innermost of that name, and keeps its changes.
  public func release(_ name: String) throws {
    try executeUpdate("RELEASE \(identifier: name)")
  }

  /// Undoes all changes since a savepoint, the innermost of that name, which stays open.
  public func rollback(to name: String) throws {
    try executeUpdate("ROLLBACK TO \(identifier: name)")
  }
}
