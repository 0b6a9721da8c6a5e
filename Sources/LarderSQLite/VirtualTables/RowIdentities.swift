/// The row ids of a table's rows, by which SQLite knows whether two scans of a statement have found the same row: it
/// reads the rows of each side of an OR, and leaves out those that it has had.
///
/// Scans that ask for different rows count them differently. So a row is known by what it holds, and rows that hold
/// the same are counted: a scan that finds one of them finds all.
///
/// Kept while the table is being read, since a statement's scans follow each other; only of rows whose id SQLite asks for.
struct RowIdentities {
  private var known: [[UInt8]: [Int64]] = [:]
  private var last: Int64 = 0

  /// The id of one of the rows that hold the same, which are counted from 0.
  mutating func id(of content: [UInt8], copy: Int) -> Int64 {
    while known[content, default: []].count <= copy {
      last += 1
      known[content, default: []].append(last)
    }
    return known[content]?[copy] ?? 0
  }
}

extension [DatabaseValue] {
  /// The values as bytes, which are the same only for the same values: equal strings of Swift's may have other bytes.
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
