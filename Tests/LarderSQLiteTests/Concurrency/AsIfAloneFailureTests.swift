import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("As if alone: a scope that fails, waits or takes long affects no other", .promptly)
struct AsIfAloneFailureTests {
  private struct Doubt: Error {}

  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// A way in which a transaction fails.
  enum Failure: CaseIterable, Sendable {
    case error, constraint, orRollback, hiddenRollback, full, deadline, writeDeadline, foreignKey
    case deadlock

    /// The error's code, or nil for an error that the closure itself throws.
    var code: ResultCode? {
      switch self {
      case .error: nil
      case .constraint, .orRollback: .constraintUnique
      case .hiddenRollback: .abort
      case .full: .full
      case .deadline, .writeDeadline: .interrupt
      case .foreignKey: .constraintForeignKey
      case .deadlock: .misuse
      }
    }

    func act(_ db: Database, _ access: any DatabaseAccess) throws {
      try db.executeUpdate("INSERT INTO city (name) VALUES ('Nowhere')")
      switch self {
      case .error: throw Doubt()
      case .constraint: try db.executeUpdate("INSERT INTO city (name) VALUES ('Oslo')")
      case .orRollback:
        try db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
      case .hiddenRollback:
        _ = try? db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
        _ = try? db.executeUpdate("INSERT INTO city (name) VALUES ('Elsewhere')")
      case .full: try db.executeUpdate("INSERT INTO street VALUES (zeroblob(4000000), 2)")
      case .deadline, .writeDeadline:
        db.statementDeadline = .milliseconds(1)
        let numbers: SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        if self == .deadline {
          _ = try db.value("\(numbers) SELECT count(*) FROM n", as: Int.self)
        } else {
          try db.executeUpdate(
            "\(numbers) INSERT INTO street SELECT i, 2 FROM n WHERE i % 100000 = 0")
        }
      case .foreignKey: try db.executeUpdate("INSERT INTO street VALUES ('Nowhere', 77)")
      case .deadlock: try access.inTransaction { _ in }
      }
    }
  }

  private static let cases = Company.all.flatMap { company in
    Failure.allCases.map { (company, $0) }
  }

  private func open(_ company: Company) throws -> any DatabaseAccess {
    let access = try company.open(in: folder) { configuration in
      configuration.prepareDatabase = { db in
        _ = try db.value("PRAGMA max_page_count = 200", as: Int.self)
      }
    }
    try access.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE street (
          name TEXT UNIQUE, city INTEGER REFERENCES city DEFERRABLE INITIALLY DEFERRED)
        """)
    }
    return access
  }

  @Test(
    "Transactions queued before and after one that fails commit and see none of its changes",
    arguments: cases)
  func isolated(company: Company, failure: Failure) async throws {
    let access = try open(company)
    let holder = try Holder(access)
    var callers: [Caller] = []
    let seen = Recorder<Int?>()
    for number in 0..<5 {
      callers.append(
        company.start(access) { db in
          seen.add(try db.cityCount())
          if number == 2 { return try failure.act(db, access) }
          try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "city \(number)")
        })
      try await yieldUntil { access.waitingCount == number + 1 }
    }
    try holder.release()
    for (number, caller) in callers.enumerated() {
      let error = try await caller.failureAtEnd()
      if number == 2 {
        #expect((error as? DatabaseError)?.extendedCode == failure.code)
        #expect(error != nil)
      } else {
        #expect(error == nil, "\(number)")
      }
    }
    #expect(seen.elements == [4, 5, 6, 6, 7])
    let names = try await access.read {
      try $0.texts("SELECT name FROM city WHERE id > 4 ORDER BY id")
    }
    #expect(names == ["city 0", "city 1", "city 3", "city 4"])
    #expect(try await access.read { try $0.value("SELECT count(*) FROM street") } == 0)
  }

  @Test(
    "A transaction returns after its commit although a long one runs after it",
    arguments: Company.all)
  func longTransaction(company: Company) async throws {
    let access = try open(company)
    let holder = try Holder(access)
    let isLong = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let insert: @Sendable (String) -> Caller = { name in
      company.start(access) { try $0.executeUpdate("INSERT INTO city (name) VALUES (?)", name) }
    }
    let first = insert("Bodø")
    try await yieldUntil { access.waitingCount == 1 }
    let second = insert("Tromsø")
    try await yieldUntil { access.waitingCount == 2 }
    let long = company.start(access) { _ in
      isLong.signal()
      try goOn.waitOrThrow()
    }
    try await yieldUntil { access.waitingCount == 3 }
    let last = insert("Narvik")
    try await yieldUntil { access.waitingCount == 4 }
    try holder.release()
    try await yieldUntil { isLong.wait(timeout: .now()) == .success }
    #expect(await first.hasReturned(within: .seconds(20)))
    #expect(await second.hasReturned(within: .seconds(20)))
    #expect(!last.hasReturned)
    goOn.signal()
    for caller in [first, second, long, last] { try await caller.end() }
  }

  @Test("Five queued transactions run five COMMITs and no SAVEPOINT", arguments: Company.all)
  func ownTransactions(company: Company) async throws {
    let statements = Recorder<String>()
    let access = try company.open(in: folder) { $0.trace = { statements.add($0.sql) } }
    let holder = try Holder(access)
    let before = statements.elements.count { $0 == "COMMIT" }
    var callers: [Caller] = []
    for number in 0..<5 {
      callers.append(
        company.start(access) { db in
          try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "city \(number)")
        })
      try await yieldUntil { access.waitingCount == number + 1 }
    }
    try holder.release()
    for caller in callers { try await caller.end() }
    #expect(statements.elements.count { $0 == "COMMIT" } == before + 5)
    #expect(!statements.elements.contains { $0.hasPrefix("SAVEPOINT") })
  }

  @Test(
    "A scope that times out in the queue throws an error that names the scope it waited for",
    arguments: Company.all)
  func timeout(company: Company) async throws {
    let access = try company.open(in: folder) { $0.scopeTimeout = .milliseconds(50) }
    let holds = DispatchSemaphore(value: 0)
    let letGo = DispatchSemaphore(value: 0)
    // A scope's default label is the name of the function that calls it.
    let holder = importCities(access, holds, letGo)
    try await yieldUntil { holds.wait(timeout: .now()) == .success }
    let error = try await company.start(access) { _ in }.failureAtEnd() as? DatabaseError
    #expect(error?.code == .busy)
    #expect(error?.message.contains("importCities") == true, "\(error as Any)")
    letGo.signal()
    try await holder.end()
  }

  private func importCities(
    _ access: any DatabaseAccess, _ holds: DispatchSemaphore, _ letGo: DispatchSemaphore
  ) -> Caller {
    Caller {
      try access.inTransaction { _ in
        holds.signal()
        try letGo.waitOrThrow()
      }
    }
  }

  @Test(
    "An exclusive transaction that is queued behind an immediate one locks out readers",
    arguments: Company.all.filter { $0.storage == .file })
  func exclusive(company: Company) async throws {
    let access = try company.open(in: folder) { $0.journalMode = .delete }
    let path = folder.file("cities.db")
    let holder = try Holder(access)
    let before = company.start(access) { try $0.executeUpdate("UPDATE city SET area = 0") }
    try await yieldUntil { access.waitingCount == 1 }
    let exclusive = company.start(access, kind: .exclusive) { _ in
      var configuration = Configuration.patient
      configuration.readOnly = true
      configuration.journalMode = nil
      configuration.busyTimeout = .zero
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: path, configuration: configuration).cityCount()
      }
      #expect(error?.isBusy == true)
    }
    try await yieldUntil { access.waitingCount == 2 }
    try holder.release()
    try await before.end()
    try await exclusive.end()
  }

  @Test(
    "Reads succeed although the writers queued before them fail because of another connection's lock",
    arguments: Company.all.filter { $0.storage != .memory })
  func readsBehindWriters(company: Company) async throws {
    let access = try company.open(in: folder) { $0.busyTimeout = .milliseconds(300) }
    let other = try Database(path: folder.file("cities.db"))
    let holder = try Holder(access)
    let writers = (0..<2).map { _ in company.start(access) { _ in } }
    try await yieldUntil { access.waitingCount == 2 }
    let readers = (0..<3).map { _ in
      company.startReading(access) { (db) throws in #expect(try db.cityCount() == 4) }
    }
    try other.begin()
    try holder.release()
    for writer in writers {
      #expect((try await writer.failureAtEnd() as? DatabaseError)?.code == .busy)
    }
    for reader in readers { #expect(try await reader.failureAtEnd() == nil) }
    try other.rollback()
  }
}
