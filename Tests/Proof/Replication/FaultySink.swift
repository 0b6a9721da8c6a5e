import Foundation
import Larder
import LarderReplication
import TestSupport

/// A folder that fails: it is slow, full, absent or gone for long, loses answers, returns half an object, lists late, gets
/// the same object twice.
final class FaultySink: LogSink, @unchecked Sendable {
  private let folder: FolderSink
  private let lock = NSLock()
  private var random: SeededGenerator
  /// How many calls in a thousand fail.
  private let rate: Int
  /// How many further calls find nobody there.
  private var absent = 0
  /// What was put and isn't listed yet, with the number of lists until then.
  private var late: [String: Int] = [:]
  private var isGone = false
  private(set) var faults = 0

  struct Failure: Error {}

  init(_ folder: FolderSink, rate: Int, seed: UInt64) {
    self.folder = folder
    self.rate = rate
    random = SeededGenerator(seed: seed)
  }

  private enum Fault: CaseIterable { case absent, before, after, twice, half, late, slow, full }

  /// Has nobody there until further notice.
  func beGone(_ isGone: Bool) { lock.withLock { self.isGone = isGone } }

  private func fault() throws -> Fault? {
    lock.lock()
    defer { lock.unlock() }
    if isGone { throw Failure() }
    if absent > 0 {
      absent -= 1
      throw Failure()
    }
    guard Int.random(in: 0..<1000, using: &random) < rate else { return nil }
    faults += 1
    let fault = Fault.allCases.randomElement(using: &random)
    if fault == .absent {
      absent = Int.random(in: 1...6, using: &random)
      throw Failure()
    }
    return fault
  }

  func put(_ name: String, _ bytes: [UInt8]) throws -> Bool {
    switch try fault() {
    case .before: throw Failure()
    case .after:
      _ = try folder.put(name, bytes)
      throw Failure()
    case .twice:
      // The answer to the first time is lost.
      _ = try folder.put(name, bytes)
      return try folder.put(name, bytes)
    case .full: throw DatabaseError(.full, "no space left for \(name)")
    case .late:
      lock.withLock { late[name] = Int.random(in: 1...2, using: &random) }
      return try folder.put(name, bytes)
    case .slow:
      usleep(3000)
      return try folder.put(name, bytes)
    default: return try folder.put(name, bytes)
    }
  }

  func get(_ name: String) throws -> [UInt8]? {
    switch try fault() {
    case .before, .after: throw Failure()
    case .half: return try folder.get(name).map { Array($0.prefix($0.count / 2)) }
    default: return try folder.get(name)
    }
  }

  func list(_ prefix: String) throws -> [LogObject] {
    switch try fault() {
    case .before, .after: throw Failure()
    default:
      let all = try folder.list(prefix)
      return lock.withLock {
        let hidden = late
        late = late.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        // Owners are listed: stores that list late tell an owner by its name.
        return all.filter { hidden[$0.name] == nil }
      }
    }
  }

  func remove(_ name: String) throws {
    if case .before? = try fault() { throw Failure() }
    try folder.remove(name)
  }
}
