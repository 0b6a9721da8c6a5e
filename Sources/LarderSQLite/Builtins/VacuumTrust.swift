import CSQLite

// VACUUM of databases whose schema uses functions that SQLite doesn't mark as harmless. VACUUM
// prefers SQLite's own functions to all others, and so doesn't find those of ``HarmlessFunctions``.

extension PreparedStatement {
  /// Runs a VACUUM again, with a trusted schema, that has failed because the schema uses harmless
  /// functions. False if it failed for another reason. Throws if the schema also uses others that
  /// SQLite doesn't know to be harmless: a trusted schema would allow these, too.
  func vacuumsTrusting(after error: DatabaseError) throws -> Bool {
    let isNamed = HarmlessFunctions.unsafeFunction(in: error.message) != nil
    // VACUUM INTO says only that a file is malformed, which may be true of the database itself.
    guard isNamed || error.code == .corrupt,
      sql.sqlTokens.first(where: { !$0.isSymbol(";") })?.isWord("vacuum") == true,
      let database = connection.handle,
      larder_db_config_value(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA) == 0
    else { return false }
    func refusal(_ name: String) -> DatabaseError {
      DatabaseError(.error, "unsafe use of \(name)(): \(Connection.adviceToTrust)", sql: sql)
    }
    let unmarked: [Connection.UnmarkedFunction]
    do {
      unmarked = try connection.unmarkedFunctionsOfSchema()
    } catch let error as DatabaseError {
      guard let name = HarmlessFunctions.unsafeFunction(in: error.message) else { return false }
      throw refusal(name)
    }
    if unmarked.isEmpty { return false }
    if let other = unmarked.first(where: { !$0.isHarmless }) { throw refusal(other.name) }
    reset()
    larder_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
    defer {
      larder_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
      connection.forgetSchema()
    }
    _ = try step()
    return true
  }
}

extension Connection {
  fileprivate struct UnmarkedFunction {
    let name: String
    /// Whether it is one of SQLite's own that is harmless all the same.
    let isHarmless: Bool
  }

  /// The functions without SQLite's mark that tables and indexes might use. VACUUM runs no views
  /// and triggers.
  fileprivate func unmarkedFunctionsOfSchema() throws -> [UnmarkedFunction] {
    try authorizer.whilePaused {
      var called: Set<[UInt8]> = []
      for row in try rows("SELECT name FROM pragma_database_list") {
        let sql = """
          SELECT sql FROM \((row[0] ?? "").quotedIdentifier).sqlite_master
          WHERE type IN ('table', 'index') AND sql IS NOT NULL
          """
        for entry in try rows(sql) { called.formUnion(Self.calls(in: entry[0] ?? "")) }
      }
      // SQLite masks the flags: SQLITE_INNOCUOUS is 0x200000.
      let unmarked = "SELECT name, builtin FROM pragma_function_list WHERE flags & 0x200000 = 0"
      return try rows(unmarked).compactMap { row in
        guard let name = row[0], called.contains(name.foldedName) else { return nil }
        return UnmarkedFunction(
          name: name, isHarmless: row[1] == "1" && HarmlessFunctions.contains(name))
      }
    }
  }

  /// The folded names of all that a text may call: names before a parenthesis, and operators that
  /// are functions.
  private static func calls(in sql: String) -> Set<[UInt8]> {
    var called: Set<[UInt8]> = []
    let tokens = sql.sqlTokens
    for (index, token) in tokens.enumerated() {
      guard let name = token.name?.foldedName else { continue }
      if operators.contains(name) || index + 1 < tokens.count && tokens[index + 1].isSymbol("(") {
        called.insert(name)
      }
    }
    // The arrows are operators without a word.
    if sql.utf8.firstRange(of: "->".utf8) != nil {
      called.formUnion(["->", "->>"].map(\.foldedName))
    }
    return called
  }

  private static let operators = Set(["like", "glob", "regexp", "match"].map(\.foldedName))

  private func rows(_ sql: String) throws -> [[String?]] {
    let (code, handle, _) = try compileFirst(of: SQLText(sql))
    let statement = OwnStatement(handle, code)
    var rows: [[String?]] = []
    while statement.next() { rows.append((0..<statement.columnCount).map { statement[$0] }) }
    guard statement.code == SQLITE_DONE else { throw error(statement.code) }
    return rows
  }
}
