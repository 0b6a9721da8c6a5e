/// A value that equals another only if SQLite stores both as the same bytes.
///
/// Swift's `==` takes texts for equal that look equal, such as "é" in one scalar and in two, and 0.0 for
/// -0.0. A change from one to the other still has to be written, and reported.
@usableFromInline
package struct ExactValue: Hashable {
  @usableFromInline package let value: DatabaseValue

  @inlinable
  package init(_ value: DatabaseValue) { self.value = value }

  @inlinable
  package static func == (left: ExactValue, right: ExactValue) -> Bool {
    left.value.isSame(as: right.value)
  }

  // Values with equal bytes are equal, so their hashes are the same too.
  @inlinable
  package func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

extension DatabaseValue {
  /// Whether SQLite stores both as the same bytes.
  @inlinable
  package func isSame(as other: DatabaseValue) -> Bool {
    switch (self, other) {
    case (.text(let text), .text(let other)): text.isSame(as: other)
    case (.real(let number), .real(let other)): number.bitPattern == other.bitPattern
    default: self == other
    }
  }
}

extension [DatabaseValue] {
  /// Whether SQLite stores both as the same bytes, value by value.
  package func isSame(as other: [DatabaseValue]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
  }
}
