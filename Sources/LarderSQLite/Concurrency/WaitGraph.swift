/// A wait-for graph: finds deadlocks among the scopes of a pool that wait inside of others, such as a
/// read in a transaction, or a transaction in a read.
///
/// Such a wait is endless only where all that it is for is held by others who wait in the same way. That
/// shows by reduction: whoever could have what it waits for, were all to end who don't wait, gives
/// back what it holds, and so on; those who are left wait for one another.
final class WaitGraph: Sendable {
  private let maximumReaders: Int
  private let waits = Lock<[Wait]>([])

  struct Wait: Equatable {
    let held: EnteredScope.Held
    let wantsReader: Bool
  }

  init(maximumReaders: Int) { self.maximumReaders = maximumReaders }

  /// Notes that a scope waits. Throws where that would never end.
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
