import Foundation
import Larder
import LarderJobs
import LarderPostgres
import PostgresSupport
import Testing

@Suite("Workers of jobs")
struct JobWorkerTests {
  @Test("Not more jobs of a limit run at a time than it allows, and all of them run")
  func limit() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in
      for number in 1...60 {
        var note = Note("\(number)", events)
        note.change.running = 2
        note.change.yields = 20
        try note.enqueue(db)
      }
    }
    let jobs = JobQueue(store, [Note.self])
    try await jobs.working {
      try await jobs.working { try await wait(store, for: 0) }
    }
    var (running, most) = (0, 0)
    for event in events.noted {
      running += event.hasPrefix("end") ? -1 : 1
      most = max(most, running)
    }
    #expect(most == 2)
    #expect(events.noted.count == 120)
  }

  @Test("Jobs of a limit begin no more often than it allows")
  func rate() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in
      for number in 1...13 {
        var note = Note("\(number)", events)
        note.change.starts = 4
        try note.enqueue(db)
      }
    }
    let start = ContinuousClock.now
    try await JobQueue(store, [Note.self]).working { try await wait(store, for: 0) }
    // The thirteenth is the first of the fourth period of 400 ms.
    #expect(ContinuousClock.now - start >= .milliseconds(1_150))
    #expect(events.noted.count == 13)
  }

  @Test("The last job of a batch runs once all others have ended, also dead ones")
  func batch() async throws {
    let (store, events) = (try jobStore(), Events())
    var dying = Note("dying", events)
    dying.change.isFinal = true
    try await store.inTransaction { [dying] db in
      let batch: [any Job] = [Note("one", events), Note("two", events, failures: 1), dying]
      let last = try batch.enqueue(db, then: Note("last", events))
      #expect(last != nil)
    }
    try await JobQueue(store, [Note.self]).working { try await wait(store, for: 1) }
    #expect(events.noted.last == "last")
    #expect(events.noted.count == 5)
    try await store.inTransaction { db in
      _ = try JobQueue.remove(db, StoredJob.all)
      let none: [Note] = []
      _ = try none.enqueue(db, then: Note("of none", events))
    }
    try await JobQueue(store, [Note.self]).working { try await wait(store, for: 0) }
    #expect(events.noted.last == "of none")
  }

  @Test("The last job of a batch waits for its own time, too, and isn't put in twice")
  func lastOfBatch() async throws {
    let (store, events) = (try jobStore(), Events())
    var last = Note("last", events)
    last.change.due = Date().addingTimeInterval(3_600)
    last.change.unique = "last"
    let due = last.change.due
    let ids = try await store.inTransaction { [last] db in
      var none = last
      none.change.unique = nil
      return [
        try [Note("one", events)].enqueue(db, then: last),
        try [Note("two", events)].enqueue(db, then: last),
        try [Note]().enqueue(db, then: none),
      ]
    }
    #expect(ids.map { $0 != nil } == [true, false, true])
    try await JobQueue(store, [Note.self]).working {
      try await wait(store, for: 2, of: StoredJob.filter { $0.state == .scheduled })
      try await wait(store, for: 2)
    }
    // A worker runs both at the same time.
    #expect(events.noted.sorted() == ["one", "two"])
    let jobs = try await store.read { db in try StoredJob.all.fetchAll(db) }
    #expect(jobs.allSatisfy { abs($0.due.timeIntervalSince(due ?? .distantPast)) < 0.01 })
  }

  @Test("A schedule goes on after a clock that was ahead has been set back")
  func clockSetBack() async throws {
    let (store, events) = (try jobStore(), Events())
    let schedule = try JobSchedule("* * * * *", Note("tick", events), name: "tick")
    try await store.inTransaction { db in
      let ahead = Int64(Date().timeIntervalSince1970 * 1000) + 86_400_000
      try db.executeUpdate("INSERT INTO larder_job_schedule (name, last) VALUES ('tick', \(ahead))")
    }
    try await JobQueue(store, [Note.self], schedules: [schedule]).working {
      try await wait {
        let last = try await store.read { db in
          try db.value("SELECT last FROM larder_job_schedule", as: Int64.self) ?? 0
        }
        return last <= Int64(Date().timeIntervalSince1970 * 1000) + 1_000
      }
    }
  }

  @Test("A job that runs longer than its time limit is cancelled, and has failed")
  func timeLimit() async throws {
    let (store, events) = (try jobStore(), Events())
    var note = Note("slow", events)
    note.change.isEndless = true
    note.change.timeLimit = 0.02
    note.change.attempts = 1
    try await store.inTransaction { [note] db in _ = try note.enqueue(db) }
    try await JobQueue(store, [Note.self]).working {
      try await wait(store, for: 1, of: StoredJob.filter { $0.state == .dead })
    }
    let job = try await store.read { db in try StoredJob.all.fetchOne(db) }
    #expect(job?.errors?.first?.hasSuffix("the job has run for longer than its time limit") == true)
  }

  @Test(
    "A cancelled worker cancels its jobs after the grace, puts them back, and the attempt doesn't count"
  )
  func cancelled() async throws {
    let (store, events) = (try jobStore(), Events())
    var note = Note("slow", events)
    note.change.isEndless = true
    try await store.inTransaction { [note] db in _ = try note.enqueue(db) }
    try await JobQueue(store, [Note.self]).working {
      try await wait { events.noted == ["slow"] }
    }
    let job = try await store.read { db in try StoredJob.all.fetchOne(db) }
    #expect(job?.state == .ready)
    #expect(job?.attempts == 0)
    #expect(job?.worker == nil)
  }

  @Test("A job whose worker was killed runs again once its lease is over")
  func lease() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in
      try Note("lost", events).enqueue(db)
      try Note("lost for the last time", events).enqueue(db) { $0.attempts = 1 }
      // As a worker leaves them that was killed a minute ago.
      try db.executeUpdate(
        "UPDATE larder_job SET state = 2, attempts = 1, worker = 'killed', due = ?",
        Int64(Date().timeIntervalSince1970 * 1000) - 60_000)
    }
    try await JobQueue(store, [Note.self]).working { try await wait(store, for: 1) }
    #expect(events.noted == ["lost"])
    let job = try await store.read { db in try StoredJob.all.fetchOne(db) }
    #expect(job?.state == .dead)
    #expect(job?.errors?.first?.hasSuffix("its worker was lost") == true)
  }

  @Test("The leases of running jobs are extended, so that no other worker takes them")
  func heartbeat() async throws {
    let (store, events) = (try jobStore(), Events())
    var options = JobWorkerOptions.prompt
    options.lease = .milliseconds(600)
    var note = Note("long", events)
    note.change.isEndless = true
    note.change.timeLimit = 2
    note.change.attempts = 1
    try await store.inTransaction { [note] db in _ = try note.enqueue(db) }
    let jobs = JobQueue(store, [Note.self])
    try await jobs.working(options) {
      try await jobs.working(options) {
        try await wait(store, for: 1, of: StoredJob.filter { $0.state == .dead })
      }
    }
    #expect(events.noted == ["long"])
  }

  @Test("A job of a schedule is put in once for each time, however many workers there are")
  func schedule() async throws {
    let (store, events) = (try jobStore(), Events())
    // A year ends seldom while this test runs.
    let schedules = [try JobSchedule("0 0 1 1 *", Note("new year", events), name: "year")]
    let jobs = JobQueue(store, [Note.self], schedules: schedules)
    func rows() async throws -> Int {
      try await store.read { db in
        try db.value("SELECT count(*) FROM larder_job_schedule", as: Int.self) ?? 0
      }
    }
    try await jobs.working {
      try await wait { try await rows() == 1 }
    }
    #expect(events.noted.isEmpty)
    try await store.inTransaction { db in
      // No worker ran for some years.
      _ = try db.executeUpdate("UPDATE larder_job_schedule SET last = 0")
    }
    try await jobs.working {
      try await jobs.working {
        try await wait { events.noted.count >= 1 }
        try await wait(store, for: 0)
      }
    }
    #expect(events.noted == ["new year"])
  }

  @Test("A worker ends soon after its grace, also if the database doesn't answer meanwhile")
  func unreachable() async throws {
    let (store, events) = (try jobStore(), Events())
    var note = Note("long", events)
    note.change.isEndless = true
    try await store.inTransaction { [note] db in _ = try note.enqueue(db) }
    let worker = Task {
      try await JobQueue(store, [Note.self]).work(options: .prompt)
    }
    try await wait { events.noted == ["long"] }
    let (held, hold) = AsyncStream<Void>.makeStream()
    let isOver = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? store.inTransaction { db in
        if TestEngine.isPostgres { try db.executeStatements("LOCK TABLE larder_job") }
        hold.finish()
        isOver.wait()
      }
    }
    for await _ in held {}
    defer { isOver.signal() }
    worker.cancel()
    // The end of the job can't be written, so that its lease has to end.
    try await worker.value
  }

  @Test("A job's time limit and a worker's grace hold while the worker waits for the database")
  func limitsMeanwhile() async throws {
    let (store, events) = (try jobStore(), Events())
    var limited = Note("limited", events)
    limited.change.isEndless = true
    limited.change.timeLimit = 0.5
    var endless = Note("endless", events)
    endless.change.isEndless = true
    let last = Note("last", events)
    try await store.inTransaction { [limited, endless] db in
      for note in [limited, endless] { _ = try note.enqueue(db) }
    }
    let failed = Lock<[String]>([])
    var options = JobWorkerOptions.prompt
    options.onError = { _, error in failed.withLock { $0.append("\(error)") } }
    let worker = Task { [options] in
      try await JobQueue(store, [Note.self]).work(options: options)
    }
    try await wait { events.noted.count == 2 }
    let (held, hold) = AsyncStream<Void>.makeStream()
    let isOver = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? store.inTransaction { db in
        // The worker has something to write from now on.
        _ = try last.enqueue(db)
        if TestEngine.isPostgres { try db.executeStatements("LOCK TABLE larder_job") }
        hold.finish()
        isOver.wait()
      }
    }
    for await _ in held {}
    defer { isOver.signal() }
    try await wait { failed.withLock { $0 } == ["\(JobError.timeLimit)"] }
    // The end of the limited job waits to be written, so that the loop can't see that the grace is over.
    worker.cancel()
    try await worker.value
  }

  @Test(
    "A cancelled worker without jobs doesn't wait for a database that is away until its grace is over"
  )
  func idleEnd() async throws {
    let queue = try DatabaseQueue()
    try Migrator(JobQueue.migrations).migrate(queue)
    var options = JobWorkerOptions.prompt
    options.grace = .seconds(3_600)
    let worker = Task { [options] in
      try await JobQueue(queue, [Note.self]).work(options: options)
    }
    let (held, hold) = AsyncStream<Void>.makeStream()
    let isOver = DispatchSemaphore(value: 0)
    defer { isOver.signal() }
    Thread.detachNewThread {
      try? queue.inDatabase { _ in
        hold.finish()
        isOver.wait()
      }
    }
    for await _ in held {}
    try await wait { queue.statistics.waiting > 0 }
    worker.cancel()
    try await worker.value
  }

  @Test("A worker refuses two schedules of one name, of which only one would run")
  func equalSchedules() async throws {
    let events = Events()
    let store = try jobStore()
    let first = try JobSchedule("* * * * *", Note("a", events))
    let second = try JobSchedule("* * * * *", Note("b", events))
    let error = await #expect(throws: DatabaseError.self) {
      try await JobQueue(store, [Note.self], schedules: [first, second]).work()
    }
    #expect(error?.message.hasPrefix("two schedules are named “\(Note.name) * * * * *”") == true)
    let named = try JobSchedule("* * * * *", Note("b", events), name: "b")
    let worker = Task {
      try await JobQueue(store, [Note.self], schedules: [first, named]).work()
    }
    worker.cancel()
    try await worker.value
  }

  @Test("A worker without the tables throws at once")
  func noTables() async throws {
    let store = try DatabaseQueue()
    await #expect(throws: DatabaseError.self) {
      try await JobQueue(store, [Note.self]).work()
    }
  }
}

@Suite("Times of cron expressions")
struct CronTimesTests {
  private func next(_ expression: String, after text: String) throws -> String {
    let date = try #require(try? Date(text, strategy: .iso8601))
    return try CronTimes(expression, .gmt).next(after: date).formatted(.iso8601)
  }

  @Test(
    "The next time is the first that meets all fields",
    arguments: [
      ("* * * * *", "2026-11-29T08:30:00Z", "2026-11-29T08:31:00Z"),
      ("*/15 * * * *", "2026-11-29T08:30:01Z", "2026-11-29T08:45:00Z"),
      ("30 3 * * 1-5", "2026-11-27T03:30:00Z", "2026-11-30T03:30:00Z"),
      ("0 0 29 2 *", "2026-11-29T08:30:00Z", "2028-02-29T00:00:00Z"),
      ("0 12 13 * 5", "2026-11-29T08:30:00Z", "2026-12-04T12:00:00Z"),
      ("5,10-20/5 0 1 1 7", "2026-12-31T23:59:00Z", "2027-01-01T00:05:00Z"),
    ])
  func next(_ expression: String, _ after: String, _ expected: String) throws {
    // A day of the month and one of the week: one of them is enough.
    #expect(try next(expression, after: after) == expected)
  }

  @Test("A clock that is put forward or back skips no day, and no time comes twice")
  func clockChanges() throws {
    let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
    let times = try CronTimes("30 2 * * *", zone)
    var date = try Date("2026-03-26T12:00:00Z", strategy: .iso8601)
    var days: [String] = []
    for _ in 0..<4 {
      date = times.next(after: date)
      days.append(String(date.formatted(.iso8601).prefix(10)))
    }
    #expect(days == ["2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30"])
  }

  @Test(
    "What is no expression is refused",
    arguments: [
      "", "* * * *", "60 * * * *", "5-1 * * * *", "*/0 * * * *", "0 0 30 2 *", "a * * * *",
    ])
  func refused(_ expression: String) {
    #expect(throws: JobError.self) { try CronTimes(expression, .gmt) }
  }
}
