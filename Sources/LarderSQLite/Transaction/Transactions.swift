// Transactions and savepoints: BEGIN, COMMIT, ROLLBACK, and closures in them.

extension Database {
  /// Runs one of the statements that begin and end scopes, compiled once per connection, regardless
  /// of the scope's restrictions.
  func execute(_ control: TransactionControl) throws {
    try connection.check()
    try executeChecked(control)
  }

  /// Runs such a statement on a connection that was just checked.
  @inline(__always)
  func executeChecked(_ control: TransactionControl) throws {
    guard _fastPath(!connection.hasNewAttachments),
      let known = transactionStatements.reference(to: control)
    else { return try executeNew(control) }
    try namingWrites { try known._withUnsafeGuaranteedRef { try $0.runAsControl() } }
    noteEnd(control)
  }

  /// Notes the end of a transaction, or of a part of it, after which the known schema may be outdated.
  @inline(__always)
  private func noteEnd(_ control: TransactionControl) {
    switch control {
    case .commit: connection.knownSchema.noteEnd(undone: false)
    case .rollback, .rollbackTo: connection.knownSchema.noteEnd(undone: true)
    case .release: if !connection.hasTransaction { connection.knownSchema.noteEnd(undone: false) }
    default: break
    }
  }

  @inline(never)
  private func executeNew(_ control: TransactionControl) throws {
    try namingWrites { try executeSeldom(control) }
    noteEnd(control)
  }

  private func executeSeldom(_ control: TransactionControl) throws {
    guard let engine else { return try prepared(control).runAsControl() }
    if !connection.hasTransaction, connection.engineEffects.remove(.losesDetail) != nil {
      cache.removeAll { $0.engine?.effects.contains(.losesDetail) == true }
    }
    try connection.reporting {
      try engine.execute(
        control, isScopes: connection.isScoped && !hasBegun, until: connection.deadlines.next)
    }
  }

  private func prepared(_ control: TransactionControl) throws -> PreparedStatement {
    if connection.hasNewAttachments { dropBeginnings() }
    if let statement = transactionStatements[control] { return statement }
    let statement = try connection.prepare(control)
    transactionStatements[control] = statement
    return statement
  }

  /// Drops the compiled BEGINs. They name the databases to lock, and SQLite doesn't recompile them when
  /// another one is attached.
  private func dropBeginnings() {
    for control in [TransactionControl.beginDeferred, .beginImmediate, .beginExclusive] {
      transactionStatements[control] = nil
    }
    connection.hasNewAttachments = false
  }

  /// Compiles the statements that end a scope, before it begins: afterwards a limit, or a lack of
  /// memory, could keep it from ending.
  @inline(__always)
  func prepareToEnd() throws {
    if _slowPath(!transactionStatements.canEndScopes) { try prepareEnds() }
  }

  @inline(never)
  private func prepareEnds() throws {
    guard engine == nil else { return }
    for control in [TransactionControl.commit, .rollback, .release, .rollbackTo] {
      _ = try prepared(control)
    }
    transactionStatements.canEndScopes = true
  }

  /// Begins a transaction. Throws if one is open already, or a lock can't be had in time; and
  /// `ResultCode.misuse` if the open one is a scope's.
  public func begin(_ kind: TransactionKind = .immediate) throws {
    try executeUnlessScopes(kind.control)
  }

  private func executeUnlessScopes(_ control: TransactionControl) throws {
    guard !connection.restrictions.contains(.transactionControl) else {
      throw connection.named(DatabaseError(.misuse, Restrictions.scopesTransaction))
    }
    try execute(control)
  }

  /// Commits the transaction. If that throws, as for a deferred foreign key or a lock, the
  /// transaction is mostly still open: ask ``isInTransaction``, then try again or roll back. Throws
  /// `ResultCode.misuse` if it is a scope's.
  public func commit() throws { try executeUnlessScopes(.commit) }

  /// Rolls the transaction back. Throws if none is open, and `ResultCode.misuse` if it is a scope's.
  public func rollback() throws { try executeUnlessScopes(.rollback) }

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
  /// transaction is rolled back and the error thrown, as is an error of the closure. Inside of a
  /// transaction this is a savepoint (and the kind is ignored). See also ``setRollbackOnly()``.
  @discardableResult
  public func inTransaction<T>(
    _ kind: TransactionKind, _ body: (Database) throws -> T
  ) throws -> T {
    try connection.check()
    if isInTransaction { return try inSavepoint(body) }
    try checkHasNotEnded()
    try prepareToEnd()
    try begin(kind)
    return try runScope(body, isOutermost: true) {
      try execute(.commit)
    } undo: {
      try execute(.rollback)
    }
  }

  /// Throws in a scope whose transaction has ended, when none is open. A savepoint would be a transaction of
  /// its own, and its changes would stay although the scope fails.
  private func checkHasNotEnded() throws {
    guard connection.restrictions.contains(.autocommit) else { return }
    throw connection.named(DatabaseError(.abort, Restrictions.endedTransaction))
  }

  /// Runs a closure in a transaction that takes the lock for writing at once
  /// (``TransactionKind/immediate``). Throws as ``inTransaction(_:_:)`` does.
  @discardableResult
  public func inTransaction<T>(_ body: (Database) throws -> T) throws -> T {
    try inTransaction(.immediate, body)
  }

  /// Runs a closure in a savepoint, keeps its changes when it returns, and undoes them when it
  /// throws. Outside of a transaction the savepoint is a deferred transaction of its own. Throws as
  /// ``inTransaction(_:_:)`` does.
  ///
  /// See [Savepoints](https://www.sqlite.org/lang_savepoint.html).
  @discardableResult
  public func inSavepoint<T>(_ body: (Database) throws -> T) throws -> T {
    try connection.check()
    let isOutermost = !hasTransaction
    if isOutermost { try checkHasNotEnded() }
    try prepareToEnd()
    try execute(.savepoint)
    return try runScope(body, isOutermost: isOutermost) {
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
    _ body: (Database) throws -> T, isOutermost: Bool, end: () throws -> Void,
    undo: () throws -> Void
  ) throws -> T {
    let outerFlag = isRollbackOnly
    let outerRestrictions = connection.restrictions
    isRollbackOnly = false
    connection.restrictions.formUnion(.transaction)
    defer {
      isRollbackOnly = outerFlag
      connection.restrictions = outerRestrictions
      // Something may be left of a savepoint that was released by hand, or made under the scope's own name.
      if isOutermost { ensureUndone { try execute(.rollback) } }
    }
    do {
      let result = try body(self)
      try connection.check()
      guard hasTransaction else {
        throw DatabaseError(.abort, Restrictions.endedTransaction)
      }
      try isRollbackOnly ? undo() : end()
      guard !isOutermost || !hasTransaction else {
        throw DatabaseError(.misuse, "the scope began or released savepoints in the wrong order")
      }
      return result
    } catch {
      // After some errors SQLite has rolled back by itself. An error of the rollback goes to the
      // log: the caller needs to know why there had to be one.
      ensureUndone(isInner: !isOutermost, undo)
      if isOutermost { connection.forgetLostTransaction() }
      throw connection.named(error)
    }
  }

  /// Undoes a transaction or savepoint, if SQLite hasn't. If that fails, everything is rolled back
  /// before the connection is used again. Otherwise changes of other calls, or of those that go on
  /// after the error, would get into a transaction that nobody knows to be open.
  ///
  /// When memory is short, even a rollback can fail if its statement has to be recompiled, as after
  /// `PRAGMA foreign_keys`.
  func ensureUndone(isInner: Bool = false, _ undo: () throws -> Void) {
    guard hasTransaction else { return }
    do {
      try undo()
    } catch {
      if hasTransaction { connection.oweRollback(isInner: isInner) }
    }
  }

  /// Begins a savepoint. Throws `ResultCode.misuse` for a name that contains NUL, or is `larder scope`,
  /// which scopes use for theirs.
  public func savepoint(_ name: String) throws {
    try namingWrites { try executeUpdate("SAVEPOINT \(identifier: name)") }
  }

  /// Ends the innermost savepoint of a name, and keeps its changes. Throws if there is none. If ending it
  /// commits, also throws as ``commit()`` does.
  public func release(_ name: String) throws {
    try namingWrites { try executeUpdate("RELEASE \(identifier: name)") }
  }

  /// Undoes all changes since the innermost savepoint of a name, which stays open. Throws if there is none.
  public func rollback(to name: String) throws {
    try executeUpdate("ROLLBACK TO \(identifier: name)")
  }
}
