import CSQLite

// ATTACH: which databases a connection has, and locks in all of them.

extension Database {
  /// Runs a closure, and detaches the databases that it has attached: neither a rollback nor the end
  /// of a scope does. Outside of transactions only. Throws where one is still in use after a closure
  /// that has not thrown. See [DETACH](https://www.sqlite.org/lang_detach.html).
  ///
  /// Not by statements of this connection's: when a task is cancelled, every one throws until its
  /// scope has ended, and what was attached would stay for all who come after.
  package func detachingAfterwards<T>(_ body: () throws -> T) throws -> T {
    if engine != nil { return try body() }
    let handle = try connection.sqlite()
    let before = attachedNames(handle)
    do {
      let result = try body()
      try detach(except: before)
      return result
    } catch {
      try? detach(except: before)
      throw error
    }
  }

  /// Nil where an authorizer keeps it from being asked.
  private func attachedNames(_ handle: OpaquePointer) -> Set<String>? {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    let sql = "SELECT name FROM pragma_database_list WHERE seq > 1"
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
    var names: Set<String> = []
    while sqlite3_step(statement) == SQLITE_ROW {
      if let name = sqlite3_column_text(statement, 0) { names.insert(String(cString: name)) }
    }
    return names
  }

  private func detach(except kept: Set<String>?) throws {
    guard let kept, let handle = connection.handle, let names = attachedNames(handle) else {
      return
    }
    for name in names.subtracting(kept) {
      let sql = "DETACH \(name.quotedIdentifier)"
      let code = sqlite3_exec(handle, sql, nil, nil, nil)
      guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
    }
  }
}
