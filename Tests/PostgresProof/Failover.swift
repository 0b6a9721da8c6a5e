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
    var trial = try Trial(Figures("failover", unit: "kills", options))
    var random = SeededGenerator(seed: UInt64(try options.number("seed")))
    for kill in 1...kills {
      try trial.kill(kill, after: .random(in: 300_000...800_000, using: &random))
    }
    try trial.hold()
    try trial.end()
  }

  private struct Trial {
    let cluster: PostgresCluster
    let writers: Writers
    var figures: Figures
    private var all = Writers.Told(first: 1)
    /// From the promotion to the first write, and to that of the last writer.
    private var (first, everybody): ([Duration], [Duration]) = ([], [])
    private var primary = 0
    private var standby: Int { 1 - primary }

    init(_ figures: Figures) throws {
      self.figures = figures
      cluster = try PostgresCluster()
      writers = try Writers(cluster.address, serverName: "current_setting('cluster_name')")
      try cluster.makeSynchronous(0)
    }

    /// Kills the primary while all write, and has the standby take its place.
    mutating func kill(_ number: Int, after microseconds: UInt32) throws {
      let watch = try oneStandby(cluster.addresses[standby])
      writers.start()
      usleep(microseconds)
      let killed = ContinuousClock.now
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
      let soonest = max(.zero, (times.values.min() ?? promoted) - promoted)
      let latest = max(.zero, (times.values.max() ?? promoted) - promoted)
      first.append(soonest)
      everybody.append(latest)
      try judge(
        "kill \(number)", told, on: standby, since: killed,
        "; first write after \(soonest.inMilliseconds), all writers after \(latest.inMilliseconds)")
      if soonest > .seconds(1) { fail("kill \(number): the first write came late") }
      figures.tried += 1
      try changePlaces()
    }

    /// What was killed follows the one that has taken its place.
    private mutating func changePlaces() throws {
      try cluster.copy(primary, of: standby)
      try cluster.makeSynchronous(standby)
      primary = standby
    }

    /// Commits that wait for the standby while it is gone, once so that it comes back, and once so that the primary
    /// goes, too.
    mutating func hold() throws {
      let held = HeldCommits(cluster: cluster, writers: writers)
      let start = ContinuousClock.now
      let kept = try held.run(primary: primary, standby: standby, isKilled: false)
      try judge("held, and the standby comes back", kept, on: primary, since: start)
      let lost = try held.run(primary: primary, standby: standby, isKilled: true)
      try judge("held, and the primary is killed", lost, on: standby, since: start)
      primary = standby
    }

    private mutating func judge(
      _ what: String, _ told: Writers.Told, on node: Int,
      since start: ContinuousClock.Instant, _ times: String = ""
    ) throws {
      let verdict = try Verdict(told, on: cluster.addresses[node])
      report("\(what): \(verdict.text), \(told.unknownCount) asked for\(times)")
      let stories = verdict.lost.map { Writers.story(of: $0, in: told, since: start) }
      let problems = verdict.problems + stories + told.unexpected.prefix(5)
      if !problems.isEmpty { fail("\(what): \(problems.joined(separator: "; "))") }
      all.add(told)
    }

    private mutating func fail(_ what: String) {
      figures.failed += 1
      complain(what)
    }

    mutating func end() throws {
      // What was acknowledged before the last kills is still there.
      let verdict = try Verdict(all, on: cluster.addresses[primary])
      for what in verdict.problems { fail("in the end: \(what)") }
      figures.details = [
        verdict.text, "\(all.unknownCount) unknown commits asked for",
        "\(writers.retryCount) run again by the pool",
        "first write after the promotion: median \(first.median), longest \(first.longest)",
        "all writers: median \(everybody.median), longest \(everybody.longest)",
      ]
      try figures.end()
    }
  }
}
