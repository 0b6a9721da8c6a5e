import CSQLite

/// A preset of what statements may do, whoever wrote them: defense in depth, applied while they are
/// compiled. See [Authorizers](https://www.sqlite.org/c3ref/set_authorizer.html).
///
/// No preset allows functions that reach out of the database (`load_extension`, `fts3_tokenizer`,
/// `readfile` and the like), nor reading the texts of the connection's other statements, or the
/// file's raw pages.
public enum Authorizer: Hashable, Sendable {
  /// Reading only: no writing, no schema changes, no ATTACH, no PRAGMA that sets something.
  case readOnly
  /// Reading and writing rows: no schema changes, no ATTACH, no PRAGMA that sets something. SQLite's
  /// own tables, such as `sqlite_sequence` and `sqlite_stat1`, can only be read.
  case dataOnly
  /// Reading and writing the rows of these tables and views only (names in any case), and nothing
  /// else. Tables used through a view or a trigger have to be listed too.
  case tables([String])
}

/// Applies a preset, and records what statements read and write while anyone observes that. SQLite keeps
/// an unretained pointer to this object: the connection keeps the object as long as the handle.
package final class AuthorizerHandler {
  private(set) var preset: Authorizer?
  /// The actions that SQLite has asked about; nil while nobody observes them.
  private(set) var actions: AuthorizedActions?
  private var isPaused = false
  private var tables: Set<[UInt8]> = []

  func set(_ preset: Authorizer?, on handle: OpaquePointer) {
    self.preset = preset
    tables = []
    if case .tables(let names) = preset { tables = Set(names.map(\.foldedName)) }
    install(on: handle)
  }

  /// Starts recording what statements read and write, as they are compiled. SQLite recompiles statements
  /// that are prepared already before they run again.
  func collectActions(on handle: OpaquePointer) {
    actions = actions ?? AuthorizedActions()
    install(on: handle)
  }

  /// Makes SQLite recompile every statement before it runs again.
  package func compileAnew(on handle: OpaquePointer) {
    guard preset == nil, actions == nil else { return install(on: handle) }
    sqlite3_set_authorizer(handle, { _, _, _, _, _, _ in SQLITE_OK }, nil)
    install(on: handle)
  }

  func stopCollecting(on handle: OpaquePointer) {
    actions = nil
    // Removing the authorizer makes SQLite recompile nothing.
    if preset == nil { install(on: handle) }
  }

  /// Allows everything and records nothing while a closure runs the library's own statements.
  package func whilePaused<T>(_ body: () throws -> T) rethrows -> T {
    let outer = isPaused
    isPaused = true
    defer { isPaused = outer }
    return try body()
  }

  private func install(on handle: OpaquePointer) {
    guard preset != nil || actions != nil else {
      sqlite3_set_authorizer(handle, nil, nil)
      return
    }
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, database, inner in
        guard let context else { return SQLITE_DENY }
        let handler = Unmanaged<AuthorizerHandler>.fromOpaque(context).takeUnretainedValue()
        if handler.isPaused { return SQLITE_OK }
        handler.actions?.note(action, first, second, database, isInner: inner != nil)
        guard handler.preset != nil else { return SQLITE_OK }
        let name = (action == SQLITE_FUNCTION ? second : first).map { String(cString: $0) }
        return handler.allows(action, name, hasSecond: second != nil) ? SQLITE_OK : SQLITE_DENY
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  // SQLite also names the view or trigger through which something is used. That is no reason to allow
  // more: a common table expression is named in the same way, and anybody can write one.
  private func allows(_ action: Int32, _ first: String?, hasSecond: Bool) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_RECURSIVE, SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
      return true
    case SQLITE_FUNCTION:
      return first.map { !Self.functionsThatReachOut.contains($0.lowercased()) } ?? false
    case SQLITE_READ:
      return isListed(first)
        && first.map { !Self.tablesOfTheConnection.contains($0.lowercased()) } ?? false
    case SQLITE_UPDATE where first == "sqlite_master" && !isLimitedToTables:
      // SQLite asks for this when it declares a PRAGMA's table to itself. It refuses a statement that
      // would really write here, because the schema isn't writable.
      return true
    case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
      return preset != .readOnly && isListed(first) && !(preset == .dataOnly && isSQLites(first))
    case SQLITE_PRAGMA:
      if isLimitedToTables { return false }
      let name = first?.lowercased() ?? ""
      return hasSecond
        ? Pragma.reporting.contains(name) : !Pragma.acting.contains(name)
    default:
      return false
    }
  }

  /// Whether a blob of a table may be opened. SQLite doesn't call the authorizer for blobs.
  func allowsBlob(of table: String, isWritable: Bool) -> Bool {
    guard preset != nil else { return true }
    return allows(SQLITE_READ, table, hasSecond: true)
      && (!isWritable || allows(SQLITE_UPDATE, table, hasSecond: true))
  }

  private var isLimitedToTables: Bool {
    if case .tables = preset { true } else { false }
  }

  /// Whether a table is one of SQLite's own.
  private func isSQLites(_ table: String?) -> Bool {
    table.map { $0.foldedName.starts(with: "sqlite_".utf8) } ?? false
  }

  private func isListed(_ table: String?) -> Bool {
    guard isLimitedToTables else { return true }
    // Bound rows are values of the statement itself.
    return table.map { tables.contains($0.foldedName) || $0 == BoundRows.table } ?? false
  }

  /// Functions of SQLite or its usual extensions that do more than compute with values of the
  /// database.
  private static let functionsThatReachOut: Set<String> = [
    "load_extension", "fts3_tokenizer", "rtreecheck", "readfile", "writefile", "edit", "lsmode",
    "sqlite_log", "usleep",
  ]

  /// Virtual tables that show more than the database's rows: statements, their bytecode, raw pages.
  private static let tablesOfTheConnection: Set<String> = [
    "sqlite_stmt", "bytecode", "tables_used", "sqlite_dbpage", "sqlite_memstat", "fsdir",
  ]
}
