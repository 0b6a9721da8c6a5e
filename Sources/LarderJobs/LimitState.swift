import FoundationEssentials
import Larder

/// The state of a ``JobLimit``. Its row is locked while jobs of the limit are let in, so that on a server two
/// workers don't let in more than there is room for.
struct LimitState: Record {
  var key: String
  /// When blocked jobs are to be looked at again; nil if none are blocked. Also heals what a killed worker, or one
  /// that has ended a job in just the wrong moment, has left.
  var opens: Date?
  /// How many jobs are let in then.
  var step: Int
  /// The pause until the next time, in seconds.
  var pause: Double
  /// The time, in seconds since 1970, by which all starts until now would have been made, one interval after
  /// the other (the theoretical arrival time of the generic cell rate algorithm).
  var free: Double
  var used: Date

  struct Columns: Sendable {
    let key = Column("key", \LimitState.key, .primaryKey)
    let opens = Column("opens", \LimitState.opens, .indexed, as: .unixMilliseconds)
    let step = Column("step", \LimitState.step)
    let pause = Column("pause", \LimitState.pause)
    let free = Column("free", \LimitState.free)
    let used = Column("used", \LimitState.used, as: .unixMilliseconds)
  }
  static let columns = Columns()
  static let table = Table(
    "larder_job_limit", LimitState.init, columns.key, columns.opens, columns.step, columns.pause,
    columns.free, columns.used)

  /// The time after which a full limit is looked at again, although nobody has told of an end.
  private static let healing = 5.0

  /// The limit's row, locked until the end of the transaction.
  static func locked(_ key: String, _ now: Date, _ db: Database) throws -> LimitState {
    for _ in 0..<2 {
      let rows = try filter { $0.key == key }.updated(db) { $0.used = .value(now) }
      if let row = rows.first { return row }
      var row = LimitState(key: key, opens: nil, step: 1, pause: healing, free: 0, used: now)
      try row.insert(db, or: .ignore)
    }
    throw DatabaseError(.internal, "the row of the limit “\(key)” isn't there")
  }

  /// Counts how many of `wanted` jobs may begin now, and notes when to look again if that isn't all of them.
  ///
  /// - Parameter running: how many run already.
  mutating func admit(_ wanted: Int, _ limit: JobLimit, running: Int, _ now: Date) -> Int {
    var admitted = wanted
    var wait = Self.healing
    step = 1
    if let most = limit.running {
      admitted = min(admitted, max(0, most - running))
      step = max(1, most)
    }
    if let starts = limit.starts {
      // Up to a tenth at once, so that a worker that wakes a little late loses none. The interval is longer for
      // that: any period has `starts` at most.
      let burst = max(1, starts / 10)
      let interval = max(limit.period / .seconds(1), 0.001) / Double(max(1, starts - burst + 1))
      let seconds = now.timeIntervalSince1970
      let tolerance = Double(burst - 1) * interval
      // It is later after a clock that was ahead has been set back.
      free = min(free, seconds + limit.period / .seconds(1))
      var begun = 0
      while begun < admitted, free - seconds <= tolerance, starts > 0 {
        free = max(free, seconds) + interval
        begun += 1
      }
      if begun < admitted { wait = min(wait, max(0.001, free - tolerance - seconds)) }
      admitted = begun
      step = min(step == 1 ? burst : step, burst)
      pause = min(Self.healing, interval * Double(burst))
    } else {
      pause = Self.healing
    }
    if admitted < wanted {
      let next = now.addingTimeInterval(wait)
      opens = opens.map { $0 > now ? min($0, next) : next } ?? next
    }
    return admitted
  }

  /// Lets the first blocked jobs of a limit be claimed, also by idle workers. The claim looks whether there is room
  /// for them.
  ///
  /// As many of each queue: no worker may serve that of the first ones, and those of another queue would wait for them.
  static func unblock(_ key: String, _ count: Int, _ db: Database) throws {
    let blocked = StoredJob.filter { $0.limit == key && $0.state == .blocked }
      .order { ($0.priority, $0.id) }
    var jobs = try blocked.claim(db, limit: count) { $0.state = .ready }
    for queue in try jobs.count < count ? [] : blockedQueues(db) {
      let missing = count - jobs.filter { $0.queue == queue }.count
      guard missing > 0 else { continue }
      jobs += try blocked.filter { $0.queue == queue }
        .claim(db, limit: missing) { $0.state = .ready }
    }
    try StoredJob.wakeWorkers(of: jobs, db)
  }

  /// The queues that have blocked jobs. Reads one entry of an index for each.
  private static func blockedQueues(_ db: Database) throws -> [String] {
    var queues: [String] = []
    var rest = StoredJob.filter { $0.state == .blocked }
    while let next = try rest.order({ $0.queue }).select({ $0.queue }).fetchOne(db) {
      queues.append(next)
      rest = StoredJob.filter { $0.state == .blocked && $0.queue > next }
    }
    return queues
  }
}
