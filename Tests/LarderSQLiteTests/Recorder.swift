@testable import LarderSQLite

/// Keeps what hooks are told, from whatever thread.
final class Recorder<Element: Sendable>: Sendable {
  private let list = Lock<[Element]>([])

  var elements: [Element] { list.withLock { $0 } }

  func add(_ element: Element) { list.withLock { $0.append(element) } }
}
