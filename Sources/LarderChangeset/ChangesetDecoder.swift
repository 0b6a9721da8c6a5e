import CSQLite
import Larder

/// Decodes a changeset or patch set, and throws for malformed bytes. No byte is used before it is checked.
///
/// A table header is `T` (or `P` in a patch set), the number of columns, a byte for each with its position in
/// the primary key, and the NUL-terminated name. A change is its operation, a byte that says whether it is
/// indirect, and one or two records: a type and a value for each column. See
/// [the format](https://github.com/sqlite/sqlite/blob/master/ext/session/sqlite3session.c).
struct ChangesetDecoder {
  enum Item {
    case table(RecordedTable)
    case change(RecordedChange, of: RecordedTable)
  }

  /// The two kinds of input.
  enum Form {
    case changeset
    /// Decisions about conflicts, which SQLite calls a rebase buffer. Some of a row's columns may be
    /// undefined.
    case decisions
  }

  private let bytes: [UInt8]
  private let form: Form
  private var place = 0
  private var table: RecordedTable?

  /// The upper limit of SQLITE_MAX_COLUMN, whatever the build: https://www.sqlite.org/limits.html.
  private static let largestColumnCount = 32_767
  /// The operations' codes: SQLite's own.
  private static let insert = UInt8(SQLITE_INSERT)
  private static let update = UInt8(SQLITE_UPDATE)
  private static let delete = UInt8(SQLITE_DELETE)

  init(_ bytes: [UInt8], _ form: Form = .changeset) {
    self.bytes = bytes
    self.form = form
  }

  /// Calls a closure for each change, in order.
  static func forEach(
    _ bytes: [UInt8], _ form: Form = .changeset,
    _ body: (RecordedChange, RecordedTable) throws -> Void
  ) throws {
    var decoder = ChangesetDecoder(bytes, form)
    while let item = try decoder.next() {
      if case .change(let change, let table) = item { try body(change, table) }
    }
  }

  /// The next table header or change; nil at the end. Throws `ResultCode.corrupt`.
  mutating func next() throws -> Item? {
    guard place < bytes.count else { return nil }
    let first = try byte()
    switch first {
    case UInt8(ascii: "T"), UInt8(ascii: "P"):
      return .table(try nextTable(isPatch: first == UInt8(ascii: "P")))
    default:
      guard let table else { throw corrupt() }
      return .change(try change(first, of: table), of: table)
    }
  }

  private mutating func nextTable(isPatch: Bool) throws -> RecordedTable {
    guard table.map({ $0.isPatch == isPatch }) ?? true, form == .changeset || !isPatch else {
      throw corrupt()
    }
    let count = try number()
    guard count > 0, count <= Self.largestColumnCount else { throw corrupt() }
    let keys = Array(try take(count))
    guard let end = bytes[place...].firstIndex(of: 0),
      let name = String(validating: bytes[place..<end], as: UTF8.self)
    else { throw corrupt() }
    place = end + 1
    let table = RecordedTable(name: name, keys: keys, isPatch: isPatch)
    guard !table.primaryKey.isEmpty else { throw corrupt() }
    self.table = table
    return table
  }

  private mutating func change(_ operation: UInt8, of table: RecordedTable) throws -> RecordedChange
  {
    let isIndirect = try byte() != 0
    switch (operation, form) {
    case (Self.insert, _):
      let new = try record(of: table)
      guard new.indices.allSatisfy({ isTold(new[$0], at: $0, of: table) }) else {
        throw corrupt()
      }
      return RecordedChange(
        operation: .insert, isIndirect: isIndirect, old: table.blank, new: new)
    case (Self.delete, _):
      let old = try record(of: table, keysOnly: table.isPatch)
      guard
        old.indices.allSatisfy({ old[$0].isDefined || (table.isPatch && !table.isKey($0)) })
      else { throw corrupt() }
      return RecordedChange(
        operation: .delete, isIndirect: isIndirect, old: old, new: table.blank)
    case (Self.update, .changeset):
      return try updateOf(table, isIndirect)
    default: throw corrupt()
    }
  }

  /// Whether a value may be here: decisions about an update leave out the columns that it doesn't change.
  private func isTold(_ value: RecordedValue, at index: Int, of table: RecordedTable) -> Bool {
    value.isDefined || (form == .decisions && !table.isKey(index))
  }

  private mutating func updateOf(
    _ table: RecordedTable, _ isIndirect: Bool
  ) throws -> RecordedChange {
    var old = table.isPatch ? table.blank : try record(of: table)
    var new = try record(of: table)
    for index in new.indices {
      if table.isKey(index) {
        if table.isPatch {
          old[index] = new[index]
          new[index] = .undefined
        }
        guard old[index].isDefined else { throw corrupt() }
      } else if !new[index].isDefined {
        // SQLite's rebaser may have written the old value of a column that isn't changed.
        old[index] = .undefined
      }
    }
    return RecordedChange(operation: .update, isIndirect: isIndirect, old: old, new: new)
  }

  private mutating func record(
    of table: RecordedTable, keysOnly: Bool = false
  ) throws -> [RecordedValue] {
    var record = table.blank
    for index in record.indices where !keysOnly || table.isKey(index) {
      record[index] = try value()
    }
    return record
  }

  private mutating func value() throws -> RecordedValue {
    switch Int32(try byte()) {
    case 0: return .undefined
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return .integer(Int64(bitPattern: try word()))
    case SQLITE_FLOAT: return RecordedValue(real: Double(bitPattern: try word()))
    case SQLITE_TEXT: return .text(try take(try number()))
    case SQLITE_BLOB: return .blob(try take(try number()))
    default: throw corrupt()
    }
  }

  // MARK: Bytes

  private mutating func byte() throws -> UInt8 {
    guard place < bytes.count else { throw corrupt() }
    defer { place += 1 }
    return bytes[place]
  }

  private mutating func word() throws -> UInt64 {
    try take(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count <= bytes.count - place else { throw corrupt() }
    defer { place += count }
    return bytes[place..<place + count]
  }

  /// A [variable-length integer](https://www.sqlite.org/fileformat2.html#varint) of 31 bits.
  private mutating func number() throws -> Int {
    var number = 0
    for _ in 0..<5 {
      let next = try byte()
      number = number << 7 | Int(next & 0x7f)
      if next & 0x80 == 0 {
        guard number <= Int(Int32.max) else { throw corrupt() }
        return number
      }
    }
    throw corrupt()
  }

  private func corrupt() -> DatabaseError {
    DatabaseError(
      .corrupt,
      form == .changeset
        ? "the bytes aren't a changeset: byte \(place) is invalid"
        : "the bytes aren't decisions about conflicts: byte \(place) is invalid")
  }
}
