import FoundationEssentials
import Glibc
import LarderReplication
import LarderSQLite
import TestSupport

/// What is lost when a process that writes is killed, and its disk is gone: the time between the last commit that the log
/// has and the last one that was made, over as many tries as there are seconds.
struct LossAtKill: FigureBenchmark {
  let name = "log-loss-at-kill"
  static let role = "--write-until-killed"
  private static let width = 5

  func measure(path: String, seconds: Double) throws -> Figures {
    var losses: [Double] = []
    while losses.count < Int(seconds) {
      let tries = (0..<Self.width).map { "\(path)-\(losses.count + $0)" }
      let children = try tries.map { try ChildProcess.again(Self.role, $0, $0 + "-log") }
      for child in children where child.line() != "ready" { throw Failure() }
      usleep(.random(in: 2_000_000...3_000_000))
      for child in children {
        // Not all of them at the same moment.
        usleep(.random(in: 0...200_000))
        child.kill()
      }
      for path in tries { losses.append(try Self.loss(path)) }
    }
    losses.sort()
    return Figures(
      name: name,
      values: [
        ("tries", Double(losses.count)), ("median_ms", losses[losses.count / 2]),
        ("of_99_in_100_ms", losses[losses.count * 99 / 100 - 1]), ("longest_ms", losses.last ?? 0),
      ])
  }

  private struct Failure: Error {}

  private static func loss(_ path: String) throws -> Double {
    try ReplicatedDatabase.restore(from: FolderSink(path + "-log"), to: path + "-restored")
    let times = try [path, path + "-restored"].map { path in
      try Database(path: path).value("SELECT max(time) FROM moment", as: Int.self) ?? 0
    }
    return Double(times[0] - times[1]) / 1000
  }

  /// The process: a commit about every millisecond, which has the time in microseconds.
  static func write(_ path: String, _ folder: String) throws {
    let pool = try DatabasePool(path: path)
    try pool.inTransaction { db in
      _ = try db.executeUpdate("CREATE TABLE moment (id INTEGER PRIMARY KEY, time INTEGER)")
    }
    try pool.replicate(to: FolderSink(folder)).ship()
    try withExtendedLifetime(pool) {
      Parent.tell("ready")
      while true {
        try pool.inTransaction { db in
          var now = timespec()
          clock_gettime(CLOCK_REALTIME, &now)
          try db.executeUpdate(
            "INSERT INTO moment (time) VALUES (?)", now.tv_sec * 1_000_000 + now.tv_nsec / 1000)
        }
        usleep(1000)
      }
    }
  }
}

/// Restoring a database of as many times 100 MB as there are seconds, with a thousand segments, by the time that it takes
/// to copy the file and to sync the copy; and the bytes that were shipped by those of the pages that had changed.
struct RestoredLog: FigureBenchmark {
  let name = "log-restore"
  private static let segments = 1000
  private static let changes = 50

  private struct Failure: Error {}

  func measure(path: String, seconds: Double) throws -> Figures {
    let rows = Int(seconds * 26_000)
    var configuration = Configuration()
    configuration.synchronous = .normal
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.inTransaction { db in
      _ = try db.executeUpdate("CREATE TABLE document (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    }
    for first in stride(from: 0, to: rows, by: 2000) {
      try pool.inTransaction { db in
        for id in first..<first + 2000 {
          try db.executeUpdate("INSERT INTO document VALUES (?, randomblob(3900))", id)
        }
      }
    }
    let sink = try FolderSink(path + "-log")
    let log = try pool.replicate(to: sink, every: .seconds(3600))
    var shipping = Duration.zero
    shipping = try ContinuousClock().measure { _ = try log.ship(within: .seconds(600)) }
    for _ in 0..<Self.segments {
      try pool.inTransaction { db in
        for _ in 0..<Self.changes {
          try db.executeUpdate(
            "UPDATE document SET body = randomblob(3900) WHERE id = ?", Int.random(in: 0..<rows))
        }
      }
      try log.ship()
    }
    let objects = try sink.list("").filter { $0.name.contains("/log-") }
    let shipped = objects.reduce(0) { $0 + $1.bytes }
    let changed = log.statistics.pages * 4096
    let single = try (0..<3).map { _ in try restore(sink, path) }.sorted()[1]
    try log.keepUp(asAt: Int(Date().timeIntervalSince1970 * 1000) + 2 * 86_400_000)
    let merged = try (0..<3).map { _ in try restore(sink, path) }.sorted()[1]
    try pool.close()
    let copies = try (0..<3).map { _ in try copy(path) }.sorted()
    return Figures(
      name: name,
      values: [
        ("mib", Double(rows) * 4096 / 1_048_576), ("base_s", shipping / .seconds(1)),
        ("copy_s", copies[1]), ("restore_s", single), ("restore_merged_s", merged),
        ("shipped_of_changed", Double(shipped) / Double(max(1, changed))),
      ])
  }

  private func restore(_ sink: FolderSink, _ path: String) throws -> Double {
    let target = path + "-restored"
    defer { unlink(target) }
    return try ContinuousClock().measure {
      _ = try ReplicatedDatabase.restore(from: sink, to: target)
    } / .seconds(1)
  }

  /// Copies the file by `cp`, and syncs the copy.
  private func copy(_ path: String) throws -> Double {
    let target = path + "-copied"
    defer { unlink(target) }
    return try ContinuousClock().measure {
      let process = try ChildProcess("/bin/cp", [path, target])
      guard process.end() == 0 else { throw Failure() }
      let file = open(target, O_RDWR | O_CLOEXEC)
      fsync(file)
      close(file)
    } / .seconds(1)
  }
}
