import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import TestSupport

/// A primary that is killed, and whose standby takes its place.
enum Failover: Verb {
  static let help = """
    failover [--kills 3] [--seed 1] [--json]
      Threads and tasks write through a pool while the primary is killed at a random moment, so many times; its
      synchronous standby is promoted at once, and what was killed becomes the new one's standby. Nothing
      acknowledged may be lost, nothing be there twice or by half; commits whose answer never came have to be
      settled as they are, and writes go on within a second.
    """
  static let options: [String: String?] = ["kills": "3", "seed": "1", "json": nil]

  static func run(_ options: Options) throws {
    let kills = try options.number("kills")
    var figures = Figures("failover", unit: "kills", options)
    var random = SeededGenerator(seed: UInt64(try options.number("seed")))
    let cluster = try PostgresCluster()
    let writers = try Writers(cluster.address, serverName: "current_setting('cluster_name')")
    try cluster.makeSynchronous(0)
    var all = Writers.Told(first: 1)
    var (first, everybody): ([Duration], [Duration]) = ([], [])
    var primary = 0
    for kill in 1...kills {
      let standby = 1 - primary
      let watch = try Database.postgres(cluster.addresses[standby])
      writers.start()
      usleep(UInt32.random(in: 300_000...800_000, using: &random))
      try cluster.kill(primary)
      try cluster.promote(standby)
      while try watch.value("SELECT pg_is_in_recovery()", as: Bool.self) != false { usleep(500) }
      let promoted = ContinuousClock.now
      try watch.close()
      let name = "node\(standby)"
      try writers.waitForAll(by: { $0 == name }, limit: .seconds(30))
      let told = try writers.stop()
      var times: [Int: ContinuousClock.Instant] = [:]
      for one in told.acknowledgements where one.server == name {
        times[one.writer] = min(times[one.writer] ?? one.time, one.time)
      }
      first.append(max(.zero, (times.values.min() ?? promoted) - promoted))
      everybody.append(max(.zero, (times.values.max() ?? promoted) - promoted))
      let verdict = try Verdict(told, on: cluster.addresses[standby])
      report(
        "kill \(kill): \(verdict.text), \(told.unknownCount) asked for; first write after "
          + "\(first.last?.inMilliseconds ?? ""), all writers after "
          + "\(everybody.last?.inMilliseconds ?? "")")
      figures.failed += verdict.isRight && told.unexpected.isEmpty ? 0 : 1
      for what in verdict.problems + told.unexpected.prefix(5) { complain("kill \(kill): \(what)") }
      if let last = first.last, last > .seconds(1) {
        figures.failed += 1
        complain("kill \(kill): the first write came late")
      }
      all.add(told)
      if kill < kills {
        try cluster.copy(primary, of: standby)
        try cluster.makeSynchronous(standby)
      }
      primary = standby
    }
    // What was acknowledged before the last kills is still there.
    let verdict = try Verdict(all, on: cluster.addresses[primary])
    figures.failed += verdict.isRight ? 0 : 1
    for what in verdict.problems { complain("in the end: \(what)") }
    figures.tried = kills
    figures.details = [
      verdict.text, "\(all.unknownCount) unknown commits asked for",
      "\(writers.retryCount) run again by the pool",
      "first write after the promotion: median \(first.median), longest \(first.longest)",
      "all writers: median \(everybody.median), longest \(everybody.longest)",
    ]
    try figures.end()
  }
}
