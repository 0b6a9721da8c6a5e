import CSQLite

// ATTACH: the databases that a connection has attached, and detaching them.

extension Database {
  /// Runs a closure, then detaches the databases that it attached: neither a rollback nor the end of
  /// a scope does. Outside of transactions only. If one is still in use, throws, unless the closure
  /// has thrown. See [DETACH](https://www.sqlite.org/lang_detach.html).
  ///
  /// SQLite is called directly: after a task is cancelled, this connection's statements throw until
  /// its scope has ended, and the attached databases would stay for every later scope.
  package func detachingAfterwards<T>(_ body: () throws -> T) throws -> T {
    if engine != nil { return try body() }
    _ = try connection.sqlite()
    let before = attachedNames()
    do {
      let result = try body()
      try detach(except: before)
      return result
    } catch {
      try? detach(except: before)
      throw error
    }
  }

  /// The names of the attached databases; nil if an authorizer forbids the query.
  private func attachedNames() -> Set<String>? {
    let sql = "SELECT name FROM pragma_database_list WHERE seq > 1"
    let statement = OwnStatement(sql, on: connection.handle)
    guard statement.code == SQLITE_OK else { return nil }
    var names: Set<String> = []
    while statement.next() { names.insert(statement.text(0)) }
    return names
  }

  private func detach(except kept: Set<String>?) throws {
    guard let kept, let handle = connection.handle, let names = attachedNames() else { return }
    for name in names.subtracting(kept) {
      let sql = "DETACH \(name.quotedIdentifier)"
      let code = sqlite3_exec(handle, sql, nil, nil, nil)
      guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
    }
  }
}
