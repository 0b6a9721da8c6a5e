import LarderSQLite

/// Many threads that each commit one-row transactions on the same row.
struct Contention: ThreadBenchmark {
  /// What Larder is measured by.
  enum Opponent {
    /// C with a connection for each thread, and a busy timeout.
    case connections
    /// C with one connection, and a mutex around each transaction.
    case mutex
  }

  let name: String
  let threads: Int
  let synchronous: Configuration.Synchronous
  var opponent = Opponent.connections
  var groupCommit = true

  static let all: [Contention] =
    [1, 2, 4, 16].flatMap { threads in
      [
        Contention(name: "contention-full-\(threads)", threads: threads, synchronous: .full),
        Contention(name: "contention-normal-\(threads)", threads: threads, synchronous: .normal),
        Contention(
          name: "contention-full-\(threads)-alone", threads: threads, synchronous: .full,
          groupCommit: false),
        Contention(
          name: "contention-normal-\(threads)-alone", threads: threads, synchronous: .normal,
          groupCommit: false),
      ]
    } + [
      Contention(
        name: "contention-mutex-16", threads: 16, synchronous: .full, opponent: .mutex)
    ]

  private static let update = "UPDATE hot SET n = n + 1"

  static func add(_ db: Database) throws { try db.executeUpdate("UPDATE hot SET n = n + 1") }

  static func makeHotRow(_ path: String) throws {
    try Reference(path: path).execute("CREATE TABLE hot (n INTEGER); INSERT INTO hot VALUES (0)")
  }

  /// Checks that the row holds what was added to it.
  static func checkHotRow(_ queue: DatabaseQueue, _ expected: Int) throws {
    let total = try queue.read { try $0.value("SELECT n FROM hot", as: Int.self) }
    guard total == expected else { throw Lost(expected: expected) }
  }

  /// Runs threads that share a queue, and returns how long their transactions took.
  static func run(
    threads: Int, _ queue: DatabaseQueue, seconds: Double
  ) throws -> [[Double]] {
    try run(threads: threads, seconds: seconds) { { try queue.inTransaction { try add($0) } } }
  }

  private static func run(
    threads: Int, seconds: Double, _ maker: @escaping Threads.Maker
  ) throws -> [[Double]] {
    try Threads.run([Threads.Maker](repeating: maker, count: threads), seconds: seconds)
  }

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    try Self.makeHotRow(path)
    var configuration = Configuration()
    configuration.synchronous = synchronous
    configuration.groupCommit = groupCommit
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    var sides: [(Double) throws -> [[Double]]] = [
      try reference(path), { try Self.run(threads: threads, queue, seconds: $0) },
    ]
    // With nothing to share, what one thread does alone is what several can hope for.
    if synchronous == .normal { sides.append { try Self.run(threads: 1, queue, seconds: $0) } }
    let waits = try Waits.alternate(seconds: seconds, sides)
    try Self.checkHotRow(queue, waits.reduce(0) { $0 + $1.count })
    return ContentionMeasurement(
      name: name, sides: (opponent == .mutex ? "C, mutex" : "C", "Larder"), reference: waits[0],
      larder: waits[1], oneThread: waits.count > 2 ? waits[2].perSecond : nil)
  }

  private func reference(_ path: String) throws -> (Double) throws -> [[Double]] {
    switch opponent {
    case .connections:
      return { seconds in
        try Self.run(threads: threads, seconds: seconds) {
          let transaction = try ReferenceTransaction(path: path, synchronous, Self.update)
          return { try transaction.run() }
        }
      }
    case .mutex:
      let shared = Lock(try ReferenceTransaction(path: path, synchronous, Self.update))
      return { seconds in
        try Self.run(threads: threads, seconds: seconds) {
          { _ = try shared.withLock { try $0.run() } }
        }
      }
    }
  }
}

/// The database doesn't hold what was written to it.
struct Lost: Error {
  let expected: Int
}
