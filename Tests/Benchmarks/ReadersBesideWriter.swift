import LarderSQLite

/// Threads that each look up rows, one in a transaction, beside one that commits one-row
/// transactions at a steady rate.
struct ReadersBesideWriter: ThreadBenchmark {
  let threads: Int
  var name: String { "readers-\(threads)" }

  static let all = [1, 2, 4].map(ReadersBesideWriter.init)

  /// How often a transaction is due. Each makes the readers' page caches useless, so that readers
  /// are faster where the writer is late: one that is late catches up, to do as much on both sides.
  private static let interval = Duration.microseconds(300)

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    try CounterTable.make(path)
    let reference = try run(seconds: seconds) {
      let update = try ReferenceTransaction(
        path: path, .normal, "UPDATE counter SET n = n + 1 WHERE id = ?")
      return { try update.run($0) }
    } reader: {
      let lookup = try ReferenceTransaction(
        path: path, .normal, begin: "BEGIN", "SELECT n FROM counter WHERE id = ?")
      return { guard try lookup.run($0) != nil else { throw Lost(expected: 1) } }
    }
    let pool = try DatabasePool(path: path)
    let larder = try run(seconds: seconds) {
      { try CounterTable.add(pool, $0) }
    } reader: {
      { try CounterTable.lookUp(pool, $0) }
    }
    try CounterTable.check(pool, reference.writes + larder.writes)
    return ContentionMeasurement(
      name: name, reference: reference.reads, larder: larder.reads,
      note: "beside \(reference.writes) and \(larder.writes) writes")
  }

  /// Runs one writer and the readers; each is given a row's number. Returns how long the lookups
  /// took, and how often the writer wrote.
  private func run(
    seconds: Double, writer: @escaping @Sendable () throws -> (Int) throws -> Void,
    reader: @escaping @Sendable () throws -> (Int) throws -> Void
  ) throws -> (reads: Waits, writes: Int) {
    let reading: Threads.Maker = {
      let read = try reader()
      var id = 0
      return {
        id = CounterTable.row(after: id)
        try read(id)
      }
    }
    let times = try Threads.run(
      [CounterTable.writing(every: Self.interval, writer)]
        + Array(repeating: reading, count: threads), seconds: seconds)
    return (Waits(Array(times.dropFirst()), seconds: seconds), times[0].count)
  }
}
