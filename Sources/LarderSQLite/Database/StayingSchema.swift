import CSQLite

// Writes to declared tables while nobody else can change them.

extension Database {
  /// Calls a closure that writes to declared tables while no other connection can change these. Otherwise a
  /// table could become another one between its check and the statement.
  @inline(__always)
  package func whileSchemaStays<T>(_ body: () throws -> T) throws -> T {
    if connection.schemaWriteMark != 0 { return try body() }
    return try onceSchemaStays(body)
  }

  @inline(never)
  private func onceSchemaStays<T>(_ body: () throws -> T) throws -> T {
    try connection.check()
    if connection.knownSchema.isPostponing { return try body() }
    guard connection.isAlone || isReadOnly || connection.hasBegunToRead else {
      return try writingFirst(body)
    }
    try connection.knownSchema.refreshToWrite(connection)
    return try body()
  }

  /// Calls the closure when no transaction has begun to read. If the schema were read first, taking the write
  /// lock would fail after another connection's commit. So the closure writes first, and the tables are
  /// checked before anything is committed; if that finds anything new, all is undone and done again.
  private func writingFirst<T>(_ body: () throws -> T) throws -> T {
    let schema = connection.knownSchema
    for _ in 0..<100 {
      do {
        return try inSavepoint { _ in
          let mark = connection.schemaMark
          schema.postpone()
          let result = Result { try body() }
          do {
            try schema.refreshToWrite(connection)
            // The closure relied on what was known before: a change makes its outcome void.
            guard try !schema.catchUp(), connection.schemaMark == mark else {
              throw ChangedSchema()
            }
          } catch let error as DatabaseError {
            // The closure's own error tells more.
            _ = try result.get()
            throw error
          }
          return try result.get()
        }
      } catch is ChangedSchema {
        guard connection.hasTransaction else { continue }
        try schema.refreshToWrite(connection)
        return try body()
      }
    }
    throw DatabaseError(.schema, "the schema keeps changing: every attempt found another one")
  }

  private struct ChangedSchema: Error {}
}

extension Connection {
  /// Whether a transaction has a snapshot of the database, or has written to it.
  fileprivate var hasBegunToRead: Bool {
    handle.map { sqlite3_txn_state($0, "main") != SQLITE_TXN_NONE } ?? false
  }
}
