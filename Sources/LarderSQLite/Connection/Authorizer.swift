import CSQLite

/// What statements may do, whoever wrote them: a last line of defence, asked when they are
/// compiled. See [Authorizers](https://www.sqlite.org/c3ref/set_authorizer.html).
public enum Authorizer: Hashable, Sendable {
  /// Reading only: no writing, no schema changes, no ATTACH, no PRAGMA that sets something.
  case readOnly
  /// Reading and writing rows: no schema changes, no ATTACH, no PRAGMA that sets something.
  case dataOnly
  /// Reading and writing the rows of these tables and views only (names in any case), and nothing
  /// else. The tables that a view or a trigger of theirs uses need not be listed.
  case tables([String])
}

/// Applies a preset. SQLite keeps an unretained pointer to this object: the connection keeps the
/// object as long as the handle.
final class AuthorizerHandler {
  private(set) var preset: Authorizer?
  private var tables: Set<String> = []

  func set(_ preset: Authorizer?, on handle: OpaquePointer) {
    self.preset = preset
    tables = []
    if case .tables(let names) = preset { tables = Set(names.map { $0.lowercased() }) }
    guard preset != nil else {
      sqlite3_set_authorizer(handle, nil, nil)
      return
    }
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, _, trigger in
        guard let context else { return SQLITE_DENY }
        let handler = Unmanaged<AuthorizerHandler>.fromOpaque(context).takeUnretainedValue()
        let first = first.map { String(cString: $0) }
        return handler.allows(
          action, first, hasSecond: second != nil, isIndirect: trigger != nil)
          ? SQLITE_OK : SQLITE_DENY
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// `isIndirect`: asked for by a view or a trigger, which are allowed already.
  private func allows(
    _ action: Int32, _ first: String?, hasSecond: Bool, isIndirect: Bool
  ) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_FUNCTION, SQLITE_RECURSIVE, SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
      return true
    case SQLITE_READ:
      return isIndirect || isListed(first)
    case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
      return preset != .readOnly && (isIndirect || isListed(first))
    case SQLITE_PRAGMA:
      if case .tables = preset { return false }
      return !hasSecond || Self.pragmasWithAnArgument.contains(first?.lowercased() ?? "")
    default:
      return false
    }
  }

  private func isListed(_ table: String?) -> Bool {
    guard case .tables = preset else { return true }
    return table.map { tables.contains($0.lowercased()) } ?? false
  }

  /// Those whose argument says what to report rather than what to set.
  private static let pragmasWithAnArgument: Set<String> = [
    "table_info", "table_xinfo", "table_list", "index_info", "index_xinfo", "index_list",
    "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check",
  ]
}
