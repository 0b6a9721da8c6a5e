import CSQLite

// Writing to declared tables while nobody else can change them.

extension Database {
  /// Calls a closure that writes to declared tables while no other connection can change these: between a look at a
  /// table and the statement it could become another one.
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

  /// Calls the closure where no transaction has begun to read. To read the schema first would be to fail, once the
  /// lock to write is had, for what others have committed meanwhile. So the closure writes first, and the tables are
  /// looked at before anything is committed; where that finds anything new, all is undone and done again.
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
            // What was done, or refused, was by what was known before.
            guard try !schema.catchUp(), connection.schemaMark == mark else {
              throw ChangedSchema()
            }
          } catch let error as DatabaseError {
            // The first one tells more.
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
    throw DatabaseError(.schema, "the schema changes again and again")
  }

  private struct ChangedSchema: Error {}
}

extension Connection {
  /// Whether a transaction has a snapshot of the database, or has written to it.
  fileprivate var hasBegunToRead: Bool {
    handle.map { sqlite3_txn_state($0, "main") != SQLITE_TXN_NONE } ?? false
  }
}
