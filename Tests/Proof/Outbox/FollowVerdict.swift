import Larder

/// Whether the consumers' copies are as they have to be.
struct FollowVerdict {
  let isServer: Bool
  private(set) var failures: [String] = []
  private(set) var changes = 0
  private(set) var transactions = 0
  /// Changes that were committed after others that were appended later.
  private(set) var lateCommits = 0

  /// A change: no two have the same version of an item.
  private struct Change: Hashable {
    let key: Int64
    let version: Int
  }

  /// The times of a change on a server, in microseconds.
  private struct Times {
    let changed: Int64
    let committed: Int64
  }

  init(isServer: Bool) { self.isServer = isServer }

  mutating func check(_ store: any DatabaseAccess) throws {
    let committed = try store.read { db in try FollowedChange.order { $0.id }.fetchAll(db) }
    changes = committed.count
    transactions = Set(committed.map { [$0.writer, Int64($0.number)] }).count
    let times = isServer ? try times(store) : [:]
    let expected = committed.map { Change(key: $0.key, version: $0.version) }
    if Set(expected).count != expected.count {
      failures.append("two changes made the same version of an item")
    }
    for consumer in FollowProof.consumers {
      let copies = try store.read { db in
        try ConsumerCopy.filter { $0.consumer == consumer }.order { $0.id }.fetchAll(db)
      }
      let found = copies.map { Change(key: $0.key, version: $0.version) }
      let (missing, unknown) = (
        Set(expected).subtracting(found).count, Set(found).subtracting(expected).count
      )
      if missing > 0 || unknown > 0 || found.count != expected.count {
        failures.append(
          "\(consumer): \(found.count) of \(expected.count) changes, \(missing) missing, "
            + "\(unknown) that weren't committed")
      }
      // With a single writer, commits have one order alone.
      if !isServer, found != expected {
        failures.append("\(consumer): another order than that of the commits")
      }
      checkOrder(copies, consumer)
      if isServer { checkTimes(found, times, consumer) }
    }
  }

  /// Each item's versions and each writer's transactions are in their order.
  private mutating func checkOrder(_ copies: [ConsumerCopy], _ consumer: String) {
    var versions: [Int64: Int] = [:]
    var numbers: [Int64: Int] = [:]
    var position: Int64 = 0
    for copy in copies {
      if copy.version != versions[copy.key, default: 0] + 1 {
        failures.append("\(consumer): version \(copy.version) of item \(copy.key) isn't the next")
      }
      if copy.number < numbers[copy.writer, default: 0] {
        failures.append("\(consumer): transaction \(copy.number) of writer \(copy.writer) is late")
      }
      if copy.position <= position {
        failures.append("\(consumer): position \(copy.position) is late")
      }
      versions[copy.key] = copy.version
      numbers[copy.writer] = copy.number
      position = copy.position
    }
  }

  /// No change comes after one that was made after its commit.
  private mutating func checkTimes(
    _ found: [Change], _ times: [Change: Times], _ consumer: String
  ) {
    var (changed, committed): (Int64, Int64) = (0, 0)
    lateCommits = 0
    for change in found {
      guard let time = times[change] else { continue }
      if time.committed < changed {
        failures.append(
          "\(consumer): \(change) was committed before one that is ahead of it was made")
      }
      if time.committed < committed { lateCommits += 1 }
      changed = max(changed, time.changed)
      committed = max(committed, time.committed)
    }
    if times.count != found.count {
      failures.append("\(consumer): \(times.count) times of \(found.count) changes are known")
    }
  }

  private func times(_ store: any DatabaseAccess) throws -> [Change: Times] {
    struct Row: Decodable {
      let key: Int64
      let version: Int
      let changed: Int64
      let committed: Int64
    }
    let rows = try store.read { db in
      try db.fetch(
        Row.self,
        """
        SELECT "key", "version", "time" AS "changed", \
        CAST(extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000 AS BIGINT) AS "committed" \
        FROM "change"
        """)
    }
    return Dictionary(
      rows.map {
        (
          Change(key: $0.key, version: $0.version),
          Times(changed: $0.changed, committed: $0.committed)
        )
      }
    ) { first, _ in first }
  }
}
