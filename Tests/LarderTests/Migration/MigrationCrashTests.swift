import Larder
import TestSupport
import Testing

@Suite("Processes that migrate", .serialized)
struct MigrationCrashTests {
  private let folder: ScratchFolder
  private let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
  }

  /// The number of migrations that are applied as a whole. Records an issue for a partial one.
  private func check() throws -> Int {
    let (applied, problems) = try NumberedMigrations.check(try Database(path: path))
    #expect(problems == [])
    return applied
  }

  private func start(count: Int) throws -> ChildProcess {
    try ChildProcess.role("migrate", path, String(count))
  }

  /// Lets a process begin once it has said that it is ready.
  private func goOn(_ process: ChildProcess) {
    #expect(process.line() == "ready")
    process.say()
  }

  @Test(
    "Killing a migrating process leaves no half-applied migration, and the next one finishes",
    arguments: 0..<5)
  func killed(file: Int) throws {
    var killedInside = 0
    var count = 0
    for kill in 0..<20 {
      let process = try start(count: count + 20)
      goOn(process)
      var lines = [try #require(process.line())]
      let end = ContinuousClock.now + .microseconds((kill * 5 + file) * 311 % 10_000)
      while ContinuousClock.now < end, let line = process.line(before: end) { lines.append(line) }
      process.kill()
      lines += process.remainingLines()
      if lines.last?.hasPrefix("begins") == true { killedInside += 1 }
      let ended = lines.filter { $0.hasPrefix("ended") }
      let applied = try check()
      // The last migration may have been committed but not reported.
      #expect((count + ended.count...count + ended.count + 1).contains(applied))
      count = applied
    }
    #expect(killedInside > 0)
    let last = try start(count: count + 2)
    goOn(last)
    #expect(
      last.remainingLines() == [count, count + 1].flatMap { ["begins \($0)", "ended \($0)"] })
    #expect(last.end() == 0)
    #expect(try check() == count + 2)
  }

  @Test(
    "Killing a process amid a backfill fills no row twice, and the next one goes on where it was")
  func killedBackfill() throws {
    let db = try Database(path: path)
    try db.executeStatements(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE word (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0);
      WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000)
        INSERT INTO word (id) SELECT i FROM c;
      """)
    func filled() throws -> Int { try db.value("SELECT sum(n) FROM word", as: Int.self) ?? 0 }
    var stops: Set<Int> = []
    for kill in 1...6 {
      let process = try ChildProcess.role("backfill", path)
      #expect(process.line() == "ready")
      // The process is killed once it has committed some batches more.
      let before = try filled()
      while try filled() < min(before + kill * 40, 2700) {}
      process.kill()
      stops.insert(try filled())
      #expect(try db.value("SELECT max(n) FROM word", as: Int.self) == 1)
    }
    #expect(stops.count > 1)
    let last = try ChildProcess.role("backfill", path)
    #expect(last.remainingLines() == ["ready", "done"])
    #expect(last.end() == 0)
    #expect(try db.value("SELECT count(*) FROM word WHERE n = 1", as: Int.self) == 3000)
    #expect(try !db.tableExists("larder_backfill"))
  }

  @Test(
    "Processes that start to migrate at the same time run each migration once", arguments: 0..<10
  )
  func together(round: Int) throws {
    let processes = try (0..<3).map { _ in try start(count: 10) }
    for process in processes { goOn(process) }
    let lines = processes.map { $0.remainingLines() }
    for process in processes { #expect(process.end() == 0) }
    #expect(
      lines.flatMap { $0 }.sorted()
        == (0..<10).flatMap { ["begins \($0)", "ended \($0)"] }.sorted())
    #expect(try check() == 10)
  }
}
