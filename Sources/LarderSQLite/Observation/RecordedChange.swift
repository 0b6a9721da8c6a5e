import CSQLite

/// A table of a changeset, as its header tells.
struct RecordedTable {
  let name: String
  /// A byte for each column: its place in the primary key from 1 on, or 0.
  let keys: [UInt8]
  /// Whether changes of rows are those of a patch set, without the values before.
  let isPatch: Bool
  /// The places of the primary key's columns.
  let primaryKey: [Int]
  /// A record in which nothing is defined.
  let blank: [RecordedValue]

  init(name: String, keys: [UInt8], isPatch: Bool) {
    self.name = name
    self.keys = keys
    self.isPatch = isPatch
    primaryKey = keys.indices.filter { keys[$0] != 0 }
    blank = Array(repeating: .undefined, count: keys.count)
  }

  var columnCount: Int { keys.count }

  func isKey(_ index: Int) -> Bool { keys[index] != 0 }

  /// Whether changes of both can be in one group.
  func fits(_ other: RecordedTable) -> Bool { keys == other.keys }

  /// Whether changes of the other table are of this one, in the same format.
  func goesOn(as other: RecordedTable) -> Bool {
    fits(other) && isPatch == other.isPatch && name.foldedName == other.name.foldedName
  }

  func renamed(_ name: String) -> RecordedTable {
    RecordedTable(name: name, keys: keys, isPatch: isPatch)
  }

  /// The values of the primary key's columns.
  func key(of record: [RecordedValue]) -> [RecordedValue] { primaryKey.map { record[$0] } }
}

/// A value in a changeset, by its bytes: two are equal where SQLite's sessions find them equal, so that 0.0
/// isn't -0.0, and text needn't be UTF-8.
enum RecordedValue: Hashable {
  /// The changeset doesn't tell it.
  case undefined
  case null
  case integer(Int64)
  case real(bits: UInt64)
  case text(ArraySlice<UInt8>)
  case blob(ArraySlice<UInt8>)

  /// NaN, which only a changeset made by hand can have, is NULL, as it is for SQLite.
  init(real number: Double) {
    self = number.isNaN ? .null : .real(bits: number.bitPattern)
  }

  /// Reads a column as it is stored. Throws where text in UTF-16 is malformed, and where memory is short.
  init(column: ColumnReader) throws {
    switch column.storageClass {
    case .null: self = .null
    case .integer: self = .integer(column.integer)
    case .real: self.init(real: column.real)
    case .text: self = .text(try column.withUnsafeBytes { Array($0)[...] })
    case .blob: self = .blob(try column.withUnsafeBytes { Array($0)[...] })
    }
  }

  var isDefined: Bool { self != .undefined }

  /// The value for callers; nil where it isn't told. Throws ``ConversionError`` for text that isn't UTF-8.
  var value: DatabaseValue? {
    get throws {
      switch self {
      case .undefined: return nil
      case .null: return .null
      case .integer(let number): return .integer(number)
      case .real(let bits): return .real(Double(bitPattern: bits))
      case .blob(let bytes): return .blob(Array(bytes))
      case .text(let bytes):
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw ConversionError.failure(.malformed, String.self)
        }
        return .text(text)
      }
    }
  }

  /// Binds the value; NULL where it isn't told.
  func bind(to parameter: ParameterBinder) throws {
    switch self {
    case .undefined, .null: try parameter.bindNull()
    case .integer(let number): try parameter.bind(number)
    case .real(let bits): try parameter.bind(Double(bitPattern: bits))
    case .text(let bytes): try bytes.withUnsafeBufferPointer { try parameter.bind(text: $0) }
    case .blob(let bytes): try bytes.withUnsafeBytes { try parameter.bind($0) }
    }
  }
}

/// A change of a row, as a changeset has it. Both records have a value for each column, if an undefined one.
struct RecordedChange {
  var operation: RowChange.Operation
  /// Whether a trigger or a foreign key has made it.
  var isIndirect: Bool
  /// The values before. Of an update in a patch set only those of the primary key are defined.
  var old: [RecordedValue]
  /// The values after.
  var new: [RecordedValue]

  /// The record that has the values of the primary key.
  var keyed: [RecordedValue] { operation == .insert ? new : old }

  /// Whether it is an update of nothing.
  func isEmpty(in table: RecordedTable) -> Bool {
    operation == .update
      && !new.indices.contains { !table.isKey($0) && new[$0].isDefined }
  }

  /// The change that undoes this one.
  func inverted(in table: RecordedTable) -> RecordedChange {
    var inverse = self
    switch operation {
    case .insert: inverse.operation = .delete
    case .delete: inverse.operation = .insert
    case .update:
      for index in new.indices {
        inverse.old[index] = table.isKey(index) ? old[index] : new[index]
        inverse.new[index] = table.isKey(index) ? .undefined : old[index]
      }
      return inverse
    }
    swap(&inverse.old, &inverse.new)
    return inverse
  }
}

extension Changeset.Row {
  /// Throws ``ConversionError`` for text that isn't UTF-8.
  init(_ change: RecordedChange, of table: RecordedTable) throws {
    operation = change.operation
    self.table = table.name
    primaryKey = table.primaryKey
    old = try change.old.map { try $0.value }
    new = try change.new.map { try $0.value }
  }
}
