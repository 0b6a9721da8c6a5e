import CSQLite
import Larder

/// Encodes changes of rows in SQLite's format; see ``ChangesetDecoder``. Tables without changes are left out.
struct ChangesetEncoder {
  private(set) var bytes: [UInt8] = []
  /// The table of the last header, to which the next changes belong.
  private var table: (name: String, keys: [UInt8])?

  var changeset: Changeset { Changeset(data: bytes) }

  mutating func append(_ change: RecordedChange, of table: RecordedTable) {
    begin(table)
    append(operation: change.operation, isMarked: change.isIndirect)
    switch change.operation {
    case .insert: append(change.new)
    case .delete where table.isPatch: append(table.key(of: change.old))
    case .delete: append(change.old)
    case .update where table.isPatch:
      append(change.new.indices.map { table.isKey($0) ? change.old[$0] : change.new[$0] })
    case .update:
      append(change.old)
      append(change.new)
    }
  }

  /// Appends a conflict's decision about a row: whether the row was replaced.
  mutating func append(
    decision values: [RecordedValue], isDeletion: Bool, isReplaced: Bool, of table: RecordedTable
  ) {
    begin(table)
    append(operation: isDeletion ? .delete : .insert, isMarked: isReplaced)
    append(values)
  }

  /// Appends another encoder's changes, all of which are of one table.
  mutating func append(_ changes: ChangesetEncoder, of table: RecordedTable) {
    guard !changes.bytes.isEmpty else { return }
    var header = ChangesetEncoder()
    header.begin(table)
    begin(table)
    bytes += changes.bytes.dropFirst(header.bytes.count)
  }

  private mutating func begin(_ table: RecordedTable) {
    if let last = self.table, last.name == table.name, last.keys == table.keys { return }
    self.table = (table.name, table.keys)
    bytes.append(UInt8(ascii: table.isPatch ? "P" : "T"))
    append(number: table.columnCount)
    bytes += table.keys
    bytes += table.name.utf8
    bytes.append(0)
  }

  private mutating func append(operation: RowChange.Kind, isMarked: Bool) {
    let code =
      switch operation {
      case .insert: SQLITE_INSERT
      case .update: SQLITE_UPDATE
      case .delete: SQLITE_DELETE
      }
    bytes.append(UInt8(truncatingIfNeeded: code))
    bytes.append(isMarked ? 1 : 0)
  }

  private mutating func append(_ record: [RecordedValue]) {
    for value in record {
      switch value {
      case .undefined: bytes.append(0)
      case .null: append(type: SQLITE_NULL)
      case .integer(let number):
        append(type: SQLITE_INTEGER)
        append(word: UInt64(bitPattern: number))
      case .real(let bits):
        append(type: SQLITE_FLOAT)
        append(word: bits)
      case .text(let text):
        append(type: SQLITE_TEXT)
        append(number: text.count)
        bytes += text
      case .blob(let blob):
        append(type: SQLITE_BLOB)
        append(number: blob.count)
        bytes += blob
      }
    }
  }

  private mutating func append(type: Int32) { bytes.append(UInt8(truncatingIfNeeded: type)) }

  private mutating func append(word: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
    }
  }

  /// Appends a variable-length integer.
  private mutating func append(number: Int) {
    var groups = [UInt8(truncatingIfNeeded: number & 0x7f)]
    var rest = number >> 7
    while rest > 0 {
      groups.append(UInt8(truncatingIfNeeded: rest & 0x7f | 0x80))
      rest >>= 7
    }
    bytes += groups.reversed()
  }
}
