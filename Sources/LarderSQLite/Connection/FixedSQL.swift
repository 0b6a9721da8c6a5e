import Synchronization

/// SQL that stays the same while the program runs, such as a record's INSERT: each connection's
/// ``StatementCache`` finds its statement by a number instead of by its text.
///
/// A class, since each copy of a text counts a reference, which takes as long as finding it.
@usableFromInline
package final class FixedSQL: Sendable {
  /// The statement.
  package let text: String
  let number: Int

  private static let count = Atomic<Int>(0)

  /// Takes a number for a text.
  package init(_ text: String) {
    self.text = text
    number = Self.count.add(1, ordering: .relaxed).newValue
  }
}
