import LarderBackup
import Foundation
import LarderMacros
import LarderPostgres
import Synchronization

/// What only a server has: the move to it, tokens, positions.
struct ServerChecks {
  let store: Store
  let scratch: Scratch
  let checks: Checks

  func all() async {
    await checks.part("move from SQLite", move)
    await checks.part("tokens and positions", positions)
    await checks.part("a conflict in a batch", conflict)
    await checks.part("connections cut", cut)
    await checks.part("what a server hasn't", refused)
  }

  func move() async throws -> String {
    let path = scratch.folder + "/before.db"
    let file = try Store.open(path, Watch())
    let old = Desk(access: file.access)
    for number in 1...20 {
      _ = try await old.open(
        "m-\(number)", subject: "移动 \(number)", tags: ["moved"],
        details: Details(channel: "chat", labels: ["ü", "\u{1F642}"]))
      try await old.comment("m-\(number)", "ann", "text \(number)")
    }
    let before = try await old.list(.open, limit: 100)
    try await file.access.close()
    let target = try scratch.address("moved")
    let counts = try await Move.run(from: path, to: target)
    let new = try Store.open(target, Watch())
    let desk = Desk(access: new.access)
    let after = try await desk.list(.open, limit: 100)
    checks.expect(
      before.map(\.0) == after.map(\.0) && before.map(\.1) == after.map(\.1)
        && before.map(\.2) == after.map(\.2),
      "rows differ: \(before.first.map { "\($0)" } ?? "") and \(after.first.map { "\($0)" } ?? "")")
    checks.expect(try await desk.search("移").count == 20, "search")
    _ = try await desk.open("m-next", subject: "the next key")
    try await new.access.close()
    return counts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }

  func positions() async throws -> String {
    guard let pool = store.access as? PostgresPool else { return "not a server" }
    let (id, position) = try await pool.inTransactionWithPosition { db in
      try Tag(id: nil, name: "position").inserted(db).id
    }
    let text = "\(position)"
    checks.expect(CommitPosition(text) == position, text)
    let found = try await pool.read(notBefore: position) { db in try Tag.find(db, id).name }
    checks.expect(found == "position", found)
    checks.expect(CommitPosition("nonsense") == nil, "nonsense is a position")
    return "read back at \(text)"
  }

  /// A batch that meets another transaction's change runs again with all of its transaction.
  func conflict() async throws -> String {
    let access = store.access
    let runs = try Self.upsertBesideAnother(access)
    checks.expect(runs == 2, "\(runs) runs")
    return "\(runs) runs"
  }

  private static func upsertBesideAnother(_ access: any DatabaseAccess) throws -> Int {
    _ = try access.inTransaction { db in try Tag(id: nil, name: "batch-a").inserted(db) }
    var runs = 0
    let other = Mutex(false)
    try access.inTransaction { db in
      _ = try Tag.all.fetchCount(db)
      runs += 1
      if runs == 1 {
        let thread = Thread {
          _ = try? access.inTransaction { db in
            _ = try Tag(id: nil, name: "batch-b").inserted(db)
            try Tag.filter { $0.name == "batch-a" }.update(db) { $0.name = "batch-a" }
          }
          other.withLock { $0 = true }
        }
        thread.start()
        while !other.withLock({ $0 }) { usleep(1_000) }
      }
      try Tag.upsert(
        db, contentsOf: ["batch-x", "batch-a"].map { Tag(id: nil, name: $0) },
        onConflict: Tag.columns.name)
    }
    return runs
  }

  /// Tickets are opened while the server ends all connections now and then: what was acknowledged is
  /// there once, with its job, and what threw isn't.
  func cut() async throws -> String {
    let access = store.access
    let notebook = Notebook()
    let desk = Desk(access: access)
    let ends = ContinuousClock.now + .seconds(1)
    let results = try await withThrowingTaskGroup(of: [String: Bool].self) { group in
      for task in 0..<4 {
        group.addTask {
          var results: [String: Bool] = [:]
          while ContinuousClock.now < ends {
            let name = "cut-\(task)-\(results.count)"
            do {
              _ = try await desk.open(name, subject: name, tags: ["cut"])
              results[name] = true
            } catch {
              notebook.write("error", "\(error)", [:])
              results[name] = false
            }
          }
          return results
        }
      }
      let killer = try Store.open(store.address, Watch(), migrating: false)
      while ContinuousClock.now < ends {
        try await Task.sleep(for: .milliseconds(150))
        // Those of these checks only: others may use the server.
        _ = try await killer.access.read { db in
          try db.value(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()
            """, as: Int.self)
        }
      }
      try await killer.access.close()
      return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
    }
    let there = Set(
      try await access.read { db in
        try Ticket.filter { $0.reference.hasPrefix("cut-") }.select { $0.reference }.fetchAll(db)
      })
    checks.expect(there == Set(results.filter(\.value).keys), "acknowledged isn't what is there")
    let failed = results.count { !$0.value }
    // Those that were hit ran again.
    checks.expect(failed == 0, "\(failed) failed: \(Set(notebook.lines.map { $0.prefix(200) }))")
    return "\(there.count) opened, none failed"
  }

  /// What has no counterpart says so.
  func refused() async throws -> String {
    let access = store.access
    let folder = scratch.folder
    await checks.expectError("copies", { $0 is UnsupportedByEngine }) {
      try access.backup(every: .seconds(1), to: folder + "/none")
    }
    await checks.expectError("a feed", { $0 is UnsupportedByEngine }) {
      for try await _ in access.changes(of: Ticket.self) {}
    }
    await checks.expectError("a pragma", { $0 is UnsupportedByEngine || $0 is DatabaseError }) {
      try await access.read { db in try FileChecks.problems(db) }
    }
    return "by UnsupportedByEngine"
  }
}
