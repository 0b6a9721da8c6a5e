import Foundation
import Larder
import LarderBackup
import LarderFleet
import ProofSupport
import TestSupport

/// What has the file open: a queue or pool, or a fleet of which it is a tenant.
enum OpenedAccess: Sendable {
  case access(any DatabaseAccess)
  case fleet(DatabaseFleet)

  private static let key = "main"

  func write(_ body: (Database) throws -> Void) throws {
    switch self {
    case .access(let access): try access.inTransaction { try body($0) }
    case .fleet(let fleet): try fleet.inTransaction(Self.key) { try body($0) }
    }
  }

  func writeInTask(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
    switch self {
    case .access(let access): try await access.inTransaction { try body($0) }
    case .fleet(let fleet): try await fleet.inTransaction(Self.key) { try body($0) }
    }
  }

  func read<T>(_ body: (Database) throws -> T) throws -> T {
    switch self {
    case .access(let access): try access.read { try body($0) }
    case .fleet(let fleet): try fleet.read(Self.key) { try body($0) }
    }
  }

  /// Copies that are made all the time; none of a fleet, whose copies are made at once.
  func copies(into folder: String) throws -> ContinuousBackup? {
    guard case .access(let access) = self else { return nil }
    return try access.backup(every: .milliseconds(1), to: folder, keeping: 2)
  }

  func observe() -> Task<Void, Never>? {
    guard case .access(let access) = self else { return nil }
    return Task {
      do {
        let counts = access.values(of: { db in
          try db.value("SELECT count(*) FROM payment", as: Int.self)
        })
        for try await _ in counts {}
      } catch {}
    }
  }

  func close() throws {
    switch self {
    case .access(let access): try access.close()
    case .fleet(let fleet): try fleet.close()
    }
  }
}

/// What writers were told, and when they have done enough.
final class MovedLedger: Sendable {
  private struct State {
    var acknowledged: Set<Int> = []
    var failure: (any Error)?
    /// Whether it has happened, and stays so: who is acknowledged then, after a first refusal, is told what isn't so.
    var stays = false
    var mayGoOn = false
    var isOver = false
    var refused = 0
    var rest: Int?
    /// Whether what is acknowledged from now on may be in another file.
    var isFrozen = false
  }

  private let state = Lock(State())

  var acknowledged: Set<Int> { state.withLock { $0.acknowledged } }
  var failure: (any Error)? { state.withLock { $0.failure } }
  var isOver: Bool { state.withLock { $0.isOver } }

  /// - Parameter refused: how many had been refused when the write began.
  func acknowledge(_ id: Int, refused: Int) {
    state.withLock { state in
      if !state.isFrozen { state.acknowledged.insert(id) }
      if state.stays, !state.isFrozen, refused > 0 {
        state.failure = WrongAnswer(
          description: "a write was acknowledged that began after another was refused")
      }
    }
  }

  /// How many writes were refused since it has happened.
  var refused: Int { state.withLock { $0.stays ? $0.refused : 0 } }

  func hasHappened(stays: Bool) { state.withLock { $0.stays = stays } }
  func hasPassed() { state.withLock { $0.mayGoOn = true } }

  /// Notes no more: a fleet opens what is there.
  func freeze() { state.withLock { $0.isFrozen = true } }

  /// Has writers end after so many more attempts each.
  func end(after attempts: Int) { state.withLock { $0.rest = attempts } }

  /// Writes until it is refused for good, or has gone on after what passes.
  func write(_ step: (Int) throws -> Void) {
    var (number, after) = (0, 0)
    while number < 1_000_000 {
      let outcome = Result { try step(number) }
      number += 1
      if isEnough(outcome, &after) { break }
    }
    state.withLock { $0.isOver = true }
  }

  func writeInTask(_ opened: OpenedAccess, _ writer: Int) async {
    var (number, after) = (0, 0)
    while number < 1_000_000 {
      let id = number * 3 + writer
      let refused = refused
      let outcome: Result<Void, any Error>
      do {
        try await opened.writeInTask {
          try $0.executeUpdate("INSERT INTO payment VALUES (?, zeroblob(300))", id)
        }
        acknowledge(id, refused: refused)
        outcome = .success(())
      } catch {
        outcome = .failure(error)
      }
      number += 1
      if isEnough(outcome, &after) { break }
    }
    state.withLock { $0.isOver = true }
  }

  private func isEnough(_ outcome: Result<Void, any Error>, _ after: inout Int) -> Bool {
    state.withLock { state in
      if case .failure(let error) = outcome {
        state.refused += 1
        let code = (error as? DatabaseError)?.extendedCode
        if code != .readOnlyMoved, !state.isFrozen {
          state.failure = state.failure ?? error
          return true
        }
      }
      if let rest = state.rest {
        after += 1
        return after > rest
      }
      if state.mayGoOn {
        if case .success = outcome { after += 1 }
        return after > 3
      }
      if state.stays, case .failure = outcome { after += 1 }
      return after > 3 || state.failure != nil
    }
  }
}
