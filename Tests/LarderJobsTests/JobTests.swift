import Foundation
import Larder
import LarderJobs
import PostgresSupport
import Testing

@Suite("Jobs")
struct JobTests {
  @Test("A job is rolled back with the transaction that puts it in")
  func rolledBack() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in
      db.setRollbackOnly()
      try Note("mail", events).enqueue(db)
    }
    #expect(try await store.read { db in try StoredJob.all.fetchCount(db) } == 0)
  }

  @Test("A worker runs all jobs in the order of their priority, then in which they were put in")
  func order() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in
      for number in 1...20 {
        try Note("\(number)", events).enqueue(db) { $0.priority = number.isMultiple(of: 2) ? 1 : 0 }
      }
    }
    var options = JobWorkerOptions.prompt
    options.concurrency = 1
    try await JobQueue(store, [Note.self]).working(options) { try await wait(store, for: 0) }
    let odd = stride(from: 1, through: 19, by: 2)
    let even = stride(from: 2, through: 20, by: 2)
    #expect(events.noted == (Array(odd) + Array(even)).map(String.init))
  }

  @Test("An idle worker is woken by the commit of a job on SQLite, however seldom it looks")
  func woken() async throws {
    let (store, events) = (try jobStore(), Events())
    var options = JobWorkerOptions.prompt
    if !TestEngine.isPostgres { options.poll = .seconds(3_600) }
    try await JobQueue(store, [Note.self]).working(options) {
      for text in ["one", "two", "three"] {
        try await store.inTransaction { db in _ = try Note(text, events).enqueue(db) }
        try await wait(store, for: 0)
      }
    }
    #expect(events.noted == ["one", "two", "three"])
  }

  @Test("A worker of many queues serves the last one, too, however many before it are empty")
  func manyQueues() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in
      for queue in ["q8", "q20"] { _ = try Note(queue, events).enqueue(db) { $0.queue = queue } }
    }
    let worker = Task {
      try await JobQueue(store, [Note.self]).work((1...20).map { "q\($0)" }, options: .prompt)
    }
    try await wait(store, for: 0)
    #expect(events.noted.sorted() == ["q20", "q8"])
    worker.cancel()
    try await worker.value
  }

  @Test("A worker refuses two types of one name, of which jobs would run as the wrong one")
  func equalTypes() async throws {
    let store = try jobStore()
    let schedule = try JobSchedule("* * * * *", Sms.Send())
    let refused = [
      JobQueue(store, [Mail.Send.self, Sms.Send.self]),
      JobQueue(store, [Mail.Send.self], schedules: [schedule]),
    ]
    for jobs in refused {
      let error = await #expect(throws: DatabaseError.self) { try await jobs.work() }
      #expect(error?.code == .misuse)
      #expect(error?.message.hasPrefix("two types of jobs are named “Send”") == true)
    }
    let worker = Task {
      try await JobQueue(store, [Mail.Send.self, Mail.Send.self, Note.self]).work()
    }
    worker.cancel()
    try await worker.value
  }

  @Test(
    "Enqueue refuses to change an option that isn't stored with the job, and changes the others")
  func changedOptions() throws {
    let (store, events) = (try jobStore(), Events())
    let changes: [(inout JobOptions) -> Void] = [
      { $0.limit = JobLimit("other", running: 1) }, { $0.timeLimit = .seconds(1) },
      { $0.backOff = { _ in .zero } },
    ]
    try store.inDatabase { db in
      for change in changes {
        let error = #expect(throws: DatabaseError.self) {
          try Note("refused", events).enqueue(db, change)
        }
        #expect(error?.code == .misuse)
        #expect(throws: DatabaseError.self) { try [Note("refused", events)].enqueue(db, change) }
      }
      try Note("changed", events).enqueue(db) {
        ($0.queue, $0.priority, $0.attempts, $0.unique) = ("mail", 7, 3, "key")
      }
      let job = try #require(try StoredJob.fetchAll(db).first)
      #expect([job.queue, job.unique] == ["mail", "key"] && job.priority == 7)
      #expect(job.mostAttempts == 3)
      #expect(try StoredJob.all.fetchCount(db) == 1)
    }
  }

  @Test("A job doesn't run before it is due, and a worker takes only the jobs of its queues")
  func due() async throws {
    let (store, events) = (try jobStore(), Events())
    let due = Date().addingTimeInterval(0.3)
    try await store.inTransaction { db in
      try Note("later", events).enqueue(db) { $0.due = due }
      try Note("elsewhere", events).enqueue(db) { $0.queue = "mail" }
      try Note("now", events).enqueue(db)
    }
    try await JobQueue(store, [Note.self]).working {
      try await wait(store, for: 1)
      #expect(Date() >= due.addingTimeInterval(-0.001))
    }
    #expect(Set(events.noted) == ["now", "later"])
    let rest = try await store.read { db in try StoredJob.fetchAll(db) }
    #expect(rest.map(\.queue) == ["mail"])
  }

  @Test("A job that fails is retried, with its errors noted, until it is done")
  func retried() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in _ = try Note("mail", events, failures: 2).enqueue(db) }
    try await JobQueue(store, [Note.self]).working { try await wait(store, for: 0) }
    #expect(events.noted == ["mail", "mail", "mail"])
  }

  @Test(
    "A job that fails each time is dead after its attempts, keeps its errors, and can be retried")
  func dead() async throws {
    let (store, events) = (try jobStore(), Events())
    var note = Note("mail", events, failures: 4)
    note.change.attempts = 4
    try await store.inTransaction { [note] db in _ = try note.enqueue(db) }
    let dead = StoredJob.filter { $0.state == .dead }
    let jobs = JobQueue(store, [Note.self])
    try await jobs.working { try await wait(store, for: 1, of: dead) }
    let job = try #require(try await store.read { db in try dead.fetchOne(db) })
    #expect(job.attempts == 4)
    #expect(job.errors?.count == 4)
    #expect(job.errors?.last?.contains("attempt 4: Refused()") == true)
    // The payload says how often it fails: as often as before.
    let count = try await store.inTransaction { db in try JobQueue.retry(db, dead) }
    #expect(count == 1)
    try await jobs.working { try await wait(store, for: 1, of: dead) }
    #expect(events.noted.count == 8)
  }

  @Test("A job that throws a final error, or whose type isn't known, isn't run in vain")
  func final() async throws {
    let (store, events) = (try jobStore(), Events())
    var note = Note("mail", events)
    note.change.isFinal = true
    try await store.inTransaction { [note] db in
      try note.enqueue(db)
      try Unknown().enqueue(db) { $0.attempts = 1 }
    }
    try await JobQueue(store, [Note.self]).working {
      try await wait(store, for: 2, of: StoredJob.filter { $0.state.in([.dead, .scheduled]) })
    }
    #expect(events.noted == ["mail"])
    let jobs = try await store.read { db in try StoredJob.order { $0.id }.fetchAll(db) }
    // A newer program may know it, which runs beside this one: the attempt doesn't count.
    #expect(jobs.map(\.state) == [.dead, .scheduled])
    #expect(jobs.map(\.attempts) == [1, 0])
    let error = jobs.last?.errors?.first ?? ""
    #expect(error.contains("no type of job named “Unknown”"))
  }

  @Test("A unique job isn't put in while one with its key is unfinished")
  func unique() async throws {
    let (store, events) = (try jobStore(), Events())
    func put() async throws -> Int64? {
      try await store.inTransaction { db in
        try Note("mail", events).enqueue(db) { $0.unique = "mail/5" }
      }
    }
    #expect(try await put() != nil)
    #expect(try await put() == nil)
    try await store.inTransaction { db in
      _ = try [Note("a", events), Note("b", events)].enqueue(db) { $0.unique = "mail/6" }
    }
    #expect(try await store.read { db in try StoredJob.all.fetchCount(db) } == 2)
    try await JobQueue(store, [Note.self]).working { try await wait(store, for: 0) }
    #expect(try await put() != nil)
  }

  @Test("A job that ends itself has its effect exactly once, whatever it throws afterwards")
  func complete() async throws {
    let store = try jobStore()
    try await store.inTransaction { db in
      try Effect.table.create(db)
      try Complete(number: 5, isLost: false).enqueue(db)
      try Complete(number: 6, isLost: true).enqueue(db) { $0.attempts = 1 }
    }
    try await JobQueue(store, [Complete.self]).working {
      try await wait(store, for: 1)
      try await wait(store, for: 1, of: StoredJob.filter { $0.attempts == 9 })
    }
    let effects = try await store.read { db in try Effect.fetchAll(db) }
    #expect(effects.map(\.number) == [5])
  }

  @Test("Statistics count the jobs of each queue by state, and removed jobs are gone")
  func administration() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in
      try Note("now", events).enqueue(db)
      try Note("later", events).enqueue(db) { $0.due = Date().addingTimeInterval(3_600) }
      try Note("mail", events).enqueue(db) { $0.queue = "mail" }
    }
    let found = try await store.read { db in try JobQueue.statistics(db) }
    #expect(found.map(\.queue) == ["default", "mail"])
    #expect(found.first?.counts == [.ready: 1, .scheduled: 1])
    #expect(found.allSatisfy { ($0.oldest ?? .distantPast) <= Date() })
    let count = try await store.inTransaction { db in
      try JobQueue.remove(db, StoredJob.filter { $0.queue == "default" })
    }
    #expect(count == 2)
    #expect(try await store.read { db in try StoredJob.all.fetchCount(db) } == 1)
  }

  @Test("A claim reads the beginning of an index, in its order")
  func plan() throws {
    let plan = try jobStore().inTransaction { db in
      try db.beginWork()
      let query = StoredJob.filter { $0.state == .ready && $0.queue == "default" }
        .order { ($0.priority, $0.id) }.limit(16).sql(for: db)
      return try db.executeQuery(
        TestEngine.isPostgres ? "EXPLAIN (COSTS OFF) \(query)" : "EXPLAIN QUERY PLAN \(query)"
      ).map { try $0.get(at: TestEngine.isPostgres ? 0 : 3, as: String.self) }
    }
    if TestEngine.isPostgres {
      // Without a step that sorts.
      #expect(plan.first == "Limit")
      #expect(plan.dropFirst().first == "  ->  Index Scan using larder_job_next on larder_job")
    } else {
      #expect(plan == ["SEARCH larder_job USING INDEX larder_job_next (state=? AND queue=?)"])
    }
  }
}

enum Mail {
  struct Send: Job {
    func run(_ context: JobContext) async throws {}
  }
}

enum Sms {
  struct Send: Job {
    func run(_ context: JobContext) async throws {}
  }
}

struct Unknown: Job {
  func run(_ context: JobContext) async throws {}
}

/// A job with a change in the database; or one that somebody else has meanwhile.
struct Complete: Job {
  var number: Int
  var isLost: Bool

  func run(_ context: JobContext) async throws {
    if isLost {
      try await context.store.inTransaction { db in
        _ = try db.executeUpdate("UPDATE larder_job SET attempts = 9 WHERE id = ?", context.id)
      }
    }
    try await context.complete { db in _ = try Effect(id: nil, number: number).inserted(db) }
    throw Refused()
  }
}

struct Effect: Record {
  var id: Int64?
  var number: Int

  struct Columns: Sendable {
    let id = Column("id", \Effect.id, .primaryKey)
    let number = Column("number", \Effect.number)
  }
  static let columns = Columns()
  static let table = Table("effect", Effect.init, columns.id, columns.number)
}
