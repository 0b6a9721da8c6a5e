import Larder
import Testing

@Suite("Processes that migrate", .serialized)
struct MigrationCrashTests {
  private let folder: MigrationFolder
  private let path: String

  init() throws {
    folder = try MigrationFolder()
    path = folder.file("cities.db")
  }

  /// Looks at the file, and returns the number of migrations that are wholly there.
  private func check() throws -> Int {
    let db = try Database(path: path)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    let applied = try Migrator([]).applied(db)
    #expect(applied.map(\.name) == applied.indices.map { "city \($0)" })
    let schema = try db.schema().map(\.name).filter { $0.hasPrefix("city_") }
    #expect(Set(schema) == Set(applied.indices.flatMap { ["city_\($0)", "city_\($0)_name"] }))
    for index in applied.indices {
      let count = try db.value("SELECT count(*) FROM \(identifier: "city_\(index)")", as: Int.self)
      #expect(count == 200)
    }
    if !applied.isEmpty {
      let done = try db.executeQuery("SELECT number FROM done ORDER BY rowid").map {
        try $0.get(at: 0, as: Int.self)
      }
      #expect(done == Array(applied.indices))
    }
    return applied.count
  }

  @Test(
    "One that is killed leaves no migration half applied, and the next goes on", arguments: 0..<5)
  func killed(file: Int) throws {
    var killedInside = 0
    var count = 0
    for kill in 0..<20 {
      let process = try MigrationProcess(path, count: count + 20)
      try process.goOn()
      var lines = [try #require(process.line())]
      let end = ContinuousClock.now + .microseconds((kill * 5 + file) * 311 % 10_000)
      while ContinuousClock.now < end, let line = process.line(before: end) { lines.append(line) }
      process.kill()
      lines += process.remainingLines
      if lines.last?.hasPrefix("begins") == true { killedInside += 1 }
      let ended = lines.filter { $0.hasPrefix("ended") }
      let applied = try check()
      // One may have been committed without having been reported.
      #expect((count + ended.count...count + ended.count + 1).contains(applied))
      count = applied
    }
    #expect(killedInside > 0)
    let last = try MigrationProcess(path, count: count + 2)
    try last.goOn()
    #expect(
      last.remainingLines == [count, count + 1].flatMap { ["begins \($0)", "ended \($0)"] })
    #expect(last.end() == 0)
    #expect(try check() == count + 2)
  }

  @Test("Those that start together run each migration once", arguments: 0..<10)
  func together(round: Int) throws {
    let processes = try (0..<3).map { _ in try MigrationProcess(path, count: 10) }
    for process in processes { try process.goOn() }
    let lines = processes.map(\.remainingLines)
    for process in processes { #expect(process.end() == 0) }
    #expect(
      lines.flatMap { $0 }.sorted()
        == (0..<10).flatMap { ["begins \($0)", "ended \($0)"] }.sorted())
    #expect(try check() == 10)
  }
}
