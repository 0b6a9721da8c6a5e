/// A wait-for graph. Finds deadlocks among a pool's scopes that wait inside of other scopes, such as a read
/// in a transaction, or a transaction in a read.
///
/// Such a wait is endless only if all that it waits for is held by scopes that wait in the same way.
/// Reduction finds this: it repeatedly removes a scope that could proceed, and with it what that scope holds.
/// Any that remain wait for each other.
final class WaitGraph: Sendable {
  private let maximumReaders: Int
  private let waits = Lock<[Wait]>([])

  struct Wait: Equatable {
    let held: EnteredScope.Held
    let wantsReader: Bool
  }

  init(maximumReaders: Int) { self.maximumReaders = maximumReaders }

  /// Notes that a scope waits. Throws if it would wait for ever.
  func add(_ wait: Wait) throws {
    try waits.withLock { waits in
      guard !isEndless(waits + [wait]) else { throw EnteredScope.reentryError }
      waits.append(wait)
    }
  }

  /// Notes that a scope no longer waits.
  func remove(_ wait: Wait) {
    waits.withLock { waits in
      if let index = waits.firstIndex(of: wait) { waits.remove(at: index) }
    }
  }

  private func isEndless(_ waits: [Wait]) -> Bool {
    var left = waits
    while !left.isEmpty {
      let hasReader = left.reduce(0) { $0 + $1.held.readers } < maximumReaders
      let hasWriter = !left.contains { $0.held.writer }
      guard let index = left.firstIndex(where: { $0.wantsReader ? hasReader : hasWriter }) else {
        return true
      }
      left.remove(at: index)
    }
    return false
  }
}
