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
      settled as they are, reads see what was acknowledged, and writes go on within a second. Then the primary
      stands still, is shut down, and recovers from a crash of its own; and commits that wait for a standby which
      is gone are cancelled, interrupted, too late or cut off.
    """
  static let options: [String: String?] = ["kills": "3", "seed": "1", "json": nil]

  static func run(_ options: Options) throws {
    let kills = try options.number("kills")
    var trial = try Trial(Figures("failover", unit: "kills", options))
    var random = SeededGenerator(seed: UInt64(try options.number("seed")))
    for kill in 1...kills {
      let moment = UInt32.random(in: 300_000...800_000, using: &random)
      try trial.failOver("kill \(kill)", .killed, after: moment)
    }
    for (what, ending) in [("the primary stands still", Ending.frozen), ("shut down", .shutDown)] {
      try trial.failOver(what, ending, after: 300_000)
    }
    try trial.recover()
    try trial.hold()
    try trial.end()
  }

  /// How a primary ends.
  private enum Ending {
    case killed, shutDown
    /// It stands still, and is killed once the standby has its place.
    case frozen
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

    /// Ends the primary while all write, and has the standby take its place.
    mutating func failOver(_ what: String, _ ending: Ending, after microseconds: UInt32) throws {
      let watch = try oneStandby(cluster.addresses[standby])
      writers.start()
      usleep(microseconds)
      let start = ContinuousClock.now
      switch ending {
      case .killed: try cluster.kill(primary)
      case .shutDown: try cluster.shutDown(primary)
      case .frozen: try cluster.stop(primary)
      }
      try cluster.promote(standby)
      while try watch.value("SELECT pg_is_in_recovery()", as: Bool.self) != false { usleep(500) }
      // What stands still could go on: it has to be gone.
      if ending == .frozen { try cluster.kill(primary) }
      let promoted = ContinuousClock.now
      try watch.close()
      let name = "node\(standby)"
      try writers.waitForAll(since: start, by: { $0 == name }, limit: .seconds(30))
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
        what, told, on: standby, since: start,
        "; first write after \(soonest.inMilliseconds), all writers after \(latest.inMilliseconds)")
      if soonest > .seconds(1) { fail("\(what): the first write came late") }
      figures.tried += ending == .killed ? 1 : 0
      try changePlaces()
    }

    /// Kills a session's process while all write, for which the server ends all sessions, and recovers.
    mutating func recover() throws {
      writers.start()
      usleep(300_000)
      let start = ContinuousClock.now
      try cluster.killSession(primary)
      usleep(100_000)
      try writers.waitForAll(by: { _ in true }, limit: .seconds(30))
      let told = try writers.stop()
      let times = told.acknowledgements.map(\.time).sorted()
      let pause = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .zero
      try judge(
        "a session's process is killed", told, on: primary, since: start,
        "; longest pause \(pause.inMilliseconds)")
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
