import Larder
import LarderTerminal

extension Command {
  static let serveLoad = Command(
    name: "serve-load", summary: "Reads and writes from many tasks for a while, as a service does.",
    details: """
      Each task looks cities up, and for one request of ten writes a line into the table “visit”. What is
      counted at the end has to be what the tasks have written.
      """,
    options: [
      Option("tasks", "N", "how many tasks (16)"),
      Option("seconds", "S", "for how long (5)"),
      Option("readers", "N", "how many connections read (4)"),
    ]
  ) { invocation in
    let tasks = try invocation.integer("tasks", in: 1...10_000) ?? 16
    let seconds = try invocation.real("seconds", in: 0.01...86_400) ?? 5
    let readers = try invocation.integer("readers", in: 1...64) ?? 4
    let pool = try DatabaseLocation(invocation).openPool(readers: readers)
    let load = try await Load(pool)
    let report = try await load.run(tasks: tasks, seconds: seconds)
    try await pool.close()
    try Output.show([report], asJSON: invocation.wantsJSON) { _ in report.table }
    guard report.visits == report.visitsExpected else {
      throw Failure(
        .database, "\(report.visits) visits were counted, not \(report.visitsExpected)")
    }
  }
}

/// Requests to the gazetteer as a service would get them.
private struct Load {
  let pool: any DatabaseAccess
  let cities: [Int64]
  let countries: [String]
  let visitsBefore: Int

  init(_ pool: any DatabaseAccess) async throws {
    self.pool = pool
    (cities, countries, visitsBefore) = try await pool.read { db in
      (
        try City.select { $0.id }.fetchAll(db).compactMap { $0 },
        try Country.select { $0.code }.fetchAll(db), try Visit.all.fetchCount(db)
      )
    }
    guard !cities.isEmpty, !countries.isEmpty else {
      throw Failure("there are no cities to look up")
    }
  }

  func run(tasks: Int, seconds: Double) async throws -> LoadReport {
    let clock = ContinuousClock()
    let start = clock.now
    let end = start + .seconds(seconds)
    var reads: [Duration] = []
    var writes: [Duration] = []
    try await withThrowingTaskGroup(of: Served.self) { group in
      for number in 1...tasks {
        group.addTask { try await serve(task: number, until: end) }
      }
      for try await served in group {
        reads += served.reads
        writes += served.writes
      }
    }
    let elapsed = start.duration(to: clock.now)
    let visits = try await pool.read { try Visit.all.fetchCount($0) }
    return LoadReport(
      tasks: tasks, seconds: elapsed / .seconds(1), reads: Latencies(reads),
      writes: Latencies(writes), visits: visits, visitsExpected: visitsBefore + writes.count)
  }

  private struct Served: Sendable {
    var reads: [Duration] = []
    var writes: [Duration] = []
  }

  /// What one task does: nine requests of ten read.
  private func serve(task: Int, until end: ContinuousClock.Instant) async throws -> Served {
    let clock = ContinuousClock()
    var served = Served()
    var request = 0
    while clock.now < end {
      request += 1
      let start = clock.now
      if request % 10 == 0 {
        try await write(task, request)
        served.writes.append(start.duration(to: clock.now))
      } else {
        try await read(task, request)
        served.reads.append(start.duration(to: clock.now))
      }
    }
    return served
  }

  private func read(_ task: Int, _ request: Int) async throws {
    let country = countries[(task * 31 + request) % countries.count]
    let city = city(task, request)
    _ = try await pool.read { db in
      (
        try City.find(db, city),
        request % 3 == 0 ? try City.largest(in: country, limit: 10).fetchAll(db) : []
      )
    }
  }

  private func write(_ task: Int, _ request: Int) async throws {
    let city = city(task, request)
    try await pool.inTransaction { db in
      var visit = Visit(id: nil, city: city, task: task)
      try visit.insert(db)
    }
  }

  /// Some city, each time another one.
  private func city(_ task: Int, _ request: Int) -> Int64 {
    cities[(task * 7_919 + request * 104_729) % cities.count]
  }
}
