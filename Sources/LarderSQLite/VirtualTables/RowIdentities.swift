/// The row ids of a virtual table, by which SQLite recognizes a row that two scans of a statement have found:
/// it reads the rows of each side of an OR, and skips those that it has had.
///
/// Scans that ask for different rows would number them differently. So a row is identified by its content,
/// and rows with equal content are counted: a scan that finds one of them finds all.
///
/// Kept as long as the table has open cursors, since a statement's scans follow each other, and only for rows
/// whose id SQLite asks for.
struct RowIdentities {
  private var known: [[UInt8]: [Int64]] = [:]
  private var last: Int64 = 0

  /// The id of the row with this content and number among the rows with equal content, from 0 on.
  mutating func id(of content: [UInt8], copy: Int) -> Int64 {
    while known[content, default: []].count <= copy {
      last += 1
      known[content, default: []].append(last)
    }
    return known[content]?[copy] ?? 0
  }
}

extension [DatabaseValue] {
  /// The values as bytes that are equal only for identical values: equal Swift strings may differ in their
  /// bytes.
  var identity: [UInt8] {
    var bytes: [UInt8] = []
    for value in self {
      bytes.append(UInt8(truncatingIfNeeded: value.storageClass.rawValue))
      switch value {
      case .null: break
      case .integer(let number): bytes.append(number.bitPattern)
      case .real(let number): bytes.append(number.bitPattern)
      case .text(let text):
        bytes.append(UInt64(text.utf8.count))
        bytes += text.utf8
      case .blob(let content):
        bytes.append(UInt64(content.count))
        bytes += content
      }
    }
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ number: UInt64) {
    Swift.withUnsafeBytes(of: number) { append(contentsOf: $0) }
  }
}

extension Int64 {
  fileprivate var bitPattern: UInt64 { UInt64(bitPattern: self) }
}
