import Synchronization

/// SQL that stays the same while the program runs, such as a record's INSERT: each connection's
/// ``StatementCache`` finds its statement by a number instead of by its text.
///
/// A class, because copying a String counts a reference, which takes as long as the look-up itself.
@usableFromInline
package final class FixedSQL: Sendable {
  package let text: String
  let number: Int

  private static let count = Atomic<Int>(0)

  package init(_ text: String) {
    self.text = text
    number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
