import Larder
import LarderJobs
import LarderPostgres
import PostgresSupport
import Testing

@Suite(
  "Plans of claims on a server",
  .enabled(if: TestEngine.isPostgres, "SQLite's plans don't depend on the table's size"))
struct JobPlanTests {
  @Test(
    "A server plans each claim anew, since a plan for few jobs reads all of the many that come later"
  )
  func plansAnew() async throws {
    var configuration = PostgresConfiguration()
    // The session that has the plan is the one that is measured.
    configuration.connections = 1
    let store = try PostgresPool(TestEngine.schema(), configuration: configuration)
    try Migrator(JobQueue.migrations).migrate(store)
    let events = Events()
    func put(_ count: Int, in queue: String) async throws {
      try await store.inTransaction { db in
        try (0..<count).map { Note("\($0)", events) }.enqueue(db) { $0.queue = queue }
      }
    }
    try await put(5, in: "other")
    try await store.inDatabase { db in _ = try db.executeUpdate("ANALYZE larder_job") }
    let jobs = JobQueue(store, [Note.self])
    func work(_ count: Int) async throws {
      for _ in 0..<count {
        try await put(1, in: "default")
        let noted = events.noted.count
        try await jobs.working { try await wait { events.noted.count == noted + 1 } }
      }
    }
    // More often than a server plans anew for each call.
    try await work(8)
    let kept = try await store.inDatabase { db in
      try db.value(
        """
        SELECT sum(generic_plans) FROM pg_prepared_statements
        WHERE statement LIKE '%larder_claim%' AND statement NOT LIKE '%pg_prepared%'
        """, as: Int?.self)
    }
    #expect(kept == 0)
  }
}
