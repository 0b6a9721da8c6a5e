import CSQLite

/// What statements may do, whoever wrote them: a last line of defence, asked when they are
/// compiled. See [Authorizers](https://www.sqlite.org/c3ref/set_authorizer.html).
public enum Authorizer: Hashable, Sendable {
  /// Reading only: no writing, no schema changes, no ATTACH, no PRAGMA that sets something.
  case readOnly
  /// Reading and writing rows: no schema changes, no ATTACH, no PRAGMA that sets something.
  case dataOnly
  /// Reading and writing the rows of these tables and views only (names in any case), and nothing
  /// else. What is used through a view or a trigger has to be listed too.
  case tables([String])
}

/// Applies a preset. SQLite keeps an unretained pointer to this object: the connection keeps the
/// object as long as the handle.
final class AuthorizerHandler {
  private(set) var preset: Authorizer?
  private var tables: Set<[UInt8]> = []

  func set(_ preset: Authorizer?, on handle: OpaquePointer) {
    self.preset = preset
    tables = []
    if case .tables(let names) = preset { tables = Set(names.map(\.foldedName)) }
    guard preset != nil else {
      sqlite3_set_authorizer(handle, nil, nil)
      return
    }
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, _, _ in
        guard let context else { return SQLITE_DENY }
        let handler = Unmanaged<AuthorizerHandler>.fromOpaque(context).takeUnretainedValue()
        let first = first.map { String(cString: $0) }
        return handler.allows(action, first, hasSecond: second != nil) ? SQLITE_OK : SQLITE_DENY
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  // SQLite also tells through which view or trigger something is used. It is no reason to allow
  // more: a common table expression is named in the same way, and anybody can write one.
  private func allows(_ action: Int32, _ first: String?, hasSecond: Bool) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_FUNCTION, SQLITE_RECURSIVE, SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
      return true
    case SQLITE_READ:
      return isListed(first)
    case SQLITE_UPDATE where first == "sqlite_master" && preset == .readOnly:
      // SQLite asks for this while it declares the table of a PRAGMA to itself. A statement that
      // would really do it is refused by SQLite, for the schema isn't writable.
      return true
    case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
      return preset != .readOnly && isListed(first)
    case SQLITE_PRAGMA:
      if case .tables = preset { return false }
      let name = first?.lowercased() ?? ""
      return hasSecond
        ? Pragma.reporting.contains(name) : !Pragma.acting.contains(name)
    default:
      return false
    }
  }

  private func isListed(_ table: String?) -> Bool {
    guard case .tables = preset else { return true }
    return table.map { tables.contains($0.foldedName) } ?? false
  }
}
