import LarderSQLite

/// Keeps what hooks are told, from whatever thread.
package final class Recorder<Element: Sendable>: Sendable {
  private let list = Lock<[Element]>([])

  package init() {}

  package var elements: [Element] { list.withLock { $0 } }

  package func add(_ element: Element) { list.withLock { $0.append(element) } }

  package func removeAll() { list.withLock { $0.removeAll() } }
}
