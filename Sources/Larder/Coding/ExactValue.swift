import LarderSQLite

/// A value that equals another only where SQLite stores the same bytes.
///
/// Swift takes texts for equal that look equal, such as "é" in one scalar and in two, and 0.0 for
/// -0.0; a change from one to the other has to be written.
struct ExactValue: Hashable {
  let value: DatabaseValue

  init(_ value: DatabaseValue) { self.value = value }

  static func == (left: ExactValue, right: ExactValue) -> Bool {
    switch (left.value, right.value) {
    case (.text(let left), .text(let right)): left.isSame(as: right)
    case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
    default: left.value == right.value
    }
  }

  // Equal bytes are equal values, so that their hashes are the same too.
  func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
