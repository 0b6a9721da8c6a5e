import CSQLite

/// A cache of what a connection knows of its schema, until that changes: the tables that were read, and the
/// findings about their declarations.
///
/// A change is noticed by SQLite's [cookie](https://www.sqlite.org/pragma.html#pragma_schema_version), which
/// is read only when something may have happened: before a statement runs for the first time, after SQLite
/// has recompiled one, and once in a transaction that writes. In between, a statement remembers the
/// ``Connection/schemaMark`` under which its tables were checked, and compares one number.
///
/// The unowned reference is sound: the connection owns this object, and nobody else has it.
final class KnownSchema {
  /// Set by the connection when it is made.
  unowned(unsafe) var connection: Connection?

  /// Whether this connection has run something that may change the schema, since the mark was new.
  private(set) var hasChangedIt = true
  /// Whether the open transaction has run something like that: its rollback would be another change.
  private var changesInTransaction = false
  /// Whether nobody else can change the schema, not even between transactions.
  private var isAlone = false
  /// The cookies of the database and of the attached ones.
  private var cookies: [Int] = []
  private var tables: [[UInt8]: FoundTable?] = [:]
  fileprivate var findings: [Int: AnyObject] = [:]
  /// The statement that reads the cookie.
  private var cookieStatement: OpaquePointer?
  private var keepsSnapshot = false
  /// The checks of tables that are postponed until something is written; nil if checks aren't postponed.
  private var postponed: [() throws -> Void]?

  init() {}

  /// Turns the checks off, for another engine than SQLite.
  func ignoreAll() {
    hasChangedIt = false
    isAlone = true
    if let connection { connection.schemaWriteMark = connection.schemaMark }
  }

  // MARK: Changes

  /// Notes that this connection is about to run something which may change the schema.
  func mayChange() {
    hasChangedIt = true
    changesInTransaction = true
    connection?.schemaWriteMark = 0
  }

  /// Notes that a transaction has ended, or a part of it was undone.
  @inline(__always)
  func noteEnd(undone: Bool) {
    if undone || !isAlone || changesInTransaction { noteEndOfChanges(undone) }
  }

  private func noteEndOfChanges(_ isUndone: Bool) {
    if isUndone, changesInTransaction { hasChangedIt = true }
    if !isUndone { changesInTransaction = false }
    if !isAlone || hasChangedIt { connection?.schemaWriteMark = 0 }
  }

  /// Calls a closure that reads tables, after checking whether the schema is still the same. The closure sees
  /// one snapshot, also outside of a transaction, where each of its reads would begin one by itself.
  func whileLooking<T>(_ connection: Connection, _ body: () throws -> T) throws -> T {
    keepsSnapshot = true
    defer {
      keepsSnapshot = false
      if connection.isOpen, connection.isOfThisProcess { sqlite3_reset(cookieStatement) }
    }
    try refresh(connection)
    return try body()
  }

  /// Checks whether the schema is still the known one, as the open transaction sees it, if there is one.
  func refresh(_ connection: Connection) throws {
    // Inside of a call to SQLite the change may not have happened yet.
    if hasChangedIt {
      if connection.callDepth == 0 { hasChangedIt = false }
      cookies = try connection.lookingIntoSchema { try readCookies($0) }
      return forget()
    }
    guard connection.schemaWriteMark == 0 else { return }
    let found = try connection.lookingIntoSchema { try readCookies($0) }
    if found != cookies {
      cookies = found
      forget()
    }
  }

  private func forget() {
    connection?.schemaMark += 1 << 32
    connection?.schemaWriteMark = 0
    tables = [:]
    findings = [:]
  }

  /// Checks the schema before something is written. Once a transaction has begun to read, others can't
  /// change its schema until its end.
  func refreshToWrite(_ connection: Connection) throws {
    try refresh(connection)
    isAlone = connection.isAlone
    if isAlone || connection.hasTransaction {
      connection.schemaWriteMark = hasChangedIt ? 0 : connection.schemaMark
    }
  }

  private func readCookies(_ look: SchemaLook) throws -> [Int] {
    if cookieStatement == nil {
      let sql = "PRAGMA main.schema_version"
      let code = sqlite3_prepare_v3(
        look.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &cookieStatement, nil)
      guard code == SQLITE_OK else { throw LookFailure(code: code, sql: sql) }
    }
    // The statement keeps its snapshot as long as it stands on its row.
    defer { if !keepsSnapshot { sqlite3_reset(cookieStatement) } }
    sqlite3_reset(cookieStatement)
    let code = sqlite3_step(cookieStatement)
    guard code == SQLITE_ROW else {
      throw LookFailure(code: code, sql: "PRAGMA main.schema_version")
    }
    var cookies = [Int(sqlite3_column_int64(cookieStatement, 0))]
    guard larder_has_attached(look.handle) != 0 else { return cookies }
    for name in try look.attachedDatabases() {
      cookies += try look.rows("PRAGMA \(name.quotedIdentifier).schema_version") { $0.integer(0) }
    }
    return cookies
  }

  /// Finalizes the statement, before the connection is closed.
  func close() {
    sqlite3_finalize(cookieStatement)
    cookieStatement = nil
  }

  // MARK: Postponed checks

  /// Whether checks are postponed.
  var isPostponing: Bool { postponed != nil }

  /// Postpones checks of tables from now on.
  func postpone() { postponed = [] }

  /// Postpones a check, if checks are postponed; false otherwise.
  func postpone(_ look: @escaping () throws -> Void) -> Bool {
    postponed?.append(look)
    return postponed != nil
  }

  /// Runs the postponed checks; false if there were none.
  func catchUp() throws -> Bool {
    let looks = postponed.take() ?? []
    for look in looks { try look() }
    return !looks.isEmpty
  }

  // MARK: Known tables

  fileprivate func table(
    _ name: String, _ read: () throws -> FoundTable?
  ) rethrows -> FoundTable? {
    let key = name.foldedName
    if let known = tables[key] { return known }
    let found = try read()
    tables[key] = .some(found)
    return found
  }
}

/// Reads a connection's schema while a table is checked.
@usableFromInline
package struct SchemaReader {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Whether the engine is SQLite, whose schema can be read.
  package var isSQLite: Bool { connection.engine == nil }

  /// How dates are stored.
  package var dateFormat: DateFormat { connection.dateFormat }

  /// The table of a name; nil if there is none, or SQLite can't read its columns. Throws ``DatabaseError`` if
  /// reading was interrupted, or memory or the file fails.
  package func table(_ name: String) throws -> FoundTable? {
    try connection.knownSchema.table(name) {
      try look(orElse: nil) { try FoundTable(name, on: $0) }
    }
  }

  /// The columns of each unique index of a table. A column has the collation that compares it, if that isn't
  /// its own one.
  package func uniqueKeys(of table: FoundTable) throws -> [[(column: Int, collation: String?)]] {
    try look(orElse: []) { look in
      try look.uniqueKeys(of: table.name).map { key in
        key.map { part in
          let own = look.collation(of: table.columns[part.column].name, in: table.name)
          return (part.column, part.collation.foldedName == own.foldedName ? nil : part.collation)
        }
      }
    }
  }

  /// Whether a column's text is compared byte by byte.
  package func isBinary(_ column: Int, of table: FoundTable) throws -> Bool {
    try look(orElse: true) {
      $0.collation(of: table.columns[column].name, in: table.name).uppercased() == "BINARY"
    }
  }

  /// Whether a table is a virtual one, whose module stores and compares values as it likes.
  package func isVirtual(_ table: FoundTable) throws -> Bool {
    try look(orElse: true) { try $0.isVirtual(table.name) }
  }

  /// The findings about a declaration by its number, until the schema changes.
  package subscript(finding number: Int) -> AnyObject? {
    get { connection.knownSchema.findings[number] }
    nonmutating set { connection.knownSchema.findings[number] = newValue }
  }

  /// - Parameter unknown: the result if SQLite can't compile a statement on the schema, as for a broken view:
  ///   the statement that uses the view says so better.
  private func look<T>(
    orElse unknown: T, _ body: (SchemaLook) throws -> T
  ) throws -> T {
    do {
      return try connection.lookingIntoSchema(body)
    } catch let error as DatabaseError where error.code == .error || error.code == .tooBig {
      return unknown
    }
  }
}

extension Connection {
  /// Runs the library's own statements on the schema, regardless of the authorizer and of the limit on SQL's
  /// length.
  func lookingIntoSchema<T>(_ body: (SchemaLook) throws -> T) throws -> T {
    let handle = try sqlite()
    let length = sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1_000_000)
    defer { sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, length) }
    do {
      return try untracked { try body(SchemaLook(handle: handle)) }
    } catch let failure as LookFailure {
      throw error(failure.code, sql: failure.sql)
    }
  }
}
