import CSQLite

// A connection's modules of virtual tables: the one of rows bound to parameters, and the program's own.

extension Connection: TableEnvironment {
  /// The depth to which closures of virtual tables may call each other by statements: each call takes stack.
  private static let deepestCall = 40

  package func describe(
    _ error: any Error, _ arguments: [DatabaseValue]
  ) -> (code: ResultCode?, message: String) {
    let failure = FunctionFailure(error, arguments: reporting.showsArguments ? [] : arguments)
    return (failure.code, failure.message)
  }

  package func whileReadingTable<T>(_ body: () throws -> T) throws -> T {
    guard callDepth < Self.deepestCall else {
      throw DatabaseError(.error, "virtual tables are nested too deeply in each other's reads")
    }
    return try whileCalling(body)
  }

  /// Declares a virtual table that is being opened to SQLite, regardless of the authorizer and the limit on
  /// columns.
  package func declareTable(_ declaration: String) -> Int32 {
    let limit = sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 2000)
    defer { sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, limit) }
    return authorizer.whilePaused { sqlite3_declare_vtab(handle, declaration) }
  }

  /// Adds the table of rows that are bound to parameters to a connection that was just opened.
  func installBoundRows() throws {
    guard let handle else { return }
    let module = TableModule(self) { _, _, _ in BoundRows.shape }
    let code = module.register(BoundRows.table, TableModule.eponymous, on: handle)
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "out of memory")
    }
  }

  /// Registers a module, in place of one of the program's own with this name. Throws `ResultCode.misuse` for
  /// a name that no table can have, or that is one of SQLite's.
  package func registerTables(
    _ name: String, _ methods: UnsafePointer<sqlite3_module>, open: @escaping TableModule.Open
  ) throws {
    let handle = try sqlite()
    let folded = name.foldedName
    guard !name.isEmpty, !name.utf8.contains(0), name.utf8.count <= 255 else {
      throw DatabaseError(.misuse, "a table's name needs 1 to 255 bytes, and none may be NUL")
    }
    if !hooks.tables.contains(folded), isModule(name) {
      throw DatabaseError(.misuse, "SQLite itself has a module \(name): choose another name")
    }
    // The replaced module is destroyed in this call, which may run any code.
    try whileCalling {
      let code = TableModule(self, open: open).register(name, methods, on: handle)
      guard code == SQLITE_OK else { throw error(code) }
      hooks.tables.insert(folded)
      forgetTables(on: handle)
    }
  }

  /// Removes a module of the program's own; does nothing if there is none.
  func removeTables(_ name: String) throws {
    let handle = try sqlite()
    guard hooks.tables.remove(name.foldedName) != nil else { return }
    try whileCalling {
      let code = sqlite3_create_module_v2(handle, name, nil, nil, nil)
      guard code == SQLITE_OK else { throw error(code) }
      forgetTables(on: handle)
    }
  }

  /// Makes compiled statements look for their tables again, and SQLite release the former ones: it does so
  /// when the next statement is compiled.
  private func forgetTables(on handle: OpaquePointer) {
    authorizer.compileAnew(on: handle)
    _ = OwnStatement("--", on: handle)
  }

  private func isModule(_ name: String) -> Bool {
    let folded = name.lowercased()
    if folded.hasPrefix("sqlite_") || folded.hasPrefix("pragma_") { return true }
    // Newer libraries register some of their modules when a statement first names them.
    _ = untracked { OwnStatement("SELECT 1 FROM \(name.quotedIdentifier)", on: handle) }
    let sql = "SELECT 1 FROM pragma_module_list WHERE name = ?1 COLLATE NOCASE"
    return untracked { OwnStatement(sql, [name], on: handle).next() }
  }
}
