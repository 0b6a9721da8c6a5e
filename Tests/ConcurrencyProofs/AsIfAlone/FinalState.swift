import Larder

/// What the database holds when all callers have ended.
struct FinalState {
  struct Entry: Hashable {
    let scope: ScopeName
    let tenant: String
  }

  /// The rows of the log, in the order in which they were written.
  let entries: [Entry]
  let total: Int
  /// What the integrity checks say, if it isn't that all is well.
  let complaint: String?

  init(_ db: Database) throws {
    entries = try db.executeQuery("SELECT caller, step, tenant FROM entry ORDER BY id").map { row in
      Entry(
        scope: ScopeName(caller: try row.get(at: 0), step: try row.get(at: 1)),
        tenant: try row.get(at: 2))
    }
    total = try db.value("SELECT entries FROM total", as: Int.self) ?? -1
    let integrity = try db.value("PRAGMA integrity_check", as: String.self)
    let orphans = try db.value("SELECT count(*) FROM child", as: Int.self)
    complaint =
      integrity != "ok" ? integrity : orphans != 0 ? "a deferred foreign key is violated" : nil
  }
}
