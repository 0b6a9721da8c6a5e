import Foundation
import Larder

/// Callers that commit in a queue or pool while somebody misuses it: a thread and a task, which get
/// their turn or a clear error.
final class MisuseCompany: Sendable {
  private struct State {
    var isLeaving = false
    var failure: (any Error)?
  }

  private let state = Lock(State())
  private let working = DispatchGroup()

  init(_ access: any DatabaseAccess) {
    working.enter()
    Thread.detachNewThread { [self] in
      while goesOn { take(Result { try access.inTransaction { try Self.write($0) } }) }
      working.leave()
    }
    working.enter()
    Task.detached { [self] in
      while goesOn {
        do {
          try await access.inTransaction { try Self.write($0) }
        } catch {
          take(.failure(error))
        }
      }
      working.leave()
    }
  }

  /// Waits until they are gone; throws what was wrong with what they were told.
  func leave() throws {
    state.withLock { $0.isLeaving = true }
    working.wait()
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private var goesOn: Bool { state.withLock { !$0.isLeaving && $0.failure == nil } }

  private static func write(_ db: Database) throws {
    try db.executeUpdate("UPDATE town SET population = population + 1 WHERE id = 1")
  }

  private func take(_ outcome: Result<Void, any Error>) {
    guard case .failure(let error) = outcome else { return }
    do {
      try MisuseCall.checkIsClear(error)
    } catch {
      state.withLock { $0.failure = error }
    }
  }
}
