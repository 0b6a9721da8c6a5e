/// An answer that was not the right one, and no error either: what must never happen.
package struct WrongAnswer: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }

  package static func check<T: Equatable>(_ found: T, _ expected: T, _ what: String) throws {
    if found != expected {
      throw WrongAnswer(description: "\(what) is \(found) instead of \(expected)")
    }
  }
}
