import CFaultInjection
import Larder

/// The closure of one scope.
struct ScopeBody: Sendable {
  let stage: Stage
  let name: ScopeName
  let step: Schedule.Step
  let identity: Identity

  /// How many bytes never fit.
  private static let tooLarge = 2_000_000
  private static let forever: SQL =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

  /// Acts in a scope that has the writer.
  func write(_ db: Database) throws {
    let isPlain = step.form == .plain
    try check(db, isInTransaction: !isPlain)
    if step.form == .exclusive, stage.letsOthersRead == true {
      report("others read beside a transaction that is exclusive")
    }
    let seen = try entries(db)
    stage.ledger.withLock {
      $0.visits.append(ScheduleLedger.Visit(name: name, seen: seen, written: durability_written()))
    }
    guard isPlain else { return try act(db, seen) }
    if case .fill(byHand: true) = step.action { return try fillByHand(db) }
    if case .leaveBehind = step.action {
      try db.executeStatements("PRAGMA foreign_keys = OFF; PRAGMA cache_size = 1000")
    }
    try db.inTransaction { try act($0, seen) }
  }

  /// Reads in a scope for that: both tables agree, and what was acknowledged is there.
  func read(_ db: Database) throws -> ScheduleLedger.Reading {
    try check(db, isInTransaction: nil)
    let entries = try entries(db)
    let own = try db.value(
      "SELECT count(*) FROM entry WHERE caller = ?", name.caller, as: Int.self)
    let total = try db.value("SELECT entries FROM total", as: Int.self)
    let again = try self.entries(db)
    if total != entries || again != entries {
      report("reads \(entries), then \(total ?? -1), then \(again)")
    }
    return ScheduleLedger.Reading(entries: entries, own: own ?? -1)
  }

  private func report(_ problem: String) { stage.report("\(name): \(problem)") }

  /// Whether this is the caller's own thread or task, and the connection as a fresh scope has it.
  private func check(_ db: Database, isInTransaction: Bool?) throws {
    if let difference = identity.difference { report("the closure \(difference)") }
    if let isInTransaction, db.isInTransaction != isInTransaction {
      report("isInTransaction is \(db.isInTransaction)")
    }
    if db.hasOpenStatements { report("statements are open") }
    let configuration = stage.configuration
    if db.busyTimeout != configuration.busyTimeout { report("finds another busy timeout") }
    if db.statementDeadline != nil { report("finds a deadline") }
    if db.authorizer != nil { report("finds an authorizer") }
    if db.statementCacheCapacity != configuration.statementCacheCapacity {
      report("finds another capacity of the cache")
    }
    if try db.value("PRAGMA foreign_keys", as: Bool.self) != true {
      report("finds foreign keys not enforced")
    }
    let cacheSize = try db.value("PRAGMA cache_size", as: Int.self) ?? 0
    if cacheSize != -configuration.cacheSize / 1024 { report("finds a cache of \(cacheSize)") }
  }

  private func entries(_ db: Database) throws -> Int {
    try db.value("SELECT count(*) FROM entry", as: Int.self) ?? -1
  }

  private func note(_ db: Database, part: Int = 0) throws {
    try db.executeUpdate(
      "INSERT INTO entry (caller, step, part, tenant) VALUES (?, ?, ?, ?)", name.caller, name.step,
      part, Tenant.current)
    try db.executeUpdate("UPDATE total SET entries = entries + 1")
  }

  // MARK: Actions

  private func act(_ db: Database, _ seen: Int) throws {
    try note(db)
    switch step.action {
    case .throwError: throw Outcome.Doubt()
    case .rollBackOnly: db.setRollbackOnly()
    case .insertOrRollback(let hides):
      try hidden(hides) {
        try db.executeUpdate("INSERT OR ROLLBACK INTO name VALUES ('everybody')")
      }
      try hidden(hides) { try note(db, part: 1) }
    case .claim(let name): try db.executeUpdate("INSERT INTO name VALUES (?)", "name \(name)")
    case .fill: try db.executeUpdate("INSERT INTO scrap VALUES (zeroblob(?))", Self.tooLarge)
    case .exceedDeadline(let writes, let hides): try exceedDeadline(db, writes, hides)
    case .violateForeignKey(let mends):
      try db.executeUpdate("INSERT INTO child VALUES (77)")
      if mends { try db.executeUpdate("DELETE FROM child WHERE parent = 77") }
    case .savepoints(let ends):
      for (index, end) in ends.enumerated() { try savepoint(db, end, part: index + 1) }
    case .nestedRead: try readBeside(seen)
    case .leaveBehind: try leaveBehind(db)
    case .succeed, .read, .checkpoint: break
    }
  }

  private func hidden(_ hides: Bool, _ body: () throws -> Void) throws {
    do { try body() } catch { if !hides { throw error } }
  }

  private func exceedDeadline(_ db: Database, _ writes: Bool, _ hides: Bool) throws {
    db.statementDeadline = .milliseconds(1)
    try hidden(hides) {
      if writes {
        try db.executeUpdate(
          """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
          INSERT INTO scrap SELECT i FROM n WHERE i % 1000 = 0
          """)
      } else {
        _ = try db.value(Self.forever, as: Int.self)
      }
      report("a statement without end ended")
    }
  }

  /// One with an inner one that is rolled back, and whose rows are of no other number.
  private func savepoint(_ db: Database, _ end: Action.SavepointEnd, part: Int) throws {
    do {
      try db.inSavepoint { db in
        try note(db, part: part)
        try db.inSavepoint { db in
          try note(db, part: -part)
          db.setRollbackOnly()
        }
        if end == .thrown { throw Outcome.Doubt() }
        if end == .rolledBack { db.setRollbackOnly() }
      }
    } catch is Outcome.Doubt {}
  }

  /// A pool reads what was committed before this transaction; a queue, which has one connection, says
  /// at once that this would wait for itself.
  private func readBeside(_ seen: Int) throws {
    do {
      let entries = try stage.readSynchronously { try self.entries($0) }
      if !stage.schedule.isPool { report("reads a queue from inside of its own scope") }
      if entries != seen {
        report("reads \(entries) beside its own transaction, which saw \(seen)")
      }
    } catch let error as DatabaseError {
      let isExpected =
        step.cancelsAfter != nil || (error.code == .misuse && !stage.schedule.isPool)
        || (error.extendedCode == .failedSync && durability_has_failed() != 0)
      if !isExpected { report("a read beside its own transaction throws \(error)") }
    }
  }

  private func leaveBehind(_ db: Database) throws {
    db.busyTimeout = .seconds(7)
    db.statementDeadline = .seconds(50)
    db.statementCacheCapacity = 5
    db.authorizer = .dataOnly
    let rows = try db.executeQuery("SELECT caller FROM entry")
    _ = try rows.next()
    stage.keep(rows)
  }

  /// Sets the limit to what there is, and puts it back.
  private func fillByHand(_ db: Database) throws {
    try PageLimit(pages: 1).set(db)
    defer { try? PageLimit.everybody.set(db) }
    try db.inTransaction { db in
      try note(db)
      try db.executeUpdate("INSERT INTO scrap VALUES (zeroblob(?))", Self.tooLarge / 4)
    }
  }
}
