import Foundation
import LarderBackup
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("The log of errors and slow scopes", .promptly)
struct ErrorLogTests {
  private let folder: ScratchFolder
  private let errors = Recorder<DatabaseError>()

  init() throws { folder = try ScratchFolder() }

  private func open(
    isPool: Bool, configure: (inout Configuration) -> Void = { _ in }
  ) throws -> any DatabaseAccess {
    var configuration = Configuration()
    configuration.log = { [errors] in errors.add($0) }
    configure(&configuration)
    let path = folder.file("cities.db")
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { try createCities(in: $0) }
    return access
  }

  @Test(
    "Each error that a scope throws is logged once, with the file's path and the scope's label",
    arguments: [false, true])
  func once(isPool: Bool) async throws {
    let access = try open(isPool: isPool)
    let bodies: [@Sendable (Database) throws -> Void] = [
      { try $0.executeUpdate("UPDATE city SET name = 'Oslo'") },
      { _ in throw DatabaseError(code: .range, message: "the year 0") },
      { db in
        // An error that the outer scope throws again.
        do { try db.executeUpdate("DELETE FROM river") } catch { throw error }
      },
      { _ = try $0.value("SELECT name FROM city", as: Int.self) },
    ]
    let codes: [ResultCode] = [.constraint, .range, .error, .mismatch]
    for (body, code) in zip(bodies, codes) {
      for isRead in [false, true] where !isRead || code != .constraint {
        errors.removeAll()
        #expect(throws: (any Error).self) {
          try isRead
            ? access.read(label: "a read", body) : access.inTransaction(label: "a write", body)
        }
        await #expect(throws: (any Error).self) {
          isRead
            ? try await access.read(label: "a task's read", body)
            : try await access.inTransaction(label: "a task's write", body)
        }
        let labels = isRead ? ["a read", "a task's read"] : ["a write", "a task's write"]
        #expect(errors.elements.map(\.label) == labels, "\(errors.elements)")
        #expect(errors.elements.allSatisfy { $0.code == code && $0.repeats == 0 })
        #expect(errors.elements.allSatisfy { $0.path == folder.file("cities.db") })
      }
    }
    #expect(access.statistics.failures == 14)
  }

  @Test("An error that the program throws of its own, or a cancellation, is not logged")
  func othersErrors() async throws {
    let access = try open(isPool: true)
    #expect(throws: TookTooLong.self) { try access.inTransaction { _ in throw TookTooLong() } }
    #expect(throws: CancellationError.self) { try access.read { _ in throw CancellationError() } }
    #expect(errors.elements.isEmpty && access.statistics.failures == 0)
  }

  @Test("Where an error has happened makes no difference to whether it equals another")
  func equality() throws {
    let access = try open(isPool: false)
    let thrown = #expect(throws: DatabaseError.self) {
      try access.inDatabase(label: "here") { try $0.executeUpdate("DELETE FROM river") }
    }
    let other = #expect(throws: DatabaseError.self) {
      try access.inDatabase(label: "there") { try $0.executeUpdate("DELETE FROM river") }
    }
    #expect(thrown == other && thrown?.label == "here" && other?.label == "there")
    #expect(thrown.hashValue == other.hashValue)
  }

  @Test("Of equal errors the log gets the first at once, and later one with their number")
  func repeats() throws {
    let log = ErrorLog(window: .milliseconds(30)) { [errors] in errors.add($0) }
    for number in 0..<1_000 {
      log.report(DatabaseError(.full, "disk full after \(number) pages", sql: "INSERT"))
      if number % 100 == 0 { log.report(DatabaseError(.full, "disk full", sql: "DELETE")) }
    }
    #expect(errors.elements.count >= 2)
    // Each of them is told, at once or by a number.
    try waitUntil { errors.elements.reduce(0) { $0 + max(1, $1.repeats) } == 1_010 }
    #expect(errors.elements.count < 100)
  }

  @Test("Errors of more kinds than are kept apart are all told")
  func manyKinds() {
    let log = ErrorLog { [errors] in errors.add($0) }
    for number in 0..<3_000 {
      let name = String(repeating: "x", count: number % 3_000)
      log.report(DatabaseError(.error, "no such table: \(name)"))
    }
    #expect(errors.elements.count == 3_000)
  }

  @Test("With `masksLiterals`, neither the log nor the trace gets a literal of the SQL")
  func masking() throws {
    let events = Recorder<TraceEvent>()
    let access = try open(isPool: false) { configuration in
      configuration.masksLiterals = true
      configuration.trace = { events.add($0) }
    }
    events.removeAll()
    let statements = [
      "UPDATE city SET name = 'secret' || 42 /* secret */ WHERE id = 0x2a",
      "UPDATE \"city\" SET name = x'5EC2E7' WHERE name LIKE 'sec''ret%' AND id = 1.5e3",
      "SELECT 'secret', * FROM river WHERE secret_42 = 'a'",
      "SELECT 'secret",
      "SELECT CAST('secret' AS TEXT) FROM city WHERE name MATCH 'secret'",
    ]
    for sql in statements { try? access.inDatabase { try $0.executeStatements(SQL(raw: sql)) } }
    let texts = events.elements.map(\.sql) + errors.elements.flatMap { [$0.sql ?? "", $0.message] }
    #expect(!errors.elements.isEmpty && events.elements.count >= 2)
    for text in texts {
      for secret in ["secret ", "'secret", "42 ", "5EC2E7", "2a", "e3"] {
        #expect(!text.contains(secret) || text.contains("secret_42"), "\(text)")
      }
    }
    #expect(texts.contains("UPDATE city SET name = ? || ?   WHERE id = ?"), "\(texts)")
    #expect(
      #"$1 = $$a 'b$$ || $q$x$q$ || E'\'s' || n'ü' || b"#.withoutLiterals
        == "$1 = ? || ? || ? || ? || b")
  }

  @Test("A trace event has the file's path and the scope's label", arguments: [false, true])
  func trace(isPool: Bool) throws {
    let events = Recorder<TraceEvent>()
    let access = try open(isPool: isPool) { $0.trace = { events.add($0) } }
    events.removeAll()
    try access.read(label: "report") { _ = try $0.value("SELECT count(*) FROM city", as: Int.self) }
    try access.inTransaction(label: "import") { try $0.executeUpdate("DELETE FROM city") }
    // A reader that is being opened serves no scope yet.
    #expect(Set(events.elements.compactMap(\.label)) == ["report", "import"])
    #expect(events.elements.allSatisfy { $0.path == folder.file("cities.db") })
  }

  @Test("A continuous backup's own statements and checks are in no trace")
  func backup() throws {
    let events = Recorder<TraceEvent>()
    let access = try open(isPool: true) { $0.trace = { events.add($0) } }
    events.removeAll()
    let backup = try access.backup(every: .seconds(600), to: folder.file("copies"))
    _ = try onThisThread { try backup.backup() }
    // (A pool's reader that was opened meanwhile reads the file's encoding.)
    #expect(!events.elements.contains { $0.path?.contains("/copies/") == true })
    #expect(
      !events.elements.contains { $0.sql.contains("_check") || $0.sql.contains("data_version") })
    #expect(access.statistics.copies.isEmpty)
  }

  @Test(
    "A slow scope is one line: where its time went, and who was ahead of it",
    arguments: [false, true])
  func slowScope(isTask: Bool) async throws {
    let access = try open(isPool: true) { $0.slowScopeThreshold = .milliseconds(300) }
    #expect(errors.elements.isEmpty)
    let letGo = DispatchSemaphore(value: 0)
    let holder = Caller {
      try access.inTransaction(label: "nightly import") { _ in try letGo.waitOrThrow() }
    }
    try await yieldUntil { access.statistics.writer != nil }
    let body: @Sendable (Database) throws -> Void = { db in
      try db.executeUpdate("UPDATE city SET name = name || '!'")
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
    }
    let caller =
      isTask
      ? Caller(task: { try await access.inTransaction(label: "signup", body) })
      : Caller { try access.inTransaction(label: "signup", body) }
    try await yieldUntil { access.statistics.waiting == 1 }
    let start = ContinuousClock.now
    try await yieldUntil { ContinuousClock.now - start > .milliseconds(310) }
    letGo.signal()
    try await holder.end()
    try await caller.end()
    let lines = errors.elements.filter { $0.label == "signup" }
    #expect(lines.count == 1 && lines.first?.code == .warning, "\(errors.elements)")
    let text = lines.first?.message ?? ""
    #expect(text.hasPrefix("the scope “signup” (line "), "\(text)")
    #expect(text.contains(" ms waiting behind “nightly import” (line "), "\(text)")
    #expect(text.contains(" in its closure (2 statements), "), "\(text)")
    // A fast one isn't told of.
    errors.removeAll()
    try await access.read { _ in }
    #expect(errors.elements.isEmpty)
  }
}
