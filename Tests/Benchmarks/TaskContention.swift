import LarderSQLite

/// Many tasks that each commit durable one-row transactions on the same row, by what 16 threads do.
struct TaskContention: ThreadBenchmark {
  let tasks: Int
  var name: String { "tasks-full-\(tasks)" }

  static let all = [16, 256].map(TaskContention.init)

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    try Contention.makeHotRow(path)
    var configuration = Configuration()
    configuration.synchronous = .full
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let waits = try Waits.alternate(
      seconds: seconds,
      [
        { try Contention.run(threads: 16, queue, seconds: $0) },
        { [tasks] seconds in
          try Tasks.run(tasks, seconds: seconds) { _ in
            try await queue.inTransaction { try Contention.add($0) }
          }
        },
      ])
    try Contention.checkHotRow(queue, waits.reduce(0) { $0 + $1.count })
    return ContentionMeasurement(
      name: name, sides: ("16 threads", "tasks"), reference: waits[0], larder: waits[1])
  }
}

/// Four tasks that look up rows in a pool, by what four threads do.
struct PoolReadTasks: ThreadBenchmark {
  let name = "pool-read-tasks-4"

  static let all = [PoolReadTasks()]

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    try CounterTable.make(path)
    let pool = try DatabasePool(path: path)
    let lookup: Threads.Maker = {
      var id = 0
      return {
        id = CounterTable.row(after: id)
        try CounterTable.lookUp(pool, id)
      }
    }
    let waits = try Waits.alternate(
      seconds: seconds,
      [
        { try Threads.run(Array(repeating: lookup, count: 4), seconds: $0) },
        { seconds in
          try Tasks.run(4, seconds: seconds) { index in
            try await CounterTable.lookUp(pool, index + 1)
          }
        },
      ])
    return ContentionMeasurement(
      name: name, sides: ("4 threads", "4 tasks"), reference: waits[0], larder: waits[1])
  }
}
