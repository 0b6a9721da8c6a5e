import CSQLite

/// The region that a statement reads and writes, as SQLite's authorizer was asked for it at compilation:
/// tables and columns, including those used by triggers, views and foreign key actions.
///
/// See [Compile-Time Authorization Callbacks](https://www.sqlite.org/c3ref/set_authorizer.html).
final class StatementRegion {
  var reads = Region()
  var writes = Region()
  /// The statement's effect on a savepoint, if it has one.
  var savepoint: SavepointStep?
  /// The ids of the rows, if the statement finds rows by these only.
  var rows: Set<Int64>?

  enum SavepointStep {
    /// Names in lower case: SQLite ignores their case.
    case begin(String), release(String), rollBack(String)
  }
}

/// The actions that SQLite has asked the authorizer for, since they were last taken.
final class AuthorizedActions {
  struct Action {
    let code: Int32
    let first: String?
    let second: String?
    /// The database; nil if SQLite doesn't tell, as for a table of which no column is read.
    let database: String?
    let isInner: Bool
  }

  var actions: [Action] = []
  var isEmpty: Bool { actions.isEmpty }

  func note(
    _ code: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
    _ database: UnsafePointer<CChar>?, isInner: Bool
  ) {
    actions.append(
      Action(
        code: code, first: first.map { String(cString: $0).folded },
        second: second.map { String(cString: $0).folded },
        database: database.map { String(cString: $0).folded }, isInner: isInner))
  }
}
