import CSQLite

// Making the errors of a connection, and telling the log and the trace.

extension Connection {
  /// Makes the error for a result code, with SQLite's message for the last call, and tells the log.
  ///
  /// - Parameter advice: Larder's addition to the message. Called once the message is read, because the
  ///   calls that it makes replace that message.
  package func error(
    _ code: Int32, sql: String? = nil, statement: OpaquePointer? = nil,
    advice: () -> String? = { nil }
  ) -> DatabaseError {
    var extended = ResultCode(rawValue: code)
    var message: String
    var offset: Int?
    if extended == .busy, let reason = busyHandler.takeInterruption() {
      extended = .interrupt
      message = reason
    } else if extended == .constraintCommitHook, let refusal = hooks.takeRefusal() {
      message = refusal
    } else if let failure = hooks.tokenizers?.takeFailure(code) {
      (extended, message) = failure
    } else if let handle, sqlite3_errcode(handle) & 0xff == code & 0xff {
      message =
        deadlines.message(for: extended)
        ?? hidingArguments(of: statement, in: String(cString: sqlite3_errmsg(handle)))
      offset = sql == nil ? nil : Int(larder_error_offset(handle))
    } else {
      message = String(cString: sqlite3_errstr(code))
    }
    // SQLite carries RESTRICT out by a trigger, whose code the error has.
    if extended == .constraintTrigger, message == "FOREIGN KEY constraint failed" {
      extended = .constraintForeignKey
    }
    if extended == .ioErrorFsync || extended == .ioErrorDirectoryFsync { onSyncFailure?() }
    let constraint = ConstraintViolation(code: extended, message: message) { table, column in
      guard let handle else { return false }
      return sqlite3_table_column_metadata(handle, nil, table, column, nil, nil, nil, nil, nil)
        == SQLITE_OK
    }
    // The file isn't corrupt: SQLite has refused to call an unsafe function.
    if extended == .corrupt, HarmlessFunctions.unsafeFunction(in: message) != nil {
      extended = .error
    }
    if extended == .constraintForeignKey, let sql, let keys = foreignKeys(changedBy: sql) {
      message += ": \(keys)"
    }
    if let advice = advice() { message += "; \(advice)" }
    var error = DatabaseError(
      extended, message, sql: sql, offset: offset.flatMap { $0 < 0 ? nil : $0 },
      constraint: constraint,
      expandedSQL: reporting.showsArguments ? Self.expandedSQL(of: statement) : nil,
      engine: "SQLite")
    report(&error)
    return error
  }

  /// Adds the name of this connection's engine to an error that names none yet.
  func named(_ error: any Error) -> any Error {
    DatabaseError.naming(engine?.name ?? "SQLite", in: error)
  }

  /// The absolute path of the database's file, or what another engine has in its place.
  var path: String? { handle.flatMap { FileLocation.path(of: $0) } ?? place }

  /// Notes where an error has happened, and tells the log. Errors that the log itself causes on this
  /// connection meanwhile aren't reported.
  private func report(_ error: inout DatabaseError) {
    if error.path == nil { error.path = path }
    if error.label == nil { error.label = currentLabel?() }
    guard let log = reporting.log, !isReporting, !error.isReported else { return }
    error.isReported = true
    let told = reporting.masksLiterals ? error.maskingLiterals : error
    whileReporting { log.report(told) }
  }

  /// Calls a closure, and tells the log of an error that it throws.
  func reporting<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch var error as DatabaseError {
      report(&error)
      throw error
    }
  }

  /// Tells the trace. Statements that the trace itself runs on this connection meanwhile aren't reported.
  func report(_ event: TraceEvent) {
    guard let trace = reporting.trace, !isReporting else { return }
    var event = event
    (event.path, event.label) = (path, currentLabel?())
    if reporting.masksLiterals {
      event.sql = event.sql.withoutLiterals
      event.expandedSQL = nil
    }
    whileReporting { trace(event) }
  }

  private func whileReporting(_ body: () -> Void) {
    (isReporting, callDepth) = (true, callDepth + 1)
    body()
    (isReporting, callDepth) = (false, callDepth - 1)
  }
}

// SQLite doesn't tell which foreign key has failed, so the error lists those that the statement can break.

extension Connection {
  /// The foreign keys that a statement can break by its own changes of rows, in words; nil if none is found.
  /// Only the schema is read. Triggers and cascades may have broken others.
  func foreignKeys(changedBy sql: String) -> String? {
    guard let change = RowStatement(sql) else { return nil }
    let found = untracked {
      (change.writesRows ? keys(of: change) : []) + (change.removesRows ? keys(to: change) : [])
    }
    let names = found.prefix(5).map(\.description).reduce(into: [String]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    guard !names.isEmpty else { return nil }
    let list = names.joined(separator: ", ") + (found.count > 5 ? ", …" : "")
    return names.count == 1 ? "the foreign key is \(list)" : "the foreign keys are \(list)"
  }

  /// The foreign keys that the changed table has in columns that get values.
  private func keys(of change: RowStatement) -> [NamedForeignKey] {
    let rows = OwnStatement(
      """
      SELECT ?1, id, "from", "table", "from" FROM pragma_foreign_key_list(?1, ?2)
      ORDER BY id DESC, seq
      """, [change.table, change.schema ?? "main"], on: handle)
    return keys(in: rows, change)
  }

  /// The foreign keys that refer to columns of the changed table that lose values.
  private func keys(to change: RowStatement) -> [NamedForeignKey] {
    let schema = change.schema ?? "main"
    let rows = OwnStatement(
      """
      SELECT s.name, k.id, k."from", k."table",
        coalesce(k."to", (SELECT name FROM pragma_table_info(?1, ?2) WHERE pk = k.seq + 1))
      FROM \(schema.quotedIdentifier).sqlite_schema AS s, pragma_foreign_key_list(s.name, ?2) AS k
      WHERE s.type = 'table' AND k."table" = ?1 COLLATE NOCASE ORDER BY s.rowid, k.id DESC, k.seq
      """, [change.table, schema], on: handle)
    return keys(in: rows, change)
  }

  /// Reads rows of a table, the number of its key, a column, the referenced table, and the column that changes.
  private func keys(in rows: OwnStatement, _ change: RowStatement) -> [NamedForeignKey] {
    var keys: [NamedForeignKey] = []
    while rows.next() {
      let (table, number) = (rows.text(0), rows.integer(1))
      if keys.last?.table != table || keys.last?.number != number {
        keys.append(NamedForeignKey(table: table, number: number, referencedTable: rows.text(3)))
      }
      keys[keys.count - 1].columns.append(rows.text(2))
      if change.changes(rows.text(4)) { keys[keys.count - 1].isChanged = true }
    }
    return keys.filter(\.isChanged)
  }
}

/// A foreign key for a message.
private struct NamedForeignKey: CustomStringConvertible {
  let table: String
  let number: Int
  let referencedTable: String
  var columns: [String] = []
  /// Whether the statement changes one of the columns.
  var isChanged = false

  var description: String {
    "“\(table)” (\(columns.joined(separator: ", "))) to “\(referencedTable)”"
  }
}
