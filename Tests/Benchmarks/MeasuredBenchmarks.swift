import Larder

/// The cost of ``Configuration/measuresCalls``: on both sides the same scopes, measured and, as the reference, not.
enum MeasuredBenchmarks {
  static let all = [emptyScope, finds, updates, rows]

  static let emptyScope = benchmark("measured-empty-scope") { access, players in
    for _ in players { try access.inDatabase { _ in } }
  }

  static let finds = benchmark("measured-find") { access, players in
    sink &+= try ScopeBenchmarks.find(players, in: access)
  }

  static let updates = benchmark("measured-update", most: 50_000) { access, players in
    try ScopeBenchmarks.update(players.prefix(50_000), in: access)
  }

  /// All rows by one statement.
  static let rows = benchmark("measured-rows") { access, _ in
    sink &+= try access.read { db in try Player.fetchAll(db).count }
  }

  /// Not counted, since instructions say little of the clock.
  private static func benchmark(
    _ name: String, most: Int = .max,
    _ work: @escaping @Sendable (DatabaseQueue, [Player]) throws -> Void
  ) -> Benchmark {
    @Sendable
    func side(path: String?, measures: Bool, _ players: [Player]) throws -> Benchmark.Side {
      let filling = try LarderSide(path: path)
      try filling.fill(players)
      var configuration = Configuration()
      configuration.measuresCalls = measures
      let queue: DatabaseQueue
      if let path {
        queue = try DatabaseQueue(path: path, configuration: configuration)
      } else {
        queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { try filling.db.backup(to: $0) }
      }
      return .init { try work(queue, players) }
    }
    return Benchmark(
      name: name, count: { min($0.rows, most) },
      isOnOneThread: false,
      makeReference: { reference, players in
        try side(path: reference.path.map { $0 + "-unmeasured" }, measures: false, players)
      },
      makeLarder: { larder, players in
        try side(path: larder.path.map { $0 + "-measured" }, measures: true, players)
      })
  }
}
