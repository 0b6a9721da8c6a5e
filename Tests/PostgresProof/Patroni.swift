import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport

/// A cluster whose leader Patroni chooses.
enum Patroni: Verb {
  static let help = """
    patroni [--seed 1] [--json]
      Runs three nodes of Patroni with etcd (Debian's packages, which are installed if this is root), with a time
      to live of 20 s and a synchronous standby. Threads and tasks write through a pool while the leader is killed
      (writes go on within 30 s), while Patroni is asked to change the leader (within 5 s), and once what was
      killed leads again. Nothing acknowledged may be lost, nothing be there twice or by half.
    """
  static let options: [String: String?] = ["seed": "1", "json": nil]

  static func run(_ options: Options) throws {
    var trial = try Trial(Figures("patroni", unit: "changes of the leader", options))
    let killed = trial.leader
    try trial.change("killed", to: nil, limit: .seconds(30)) { try $0.kill(killed) }
    let rejoining = ContinuousClock.now
    try trial.cluster.start(killed)
    let rejoined = (ContinuousClock.now - rejoining).inSeconds
    report("node\(killed) is a replica again after \(rejoined)")
    try trial.switchOver(to: try trial.synchronousStandby())
    // Only the synchronous standby may follow: where that is another, it goes, too.
    let other = try trial.synchronousStandby()
    if other != killed {
      try trial.cluster.kill(other)
      try trial.cluster.makeSynchronous(killed)
    }
    try trial.switchOver(to: killed)
    if other != killed { try trial.cluster.start(other) }
    trial.figures.details.append("a replica again after \(rejoined), and later the leader")
    try trial.end()
  }

  private struct Trial {
    let cluster: PostgresCluster
    let writers: Writers
    var leader = 0
    var figures: Figures
    private var all = Writers.Told(first: 1)

    init(_ figures: Figures) throws {
      self.figures = figures
      let start = ContinuousClock.now
      cluster = try PostgresCluster(patroni: ())
      report("three nodes after \((ContinuousClock.now - start).inSeconds)")
      writers = try Writers(cluster.address, serverName: "current_setting('port')")
      _ = try synchronousStandby()
    }

    private func port(_ node: Int) -> String {
      cluster.addresses[node].firstMatch(of: /port=([0-9]+)/).map { String($0.1) } ?? ""
    }

    /// The one that a leader's commits wait for, as soon as there is one.
    func synchronousStandby() throws -> Int {
      let pool = try onePool(cluster.addresses[leader])
      let deadline = ContinuousClock.now + .seconds(60)
      while ContinuousClock.now < deadline {
        let name = try pool.read { db in
          try db.value(
            "SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync'",
            as: String.self)
        }
        // Who may lead Patroni notes a moment later.
        if let name, let node = Int(name.dropFirst("node".count)) {
          try cluster.makeSynchronous(node)
          return node
        }
        usleep(100_000)
      }
      throw Wrong("there is no synchronous standby")
    }

    mutating func switchOver(to standby: Int) throws {
      let leader = leader
      try change("switched over", to: standby, limit: .seconds(5)) {
        try $0.switchOver(from: leader, to: standby)
      }
    }

    /// Has the leader change while all write, and looks at what they were told.
    mutating func change(
      _ what: String, to standby: Int?, limit: Duration, _ body: (PostgresCluster) throws -> Void
    ) throws {
      let old = port(leader)
      writers.start()
      try writers.waitForAll(by: { $0 == old }, limit: .seconds(30))
      usleep(1_000_000)
      let start = ContinuousClock.now
      try body(cluster)
      try writers.waitForAll(by: { $0 != old }, limit: .seconds(60))
      usleep(500_000)
      let told = try writers.stop()
      let times = told.acknowledgements.map(\.time).sorted()
      let gap = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .zero
      let resumed = told.acknowledgements.filter { $0.server != old }
      let first = (resumed.map(\.time).min() ?? start) - start
      let nodes = Set(resumed.map(\.server)).compactMap { port in
        cluster.addresses.indices.first { self.port($0) == port }
      }
      let next = standby ?? nodes.first ?? leader
      // With the addresses of the one that leads now.
      let verdict = try Verdict(told, on: cluster.addresses[next])
      let text =
        "node\(leader) \(what), node\(next) leads: first write after \(first.inSeconds), "
        + "longest pause \(gap.inSeconds)"
      report("\(text); \(verdict.text), \(told.unknownCount) asked for")
      figures.details.append(text)
      figures.tried += 1
      let isRight =
        verdict.isRight && told.unexpected.isEmpty && nodes == [next] && gap < limit
      figures.failed += isRight ? 0 : 1
      for problem in verdict.problems + told.unexpected.prefix(5) {
        complain("\(what): \(problem)")
      }
      if gap >= limit { complain("\(what): writes went on after \(gap.inSeconds)") }
      if nodes != [next] { complain("\(what): led by \(nodes)") }
      leader = next
      all.add(told)
    }

    mutating func end() throws {
      let verdict = try Verdict(all, on: cluster.addresses[leader])
      figures.failed += verdict.isRight ? 0 : 1
      for what in verdict.problems { complain("in the end: \(what)") }
      figures.details += [verdict.text, "\(all.unknownCount) unknown commits asked for"]
      try figures.end()
    }
  }
}
