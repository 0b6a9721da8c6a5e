import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport

/// Reads on replicas.
enum Replicas: Verb {
  static let help = """
    replicas [--count 400] [--wait 200] [--seed 1] [--json]
      Writes so many times to a primary with two replicas that lag a little, and reads it on them at once: without a
      position another pool's reads are stale now and then, which is shown on purpose; with one, and in the pool
      that has written, none may be. A replica that stands still, or is killed, is left out after --wait
      milliseconds, and comes back; where all are gone the primary answers. After a failover a replica of the old
      primary isn't taken for one of the new.
    """
  static let options: [String: String?] = [
    "count": "400", "wait": "200", "seed": "1", "json": nil,
  ]

  static func run(_ options: Options) throws {
    var trial = try ReplicaTrial(
      count: options.number("count"), waitAtMost: .milliseconds(options.number("wait")),
      Figures("replicas", unit: "reads behind a commit", options))
    let (told, untold, own) = try trial.withLoad {
      (
        try trial.othersReads(trial.count, withPosition: true),
        try trial.othersReads(trial.count, withPosition: false), try trial.ownReads(trial.count)
      )
    }
    trial.note(
      "another pool, without a position", untold, isStaleRight: true, isOfLoss: false)
    trial.note("another pool, with a position", told, isOfLoss: false)
    trial.note("the pool that has written", own, isOfLoss: false)
    let waited = told.times.middle - untold.times.middle
    trial.figures.details.append("a position costs \(waited.inMilliseconds)")
    for (what, reads) in [("with a position", told), ("own", own)] where reads.ofReplicas == 0 {
      trial.fail("\(what): none of the reads was of a replica")
    }
    try trial.whileReplayIsPaused()
    try trial.whileOneStandsStill()
    try trial.whileOneIsKilled()
    try trial.whileAllAreGone()
    try trial.afterFailover()
    try trial.end()
  }
}
