import Larder

/// A table as a changeset's header describes it.
struct RecordedTable {
  let name: String
  /// A byte for each column: its position in the primary key from 1 on, or 0.
  let keys: [UInt8]
  /// Whether the table is from a patch set, whose changes lack the values before.
  let isPatch: Bool
  /// The indexes of the primary key's columns.
  let primaryKey: [Int]
  /// A record whose values are all undefined.
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

  /// Whether changes of both tables can be merged into one group.
  func fits(_ other: RecordedTable) -> Bool { keys == other.keys }

  /// Whether this header continues with the changes of another one: the same table in the same format.
  func goesOn(as other: RecordedTable) -> Bool {
    fits(other) && isPatch == other.isPatch && name.foldedName == other.name.foldedName
  }

  func renamed(_ name: String) -> RecordedTable {
    RecordedTable(name: name, keys: keys, isPatch: isPatch)
  }

  /// The values of the primary key's columns in a record.
  func key(of record: [RecordedValue]) -> [RecordedValue] { primaryKey.map { record[$0] } }
}

/// A value in a changeset, compared by its bytes as SQLite's sessions do: 0.0 isn't -0.0, and text needn't be
/// UTF-8.
enum RecordedValue: Hashable {
  /// The changeset doesn't contain the value.
  case undefined
  case null
  case integer(Int64)
  case real(bits: UInt64)
  case text(ArraySlice<UInt8>)
  case blob(ArraySlice<UInt8>)

  /// Stores NaN as NULL, as SQLite does. Only a changeset made by hand can contain it.
  init(real number: Double) {
    self = number.isNaN ? .null : .real(bits: number.bitPattern)
  }

  /// Reads a column as it is stored. Throws for malformed UTF-16, and if memory is short.
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

  /// The public form of the value; nil if undefined. Throws `ConversionError` for text that isn't UTF-8.
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
          throw ConversionError(.malformed, String.self)
        }
        return .text(text)
      }
    }
  }

  /// Binds the value; NULL if undefined.
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

/// A change of a row, as a changeset describes it. Both records have an element for each column, which may be
/// undefined.
struct RecordedChange {
  var operation: RowChange.Kind
  /// Whether a trigger or a foreign key action made the change.
  var isIndirect: Bool
  /// The values before. For an update in a patch set, only those of the primary key are defined.
  var old: [RecordedValue]
  /// The values after.
  var new: [RecordedValue]

  /// The record that contains the primary key's values.
  var keyed: [RecordedValue] { operation == .insert ? new : old }

  /// Whether this is an update that changes no column.
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
  /// Converts a change for callers. Throws `ConversionError` for text that isn't UTF-8.
  init(_ change: RecordedChange, of table: RecordedTable) throws {
    kind = change.operation
    self.table = table.name
    primaryKey = table.primaryKey
    old = try change.old.map { try $0.value }
    new = try change.new.map { try $0.value }
  }
}

extension PreparedStatement {
  /// Calls a closure while values are bound.
  func with<T>(_ values: [RecordedValue], _ body: () throws -> T) throws -> T {
    defer {
      reset()
      arena.releaseCopies()
    }
    try bind { arena in
      for (index, value) in values.enumerated() {
        try value.bind(
          to: ParameterBinder(arena: arena, index: Int32(truncatingIfNeeded: index + 1)))
      }
    }
    return try body()
  }

  /// The first columns of the current row.
  func row<Value>(_ count: Int, _ read: (ColumnReader) throws -> Value) throws -> [Value] {
    guard let handle else { throw DatabaseError(.misuse, "the statement is closed", sql: sql) }
    return try (0..<count).map { index in
      let index = Int32(truncatingIfNeeded: index)
      let format = connection.storageFormat
      return try read(ColumnReader(statement: handle, index: index, format: format))
    }
  }
}
