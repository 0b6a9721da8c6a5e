import Foundation
import Larder
import LarderReplication
import ProofSupport
import TestSupport

/// One database with its log: threads write, checkpoints, VACUUMs, changes of the journal and restarts come between,
/// the sink fails. Then the database is restored at random positions.
final class ReplicationTrial {
  let scratch: ScratchFolder
  let model: ReplicatedModel
  let digests: ReplicatedDigests
  let folder: FolderSink
  var random: SeededGenerator
  let path: String
  let seed: UInt64
  var restored = 0
  var copy: String?
  var details = ReplicationFigures()

  init(seed: UInt64) throws {
    self.seed = seed
    scratch = try ScratchFolder(inMemory: true)
    model = ReplicatedModel(seed: seed)
    digests = try ReplicatedDigests(model)
    folder = try FolderSink(scratch.file("log"))
    random = SeededGenerator(seed: seed)
    path = scratch.file("cities.db")
  }

  func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  /// Writes and restores, until as many positions were tried.
  func run(positions: Int) throws {
    let sessions = 3
    for session in 0..<sessions {
      try writeSession(isLast: session == sessions - 1)
      try restoreSome(positions / sessions)
    }
    try checkAll()
    try damageLog()
  }

  // MARK: Writing

  private func configuration() -> Configuration {
    var configuration = Configuration(profile: chance(3) ? .durable : .service)
    configuration.busyTimeout = .seconds(20)
    configuration.journalSizeLimit = [1 << 16, 1 << 18, 64 << 20].randomElement(using: &random)
    return configuration
  }

  private func writeSession(isLast: Bool) throws {
    let configuration = configuration()
    let access: any DatabaseAccess =
      chance(2)
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { try ReplicatedModel.create(in: $0) }
    let sink = FaultySink(
      folder, rate: isLast ? 0 : [0, 30, 150].randomElement(using: &random) ?? 0, seed: seed)
    let interval = Int.random(in: 1...6, using: &random)
    let objectSize: Int = [1 << 14, 1 << 16, 8 << 20].randomElement(using: &random) ?? 1
    let smallestChain: Int = chance(2) ? 1 << 16 : 1 << 19
    var log: ReplicatedDatabase?
    // The sink may fail at the start.
    for _ in 0..<200 where log == nil {
      log = try? access.replicate(
        to: sink, as: "cities",
        .small(
          interval: .milliseconds(interval), objectSize: objectSize, smallestChain: smallestChain))
    }
    guard let log else { throw WrongAnswer(description: "the replication doesn't begin") }
    let copy = chance(2) ? try? FollowedCopy(scratch.file("followed.db"), folder, digests) : nil
    for _ in 0..<Int.random(in: 4...10, using: &random) {
      try burst(access)
      try event(access)
      try copy?.check()
      if chance(4) { try acknowledge(access, log) }
      if chance(3) { try keepUp(log) }
    }
    if chance(3) { try beGone(sink, access, log) }
    if isLast || chance(3) {
      let count = try access.read { try ReplicatedModel.count(in: $0) }
      // A sink that fails makes this late.
      if (try? log.ship(within: .seconds(20))) != nil {
        try expectLatest(atLeast: count)
        try copy?.check(atLeast: count)
      } else if isLast {
        throw WrongAnswer(description: "not shipped: \(String(describing: log.statistics.error))")
      }
    }
    details.reads += copy?.reads ?? 0
    try copy?.close()
    let statistics = log.statistics
    details.generations += statistics.generations
    details.comparisons += statistics.comparisons
    details.faults += sink.faults
    if let error = statistics.error as? DatabaseError, error.code == .readOnly {
      throw WrongAnswer(description: "\(error)")
    }
    if !isLast, chance(4) { try replaceFile(access, log) }
    try access.close()
    if isLast { try compareBytes() }
    if chance(3) { try writeAlone() }
  }

  /// Transactions of several threads, and of another connection.
  func burst(_ access: any DatabaseAccess) throws {
    let counts = (0..<3).map { _ in Int.random(in: 0...12, using: &random) }
    let model = model
    let group = DispatchGroup()
    let errors = Errors()
    for count in counts {
      DispatchQueue.global().async(group: group) {
        do {
          for _ in 0..<count { try access.inTransaction { try model.step(in: $0) } }
        } catch {
          errors.add(error)
        }
      }
    }
    if chance(2) {
      let other = try Database(path: path, configuration: configuration())
      for _ in 0..<5 { try other.inTransaction(.immediate) { try model.step(in: $0) } }
      if chance(2) { _ = try? other.checkpoint(.truncate) }
      try? other.close()
    }
    group.wait()
    try errors.check()
  }

  func event(_ access: any DatabaseAccess) throws {
    do {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: try access.checkpoint(.passive)
      case 1: try access.checkpoint(.restart)
      case 2: try access.checkpoint(.truncate)
      case 3:
        let other = try Database(path: path)
        other.busyTimeout = .milliseconds(5)
        for mode in [CheckpointMode.truncate, .truncate, .full, .passive] {
          _ = try? other.checkpoint(mode)
        }
        try other.close()
      case 4: try access.inDatabase { try $0.executeUpdate("VACUUM") }
      case 5: try goBack(access)
      case 6: usleep(UInt32.random(in: 0...8000, using: &random))
      case 7: try changePageSize(access)
      case 8: try leaveLog(access)
      default: break
      }
    } catch let error as DatabaseError where error.isBusyOrLocked {
      // Others may be in the way.
    }
  }

  /// Replaces the content by that of an earlier copy, for which the writer needs the file for itself.
  private func goBack(_ access: any DatabaseAccess) throws {
    if let copy {
      try access.inDatabase { try $0.restore(from: copy) }
      details.contents += 1
    } else {
      let target = scratch.file("copy.db")
      try access.inDatabase { try $0.backup(to: target) }
      copy = target
    }
  }

  /// Another program writes while nobody replicates.
  private func writeAlone() throws {
    let other = try Database(path: path)
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      try other.inTransaction { try model.step(in: $0) }
    }
    if chance(3) {
      // Leaves the write-ahead log, changes the size of pages, and writes without a log.
      _ = try other.value("PRAGMA journal_mode = delete", as: String.self)
      if chance(2) {
        let size = [1024, 4096, 8192].randomElement(using: &random) ?? 4096
        try other.executeUpdate(SQL(raw: "PRAGMA page_size = \(size)"))
        try other.executeUpdate("VACUUM")
      }
      try other.inTransaction { try model.step(in: $0) }
      details.journals += 1
    }
    if chance(2) { try other.checkpoint(.truncate) }
    try other.close()
  }

  /// What `ship` has acknowledged is there.
  private func acknowledge(_ access: any DatabaseAccess, _ log: ReplicatedDatabase) throws {
    let count = try access.inTransaction { try self.model.step(in: $0) }
    guard (try? log.ship(within: .seconds(3))) != nil else { return }
    try expectLatest(atLeast: count)
    details.acknowledged += 1
  }

  /// Merges segments, as if it were later; and now and then as if all were old, so that much is removed.
  private func keepUp(_ log: ReplicatedDatabase) throws {
    let now = Int(Date().timeIntervalSince1970 * 1000)
    let later =
      [60_000, 3_600_000, 86_400_000, 9 * 86_400_000, 40 * 86_400_000]
      .randomElement(using: &random) ?? 0
    let before = try ReplicatedDatabase.points(in: folder, name: "cities")
    // The sink may fail.
    let isDone = (try? log.keepUp(asAt: now + later)) != nil
    if isDone { details.upkeeps += 1 }
    let after = try ReplicatedDatabase.points(in: folder, name: "cities").map(\.position)
    let gone = before.filter { !after.contains($0.position) }
    details.removed += gone.count
    // Nothing goes within a day, and never the end.
    if let first = gone.first, later < 86_400_000 {
      throw WrongAnswer(description: "the upkeep has removed the point \(first.position)")
    }
    guard let last = before.last else { return }
    guard let end = after.last, end >= last.position else {
      throw WrongAnswer(description: "the upkeep has removed the end \(last.position)")
    }
    if isDone {
      let (_, path) = try restore(.position(end))
      unlink(path)
    }
  }

  // MARK: Restoring

  func restore(_ moment: ReplicatedDatabase.Moment) throws -> (count: Int, path: String) {
    restored += 1
    let target = scratch.file("restored-\(restored).db")
    try ReplicatedDatabase.restore(
      from: folder, to: target, at: moment, check: chance(20) ? .full : .quick)
    let count = try digests.check(target, "\(moment)")
    details.positions += 1
    return (count, target)
  }

  func expectLatest(atLeast count: Int) throws {
    let (found, path) = try restore(.latest)
    guard found >= count else {
      throw WrongAnswer(description: "\(count) was acknowledged, but the log has only \(found)")
    }
    unlink(path)
  }

  private func restoreSome(_ count: Int) throws {
    let points = try ReplicatedDatabase.points(in: folder, name: "cities")
    guard !points.isEmpty else { return }
    for _ in 0..<count {
      guard let point = points.randomElement(using: &random) else { return }
      let isTime = chance(3)
      do {
        let (_, path) = try restore(isTime ? .time(point.date) : .position(point.position))
        unlink(path)
      } catch let error as DatabaseError where isTime && error.code == .notFound {
        // Between two generations nobody knows.
        details.gaps += 1
      }
    }
  }

  /// The rows of later positions are those of later transactions.
  private func checkAll() throws {
    var last = 0
    let points = try ReplicatedDatabase.points(in: folder, name: "cities")
    for point in points where chance(max(1, points.count / 10)) {
      let (count, path) = try restore(.position(point.position))
      unlink(path)
      guard count >= last || details.contents > 0 else {
        throw WrongAnswer(description: "\(point.position) has \(count) after \(last)")
      }
      last = count
    }
  }

  /// The last position is the closed database, byte for byte, apart from the journal's mode.
  private func compareBytes() throws {
    let (_, restored) = try restore(.latest)
    var (one, other) = (
      [UInt8](try ScratchFolder.contents(of: path)),
      [UInt8](try ScratchFolder.contents(of: restored))
    )
    for index in 18...19 where one.count > 20 && other.count > 20 {
      (one[index], other[index]) = (1, 1)
    }
    guard one == other else {
      let page = zip(one, other).enumerated().first { $0.element.0 != $0.element.1 }.map {
        $0.offset
      }
      throw WrongAnswer(
        description: "the bytes differ: \(one.count) and \(other.count), first at \(page ?? -1)")
    }
    unlink(restored)
    details.files += 1
  }
}

/// Errors of several threads.
private final class Errors: @unchecked Sendable {
  private let lock = NSLock()
  private var first: (any Error)?

  func add(_ error: any Error) { lock.withLock { first = first ?? error } }

  func check() throws { if let first { throw first } }
}

extension DatabaseError {
  var isBusyOrLocked: Bool { [.busy, .locked].contains(code) }
}
