import CSQLite

/// What a statement reads and writes, as SQLite's authorizer was asked for it when it was compiled: tables
/// and columns, what triggers, views and foreign key actions use included.
///
/// See [Compile-Time Authorization Callbacks](https://www.sqlite.org/c3ref/set_authorizer.html).
final class StatementRegion {
  var reads = Region()
  var writes = Region()
  /// What the statement does with a savepoint, if it is one of these.
  var savepoint: SavepointStep?
  /// The ids of the rows, where the statement finds rows by these only.
  var rows: Set<Int64>?

  enum SavepointStep {
    /// Names in lower case, which SQLite doesn't tell from others.
    case begin(String), release(String), rollBack(String)
  }
}

/// What SQLite has asked the authorizer for since it was last taken.
final class AuthorizedActions {
  struct Action {
    let code: Int32
    let first: String?
    let second: String?
    /// Nil where SQLite doesn't say: a table without its database, of which no column is read.
    let database: String?
    /// Whether a trigger or a view does it.
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
