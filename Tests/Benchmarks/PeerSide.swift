import TestSupport

/// One side of one row by itself, for `Tests/peers`, where each library has a process of its own:
///
///     benchmarks peer c|larder ROW memory|wal ROWS RUNS FILE
///
/// It prints the nanoseconds per record of each run, a line each. A first run is for caches.
enum PeerSide {
  static let role = "peer"

  static func run(_ arguments: [String]) throws {
    guard arguments.count == 6,
      let benchmark = Benchmark.ofOneCaller.first(where: { $0.name == arguments[1] }),
      let storage = Storage(rawValue: arguments[2])
    else { throw Options.Failure("peer needs a side, a row, memory or wal, rows, runs, a file") }
    let options = try Options(["--rows", arguments[3], "--runs", arguments[4]])
    let path = storage == .wal ? arguments[5] : nil
    let players = Player.many(options.rows)
    let side =
      switch arguments[0] {
      case "c": try benchmark.makeReference(Reference(path: path), players)
      case "larder": try benchmark.makeLarder(LarderSide(path: path), players)
      default: throw Options.Failure("peer needs c or larder")
      }
    for run in 0...options.runs {
      let time = try benchmark.time(side)
      if run > 0 { print(Table.number(time / Double(benchmark.count(options)), 1)) }
    }
  }
}
