import LarderSQLite

/// Many threads that each commit one-row transactions on the same row.
struct Contention: ThreadBenchmark {
  let name: String
  let threads: Int
  let synchronous: Configuration.Synchronous
  var groupCommit = true

  static let all: [Contention] = [2, 4, 16].flatMap { threads in
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
  }

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    let setup = try Reference(path: path)
    try setup.execute("CREATE TABLE hot (n INTEGER); INSERT INTO hot VALUES (0)")
    let reference = try run(seconds: seconds) {
      let transaction = try ReferenceTransaction(
        path: path, synchronous, "UPDATE hot SET n = n + 1")
      return { try transaction.run() }
    }
    var configuration = Configuration()
    configuration.synchronous = synchronous
    configuration.groupCommit = groupCommit
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let larder = try run(seconds: seconds) {
      { _ = try queue.inTransaction { try $0.executeUpdate("UPDATE hot SET n = n + 1") } }
    }
    let total = try queue.read { try $0.value("SELECT n FROM hot", as: Int.self) }
    guard total == reference.count + larder.count else {
      throw Lost(expected: reference.count + larder.count)
    }
    return ContentionMeasurement(name: name, reference: reference, larder: larder)
  }

  private func run(seconds: Double, _ maker: @escaping Threads.Maker) throws -> Waits {
    let makers = [Threads.Maker](repeating: maker, count: threads)
    return Waits(try Threads.run(makers, seconds: seconds), seconds: seconds)
  }
}

/// The database doesn't hold what was written to it.
struct Lost: Error {
  let expected: Int
}
