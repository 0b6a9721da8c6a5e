import CSQLite

/// Whether bytes are a changeset or a patch set as far as their form goes. SQLite's own reader looks for the end
/// of a table's name for ever where there is none.
///
/// A table is `T` (or `P` in a patch set), its number of columns, a byte for each that tells whether it is in
/// the primary key, and its name up to NUL. A change is its operation, a byte, and one or two records: for each
/// column a type and a value. See
/// [the format](https://github.com/sqlite/sqlite/blob/master/ext/session/sqlite3session.c).
struct ChangesetFormat {
  private var bytes: ArraySlice<UInt8>
  private(set) var tables: [(name: String, isKey: [Bool])] = []

  /// Nil for bytes that aren't.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes[...]
    guard takeAll() else { return nil }
  }

  private mutating func takeAll() -> Bool {
    var table: (isPatch: Bool, isKey: [Bool])?
    while let first = bytes.popFirst() {
      switch Int32(first) {
      case 0x54, 0x50:
        guard let keys = takeTable() else { return false }
        table = (first == 0x50, keys)
      case SQLITE_INSERT:
        guard let table, take(1), takeRecord(table.isKey.count) else { return false }
      case SQLITE_DELETE:
        guard let table, take(1),
          takeRecord(table.isPatch ? table.isKey.count { $0 } : table.isKey.count)
        else { return false }
      case SQLITE_UPDATE:
        guard let table, take(1), takeRecord(table.isKey.count),
          table.isPatch || takeRecord(table.isKey.count)
        else { return false }
      default: return false
      }
    }
    return true
  }

  private mutating func takeTable() -> [Bool]? {
    guard let count = takeNumber(), count > 0, count <= bytes.count else { return nil }
    let keys = bytes.prefix(count).map { $0 != 0 }
    bytes.removeFirst(count)
    guard let end = bytes.firstIndex(of: 0) else { return nil }
    tables.append((String(decoding: bytes[..<end], as: UTF8.self), keys))
    bytes = bytes[(end + 1)...]
    return keys
  }

  private mutating func takeRecord(_ count: Int) -> Bool {
    for _ in 0..<count {
      guard let type = bytes.popFirst() else { return false }
      switch Int32(type) {
      case 0, SQLITE_NULL: break
      case SQLITE_INTEGER, SQLITE_FLOAT: guard take(8) else { return false }
      case SQLITE_TEXT, SQLITE_BLOB:
        guard let length = takeNumber(), take(length) else { return false }
      default: return false
      }
    }
    return true
  }

  private mutating func take(_ count: Int) -> Bool {
    guard count <= bytes.count else { return false }
    bytes.removeFirst(count)
    return true
  }

  /// A [variable-length integer](https://www.sqlite.org/fileformat2.html#varint) of 32 bits.
  private mutating func takeNumber() -> Int? {
    var number = 0
    for _ in 0..<5 {
      guard let byte = bytes.popFirst() else { return nil }
      number = number << 7 | Int(byte & 0x7f)
      if byte & 0x80 == 0 { return number <= Int(Int32.max) ? number : nil }
    }
    return nil
  }
}
