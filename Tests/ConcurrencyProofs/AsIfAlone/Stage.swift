import CFaultInjection
import Foundation
import Larder

/// A schedule while it runs: the database, and what its callers see and are told.
final class Stage: Sendable {
  let schedule: Schedule
  let configuration: Configuration
  let ledger = Lock(ScheduleLedger())
  let access: any DatabaseAccess
  /// Another connection, which sees nothing but what is committed.
  private let outsider: DatabaseQueue?
  /// One that never waits for a lock, where a lock for writing can keep readers out.
  private let impatient: DatabaseQueue?
  private let leftOpen = Lock(LeftOpen())
  private let path: String?

  /// Result sets that nobody closed.
  private struct LeftOpen { var rows: [ResultSet] = [] }

  init(_ schedule: Schedule, sharesSyncs: Bool, folder: String) throws {
    self.schedule = schedule
    var configuration = schedule.configuration(sharesSyncs: sharesSyncs)
    if schedule.cancelsAtCommit { configuration.trace = { CancelsAtCommit.look(at: $0) } }
    self.configuration = configuration
    durability_begin(schedule.syncTime, 0)
    let path = schedule.storage == .memory ? nil : folder + "/main.db"
    self.path = path
    access =
      schedule.isPool
      ? try DatabasePool(path: path ?? "", configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE entry (
          id INTEGER PRIMARY KEY, caller INTEGER NOT NULL, step INTEGER NOT NULL,
          part INTEGER NOT NULL, tenant TEXT NOT NULL, UNIQUE (caller, step, part));
        CREATE TABLE total (entries INTEGER NOT NULL);
        INSERT INTO total VALUES (0);
        CREATE TABLE name (value TEXT UNIQUE);
        INSERT INTO name VALUES ('everybody');
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (
          parent INTEGER NOT NULL REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE scrap (content);
        """)
    }
    outsider =
      schedule.storage == .log
      ? try path.map { try DatabaseQueue(path: $0, configuration: Self.reading) } : nil
    impatient =
      schedule.storage == .journal
      ? try path.map { try DatabaseQueue(path: $0, configuration: Self.neverWaiting) } : nil
    durability_begin(schedule.syncTime, sharesSyncs ? schedule.failingSync : 0)
    durability_pause_after_commit(schedule.pauseAfterCommit)
  }

  private static var reading: Configuration {
    var configuration = Configuration()
    configuration.readOnly = true
    configuration.journalMode = nil
    return configuration
  }

  private static var neverWaiting: Configuration {
    var configuration = reading
    configuration.busyTimeout = .zero
    return configuration
  }

  func report(_ problem: String) { ledger.withLock { $0.problems.append(problem) } }

  /// Keeps a result set that its scope leaves open.
  func keep(_ rows: ResultSet) {
    nonisolated(unsafe) let rows = rows
    leftOpen.withLock { $0.rows.append(rows) }
  }

  func readSynchronously<T>(_ body: (Database) throws -> T) throws -> T { try access.read(body) }

  // MARK: Callers

  /// Runs all callers, and waits for them.
  func run() {
    if schedule.trustsTasks { earnTrust() }
    let group = DispatchGroup()
    for caller in schedule.callers {
      group.enter()
      if caller.manner == .thread {
        Thread.detachNewThread {
          self.asTenant(caller) { self.runSynchronously(caller) }
          group.leave()
        }
      } else {
        Task(priority: caller.priority) {
          await self.asTenant(caller) { await self.runInTask(caller) }
          group.leave()
        }
      }
    }
    group.wait()
  }

  private func asTenant(_ caller: Schedule.Caller, _ body: () -> Void) {
    guard let tenant = caller.tenant else { return body() }
    Tenant.$current.withValue(tenant, operation: body)
  }

  private func asTenant(_ caller: Schedule.Caller, _ body: () async -> Void) async {
    guard let tenant = caller.tenant else { return await body() }
    await Tenant.$current.withValue(tenant, operation: body)
  }

  private func runSynchronously(_ caller: Schedule.Caller) {
    for (number, step) in caller.steps.enumerated() {
      let name = ScopeName(caller: caller.number, step: number)
      tell(name, Result { try call(name, step) })
    }
  }

  private func runInTask(_ caller: Schedule.Caller) async {
    let client = Client(stage: self)
    for (number, step) in caller.steps.enumerated() {
      let name = ScopeName(caller: caller.number, step: number)
      switch caller.manner {
      case .actorSynchronously: await client.callSynchronously(name, step)
      case .actor: await client.call(name, step)
      case .task, .thread: await callAndTell(name, step)
      }
    }
  }

  /// Who calls from its own isolation.
  private actor Client {
    private let stage: Stage
    /// State that only the actor's own closures may touch.
    private var calls = 0

    init(stage: Stage) { self.stage = stage }

    func callSynchronously(_ name: ScopeName, _ step: Schedule.Step) {
      stage.tell(name, Result { try stage.call(name, step) { calls += 1 } })
    }

    func call(_ name: ScopeName, _ step: Schedule.Step) async {
      await stage.callAndTell(name, step)
    }
  }

  private func callAndTell(
    _ name: ScopeName, _ step: Schedule.Step, isolation: isolated (any Actor)? = #isolation
  ) async {
    guard let cancelsAfter = step.cancelsAfter else {
      do {
        tell(name, .success(try await call(name, step)))
      } catch {
        tell(name, .failure(error))
      }
      return
    }
    let task = Task { () async throws -> ScheduleLedger.Reading? in
      try await CancelsAtCommit.$isOn.withValue(cancelsAfter == Schedule.Step.atCommit) {
        try await call(name, step)
      }
    }
    guard cancelsAfter != Schedule.Step.atCommit else { return tell(name, await task.result) }
    for _ in 0..<cancelsAfter {
      for _ in 0..<100 { _ = durability_written() }
      await Task.yield()
    }
    task.cancel()
    tell(name, await task.result)
  }

  private func tell(_ name: ScopeName, _ result: Result<ScheduleLedger.Reading?, any Error>) {
    let synced = durability_synced()
    var outcome = Outcome.returned
    var reading: ScheduleLedger.Reading?
    switch result {
    case .success(let seen): reading = seen
    case .failure(let error): outcome = Outcome(error)
    }
    // What an error tells of has to be there for everybody else, too.
    let committed = outcome == .returned ? nil : try? committedEntries()
    ledger.withLock {
      $0.told.append(
        ScheduleLedger.Told(
          name: name, outcome: outcome, synced: synced, reading: reading, committed: committed))
    }
  }

  private func committedEntries() throws -> Int? {
    try outsider?.read { try $0.value("SELECT count(*) FROM entry", as: Int.self) }
  }

  /// Whether another connection can read; nil where it can whatever a scope holds.
  var letsOthersRead: Bool? {
    impatient.map { other in
      (try? other.read { try $0.value("SELECT count(*) FROM entry", as: Int.self) }) != nil
    }
  }

  func committedScraps() -> Int? {
    try? outsider?.read { try $0.value("SELECT count(*) FROM scrap", as: Int.self) }
  }

  // MARK: Calls

  private func call(
    _ name: ScopeName, _ step: Schedule.Step, alongside: () -> Void = {}
  ) throws -> ScheduleLedger.Reading? {
    let body = ScopeBody(
      stage: self, name: name, step: step, identity: Identity(isSynchronous: true))
    let write: (Database) throws -> Void = {
      alongside()
      try body.write($0)
    }
    switch (step.action, step.form) {
    case (.read, _):
      return try access.read {
        alongside()
        return try body.read($0)
      }
    case (.checkpoint(let mode), _): try access.checkpoint(mode)
    case (_, .immediate): try access.inTransaction(.immediate, write)
    case (_, .exclusive): try access.inTransaction(.exclusive, write)
    case (_, .deferred): try access.inTransaction(.deferred, write)
    case (_, .plain): try access.inDatabase(write)
    case (_, .savepoint): try access.inSavepoint(write)
    }
    return nil
  }

  private func call(
    _ name: ScopeName, _ step: Schedule.Step, isolation: isolated (any Actor)? = #isolation
  ) async throws -> ScheduleLedger.Reading? {
    let body = ScopeBody(
      stage: self, name: name, step: step, identity: Identity(isSynchronous: false))
    let thread = UInt(pthread_self())
    let noteThread: @Sendable () -> Void = { [self] in
      if UInt(pthread_self()) == thread { ledger.withLock { $0.atOnceCount += 1 } }
    }
    switch step.action {
    case .read:
      return try await read {
        noteThread()
        return try body.read($0)
      }
    case .checkpoint(let mode): try access.checkpoint(mode)
    default:
      try await write(step.form) {
        noteThread()
        try body.write($0)
      }
    }
    return nil
  }

  /// The asynchronous forms, each called at one place in the source, where brief scopes earn trust.
  private func read<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T { try await access.read(body) }

  private func write(
    _ form: ScopeForm, _ body: @escaping @Sendable (Database) throws -> Void
  ) async throws {
    switch form {
    case .immediate: try await access.inTransaction(.immediate, body)
    case .exclusive: try await access.inTransaction(.exclusive, body)
    case .deferred: try await access.inTransaction(.deferred, body)
    case .plain: try await access.inDatabase(body)
    case .savepoint: try await access.inSavepoint(body)
    }
  }

  /// Runs brief scopes of each kind, after which those of the schedule's tasks may run at once, on the
  /// threads that the tasks are on.
  private func earnTrust() {
    let group = DispatchGroup()
    group.enter()
    Task {
      for _ in 0..<200 {
        try? await read { _ in }
        for form in [ScopeForm.immediate, .exclusive] { try? await write(form) { _ in } }
      }
      group.leave()
    }
    group.wait()
  }

  // MARK: The end

  /// The rows of the log, in the order of their commits, after what holds for every end was checked.
  func end() throws -> FinalState {
    defer { leftOpen.withLock { $0.rows = [] } }
    durability_pause_after_commit(0)
    try outsider?.close()
    try impatient?.close()
    guard let path else {
      let state = try access.inDatabase { try FinalState($0) }
      try access.close()
      return state
    }
    do {
      try access.close()
    } catch  where durability_has_failed() != 0 {}
    if durability_has_failed() == 0, Foundation.access(path + "-wal", F_OK) == 0 {
      report("a log is left behind")
    }
    let db = try Database(path: path, configuration: Self.reading)
    defer { try? db.close() }
    return try FinalState(db)
  }
}
