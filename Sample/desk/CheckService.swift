import Foundation
import LarderMacros

/// What the service does for its clients, on a database of any kind.
struct ServiceChecks {
  let store: Store
  let checks: Checks
  var access: any DatabaseAccess { store.access }
  var desk: Desk { Desk(access: store.access) }

  func all() async {
    await checks.part("tickets", tickets)
    await checks.part("wrong input", wrongInput)
    await checks.part("search", search)
    await checks.part("jobs", jobs)
    await checks.part("live", live)
    await checks.part("load", load)
  }

  func tickets() async throws -> String {
    var ticket = try await desk.open(
      "A-1", subject: "Printer on fire", body: "It smokes.", priority: .urgent,
      tags: ["hardware", "fire"], details: Details(channel: "mail", labels: ["hot"]))
    try await desk.comment("A-1", "ann", "Have you tried water?")
    checks.expect(try await desk.find("A-1") == ticket, "comes back as it was stored")
    ticket = try await desk.move(ticket, to: .pending)
    checks.expect(ticket.version == 2, "version \(ticket.version)")
    let listed = try await desk.list(.pending, limit: 5)
    checks.expect(listed.map { $0.2.map(\.name) } == [["fire", "hardware"]], "\(listed)")
    checks.expect(listed.first?.1.map(\.author) == ["ann"], "\(listed)")
    checks.expect(try await desk.from(channel: "mail") == ["A-1"], "JSON")
    checks.expect(try await desk.report().map(\.2) == [1, 1], "report")
    let differences = try await access.inDatabase { db in
      try tables.flatMap { try self.differences($0, db) } + Ticket.words.differences(db)
    }
    checks.expect(differences.isEmpty, "\(differences)")
    return "opened, moved, listed; schema as declared"
  }

  private func differences<R: Record>(_ type: R.Type, _ db: Database) throws -> [TableDifference] {
    try R.table.differences(db)
  }

  func wrongInput() async throws -> String {
    let old = try await desk.find("A-1")
    await checks.expectError("the same reference", { $0 as? DeskError == .isThere("A-1") }) {
      try await desk.open("A-1", subject: "again")
    }
    await checks.expectError("no subject", { $0 as? DeskError == .empty("subject") }) {
      try await desk.open("A-2", subject: "")
    }
    await checks.expectError("no ticket", { $0 as? DeskError == .noTicket("nobody") }) {
      try await desk.comment("nobody", "ann", "hello")
    }
    _ = try await desk.move(old, to: .open)
    await checks.expectError("stale", { if case RecordError.stale = $0 { true } else { false } }) {
      try await desk.move(old, to: .closed)
    }
    await checks.expectError(
      "no such row", { ($0 as? DatabaseError)?.constraint?.kind == .foreignKey }
    ) {
      try await access.inTransaction { db in
        _ = try Comment(id: nil, ticket: 999_999, author: "x", text: "y", created: Date()).inserted(
          db)
      }
    }
    await checks.expectError("a write in a read", { $0 is DatabaseError }) {
      try await access.read { db in try Tag(id: nil, name: "x").inserted(db) }
    }
    // A state that a newer program has written.
    await checks.expectError(
      "unknown case", { if case RecordError.conversion = $0 { true } else { false } }
    ) {
      try await access.inTransaction { db in
        try db.executeUpdate("UPDATE ticket SET state = 'escalated' WHERE reference = 'A-1'")
        return try Ticket.filter { $0.reference == "A-1" }.fetchAll(db)
      }
    }
    for text in ["", "\"", "NEAR(", "a OR", "*", "' --", "%"] {
      _ = try await desk.search(text)
    }
    // What failed left nothing.
    checks.expect(try await desk.find("A-1").state == .open, "rolled back")
    checks.expect(await Serve.answer("open", desk).hasPrefix("error"), "protocol")
    return "refused, by the right errors"
  }

  func search() async throws -> String {
    _ = try await desk.open("S-1", subject: "Zürich office: no network")
    _ = try await desk.open("S-2", subject: "南山区的打印机坏了", body: "请尽快修理")
    try await desk.comment("S-1", "bo", "The switch in the cellar is wet")
    checks.expect(try await desk.search("zuri").map(\.reference) == ["S-1"], "prefix, accents")
    checks.expect(try await desk.search("cellar").map(\.reference) == ["S-1"], "comments")
    for part in ["打印机", "山", "修理"] {
      checks.expect(try await desk.search(part).map(\.reference) == ["S-2"], part)
    }
    let marked = try await desk.search("打印机").map(\.snippet)
    let plain = try await desk.search("network").map(\.snippet)
    checks.expect(plain == ["Zürich office: no [network]"], "\(plain)")
    checks.expect(marked == ["南山区的[打印机]坏了"], "\(marked)")
    return "found; \(marked)"
  }

  func jobs() async throws -> String {
    _ = try await desk.open("J-1", subject: "flaky", work: .flaky(ticket: 1, until: 3))
    _ = try await desk.open("J-2", subject: "poison", work: .poison)
    let access = access
    let done = try await Workers.drain(access, workers: 4)
    let states = try await access.read { db in
      try Job.all.group { $0.state }.order { $0.state }.select {
        ($0.state, count(), $0.attempts.max())
      }
      .fetchAll(db)
    }
    checks.expect(states.map(\.0) == [.done, .failed] && states[1].1 == 1, "\(states)")
    checks.expect(states[0].2 == 3 && states[1].2 == Jobs.maximumAttempts, "attempts \(states)")
    let deliveries = try await access.read { db in try Delivery.all.fetchCount(db) }
    checks.expect(deliveries == done && done == states[0].1, "\(deliveries) of \(done)")
    return "\(done) done, one given up after \(Jobs.maximumAttempts)"
  }

  func live() async throws -> String {
    let access = access
    // What is open now, and not what is first seen: that may be a ticket later.
    let before = try await access.read(Live.counts).open
    let following = Task {
      try await Live.follow(access, Live.counts) { counts in
        if counts.open >= before + 3 { throw CancellationError() }
      }
    }
    let auditing = Task { try await Live.audit(access) }
    for number in 1...3 {
      try await Task.sleep(for: .milliseconds(150))
      _ = try await desk.open("L-\(number)", subject: "live \(number)")
    }
    let clock = ContinuousClock.now
    _ = await following.result
    let late = (ContinuousClock.now - clock) / .milliseconds(1)
    checks.expect(late < 1_000, "the last value came \(late) ms late")
    for _ in 0..<100 where try await access.read({ db in try !Live.missing(db).isEmpty }) {
      try await Task.sleep(for: .milliseconds(50))
    }
    auditing.cancel()
    _ = await auditing.result
    let rows = try await access.read { db in
      try Audit.all.group { $0.source }.order { $0.source }.select { ($0.source, count()) }
        .fetchAll(db)
    }
    let missing = try await Live.catchUp(access)
    checks.expect(missing == 0, "\(missing) versions aren't in the log")
    if !store.isServer { checks.expect(rows.first?.1 == 3, "\(rows)") }
    return "audit \(rows)"
  }

  /// Many tasks and threads at once; nothing is lost and nothing is there twice.
  func load() async throws -> String {
    let tasks = 8, each = 15
    let (desk, access) = (desk, access)
    let before = access.statistics
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in 0..<each {
            let reference = "load-\(task)-\(number)"
            _ = try await desk.open(
              reference, subject: "load \(number)", tags: ["load", "t\(task)"])
            try await desk.comment(reference, "robot", "comment \(number)")
            // Everybody fights for one row.
            try await access.inTransaction { db in
              try Ticket.filter { $0.reference == "A-1" }.update(db) { $0.priority = .low }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let version = try await desk.find("A-1").version
    checks.expect(version == 3 + tasks * each, "version \(version): an update is lost")
    let done = try await Workers.drain(access, workers: 4)
    let (tickets, comments, deliveries, jobs) = try await access.read { db in
      (
        try Ticket.filter { $0.reference.hasPrefix("load-") }.fetchCount(db),
        try Comment.filter { $0.author == "robot" }.fetchCount(db),
        try Delivery.all.fetchCount(db), try Job.filter { $0.state == .done }.fetchCount(db)
      )
    }
    checks.expect(
      tickets == tasks * each && comments == tickets, "\(tickets) tickets, \(comments) comments")
    checks.expect(deliveries == jobs, "\(deliveries) deliveries of \(jobs) jobs")
    let now = access.statistics
    return "\(tickets) tickets, \(done) jobs, \(now.transactions - before.transactions) scopes, "
      + "\(now.syncs - before.syncs) syncs, \(now.retries - before.retries) retries"
  }
}

enum Workers {
  /// Works until nothing is left; returns how many jobs were done.
  static func drain(_ access: any DatabaseAccess, workers: Int) async throws -> Int {
    let ending = Ending()
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<workers {
        group.addTask { try await Jobs.work(access, as: "drain/\(number)") { ending.isSet } }
      }
      group.addTask {
        while try await Jobs.left(access) > 0 { try await Task.sleep(for: .milliseconds(20)) }
        ending.set()
        return 0
      }
      return try await group.reduce(0, +)
    }
  }
}
