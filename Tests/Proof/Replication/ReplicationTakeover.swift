import Foundation
import Larder
import LarderReplication
import ProofSupport
import TestSupport

/// Processes, each with a database of its own as on another machine, that take over the log from one another: the
/// former one was killed, or is frozen and goes on later, perhaps after several others, which have removed what told that
/// there was a next one. Then it stops shipping and says so; nothing that it puts by then is restored, and nothing that
/// it has acknowledged is missing.
final class ReplicationTakeover {
  private let scratch: ScratchFolder
  private var model: ReplicatedModel
  private var digests: ReplicatedDigests
  private let folder: FolderSink
  private var random: SeededGenerator
  private var restored = 0
  /// Owners that are frozen, and what the log had when the next one began.
  private var frozen: [(owner: ChildProcess, end: Int?)] = []
  private(set) var details = ReplicationFigures()

  init(seed: UInt64) throws {
    scratch = try ScratchFolder(inMemory: true)
    model = ReplicatedModel(seed: seed)
    digests = try ReplicatedDigests(model)
    folder = try FolderSink(scratch.file("log"))
    random = SeededGenerator(seed: seed)
  }

  /// The process: restores the database unless it is the first one, becomes the owner, writes, and tells which
  /// transactions are acknowledged, and at last that it isn't the owner any more.
  static func own(_ arguments: [String]) throws {
    let (path, sink) = (arguments[0], try FolderSink(arguments[1]))
    var model = ReplicatedModel(seed: UInt64(arguments[2]) ?? 0)
    let isFirst = arguments[3] == "first"
    model.owners = arguments[3].split(separator: ",").compactMap { Int($0) }
    if !isFirst { try ReplicatedDatabase.restore(from: sink, name: "cities", to: path) }
    var configuration = Configuration(profile: .durable)
    configuration.journalSizeLimit = 1 << 18
    let pool = try DatabasePool(path: path, configuration: configuration)
    if isFirst {
      try pool.inTransaction { try ReplicatedModel.create(in: $0) }
    } else {
      // Another machine has no file at the former one's path.
      try pool.inDatabase { _ = try $0.executeUpdate("UPDATE larder_identity SET path = '/gone'") }
    }
    let start = try pool.read { try ReplicatedModel.count(in: $0) }
    if !isFirst { model.owners.append(start) }
    let log = try pool.replicate(to: SlowSink(sink), as: "cities", every: .milliseconds(2))
    Parent.tell("ready \(start)")
    let steps = model
    var round = 0
    while true {
      round += 1
      // Removes the former owners' objects, if it has a whole copy.
      if round % 3 == 0 { try? log.keepUp(asAt: Int(Date().timeIntervalSince1970 * 1000)) }
      let count = try pool.inTransaction { try steps.step(in: $0) }
      do {
        try log.ship(within: .seconds(120))
        Parent.tell(String(count))
      } catch let error as DatabaseError where error.code == .readOnly {
        break
      }
    }
    // It can go on writing, and is told again that nothing of it is shipped.
    let statistics = log.statistics
    try pool.inTransaction { _ = try steps.step(in: $0) }
    do {
      try log.ship(within: .seconds(1))
      Parent.tell("shipped after the loss")
    } catch let error as DatabaseError where error.code == .readOnly {
      let isTold = (statistics.error as? DatabaseError)?.code == .readOnly
      Parent.tell(isTold ? "lost" : "lost without being told")
    }
    try pool.close()
  }

  func run() throws {
    defer { for (owner, _) in frozen { owner.kill() } }
    var acknowledged = 0
    for number in 0..<6 {
      let owners = model.owners.map(String.init).joined(separator: ",")
      let child = try ChildProcess.again(
        Replication.name, "--", scratch.file("cities-\(number).db"), scratch.file("log"),
        String(model.seed), number == 0 ? "first" : owners.isEmpty ? "," : owners)
      guard let words = child.line()?.split(separator: " "), words.first == "ready",
        let start = words.last.flatMap({ Int($0) })
      else { throw WrongAnswer(description: "owner \(number) doesn't begin") }
      if number > 0 {
        guard start >= acknowledged else {
          throw WrongAnswer(
            description: "\(acknowledged) was acknowledged, but owner \(number) begins at \(start)")
        }
        model.owners.append(start)
        digests = try ReplicatedDigests(model, from: digests, until: start)
        details.takeovers += 1
      }
      acknowledged = start
      // Without a whole copy, nobody could take over from the first one.
      if number == 0 { acknowledged = child.line().flatMap { Int($0) } ?? 0 }
      for index in frozen.indices { frozen[index].end = frozen[index].end ?? start }
      while !frozen.isEmpty, number == 5 || Bool.random(using: &random) {
        let (former, end) = frozen.removeFirst()
        try goOn(former, until: end ?? start)
      }
      try restoreSome()
      usleep(UInt32.random(in: 2000...80_000, using: &random))
      if Bool.random(using: &random) {
        child.kill()
        details.kills += 1
        acknowledged = child.remainingLines().compactMap { Int($0) }.max() ?? acknowledged
      } else {
        child.send(SIGSTOP)
        frozen.append((child, nil))
        while let line = child.line(before: .now + .milliseconds(20)) {
          acknowledged = max(acknowledged, Int(line) ?? 0)
        }
      }
      try restoreSome(atLeast: acknowledged)
    }
  }

  /// Has a frozen owner go on after another one has begun.
  private func goOn(_ former: ChildProcess, until start: Int) throws {
    defer { former.kill() }
    former.send(SIGCONT)
    var last = ""
    while let line = former.line() {
      last = line
      if let late = Int(line), late > start {
        throw WrongAnswer(
          description: "\(late) was acknowledged after the next owner began at \(start)")
      }
    }
    guard former.end() == 0, last == "lost" else {
      throw WrongAnswer(description: "a former owner says “\(last)”")
    }
    details.late += 1
  }

  private func restoreSome(atLeast acknowledged: Int = 0) throws {
    let points = try ReplicatedDatabase.points(in: folder)
    // The first owner may have made no whole copy yet.
    if points.isEmpty, acknowledged == 0 { return }
    let latest = try restore(.latest)
    guard latest >= acknowledged else {
      throw WrongAnswer(
        description: "\(acknowledged) was acknowledged, but the log has only \(latest)")
    }
    details.acknowledged += 1
    // The last points of each generation, where a former owner may have put something.
    let ends = Dictionary(grouping: points, by: \.position.generation).values
      .flatMap { $0.suffix(2) }
    for point in ends + (0..<4).compactMap({ _ in points.randomElement(using: &random) }) {
      _ = try restore(.position(point.position))
    }
  }

  private func restore(_ moment: ReplicatedDatabase.Moment) throws -> Int {
    restored += 1
    let target = scratch.file("restored-\(restored).db")
    try ReplicatedDatabase.restore(from: folder, to: target, at: moment, check: .full)
    defer { unlink(target) }
    let count = try digests.check(target, "\(moment) after \(details.takeovers) takeovers")
    details.positions += 1
    return count
  }
}

/// A folder that takes its time before it stores an object, so that owners are frozen while one is on its way.
private struct SlowSink: LogSink {
  private let folder: FolderSink

  init(_ folder: FolderSink) { self.folder = folder }

  func put(_ name: String, _ bytes: [UInt8]) throws -> Bool {
    usleep(.random(in: 0...3000))
    return try folder.put(name, bytes)
  }

  func get(_ name: String) throws -> [UInt8]? { try folder.get(name) }
  func list(_ prefix: String) throws -> [LogObject] { try folder.list(prefix) }
  func remove(_ name: String) throws { try folder.remove(name) }
}
