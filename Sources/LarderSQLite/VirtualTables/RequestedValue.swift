import CSQLite

/// A value that a column is compared with, as the column's type has it.
///
/// SQLite converts one side of a comparison by the type of the other; see
/// [Type Conversions Prior To Comparison](https://www.sqlite.org/datatype3.html#type_conversions_prior_to_comparison).
/// The column's own type is known here, that of the other side isn't. Where the result depends on that, nothing is said.
enum RequestedValue: Equatable {
  /// No row can match.
  case none
  /// Nothing can be said: all rows have to be read.
  case any
  /// Rows with this value match; the value itself doesn't where it isn't included.
  case value(DatabaseValue, isIncluded: Bool = true)

  /// What makes the pointer sound: SQLite has made the value for the call that is running.
  init(
    equalTo value: OpaquePointer, _ column: VirtualColumn, isLiteral: Bool, _ format: StorageFormat
  ) {
    guard let given = Self.read(value, column.type, format) else {
      self = .any
      return
    }
    switch (column.type, given) {
    case (_, .null): self = .none
    case (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob):
      self = .value(given)
    case (.integer, .real(let number)):
      self = Int64(exactly: number).map { .value(.integer($0)) } ?? .none
    case (.real, .integer(let number)):
      self = Double(exactly: number).map { .value(.real($0)) } ?? .none
    // A number is compared as a text, or a text as a number, by what the other side is.
    case (.text, .integer), (.text, .real): self = .any
    case (nil, .integer), (nil, .real):
      // By a column of numbers, texts that are numbers would be found, too.
      self = isLiteral || sqlite3_value_frombind(value) != 0 ? .value(given) : .any
    case (nil, .text), (nil, .blob): self = .value(given)
    default: self = .none
    }
  }

  /// One end of a range, the lower or the upper.
  init(
    bound value: OpaquePointer, isLower: Bool, isIncluded: Bool, _ column: VirtualColumn,
    isLiteral: Bool, _ format: StorageFormat
  ) {
    guard let given = Self.read(value, column.type, format) else {
      self = .any
      return
    }
    switch (column.type, given) {
    case (_, .null): self = .none
    case (.integer, .integer), (.real, .real), (.blob, .blob):
      self = .value(given, isIncluded: isIncluded)
    case (.text, .text) where isLiteral || sqlite3_value_frombind(value) != 0:
      // Beside a column of numbers, texts that are numbers would be compared as such.
      self = .value(given, isIncluded: isIncluded)
    case (.integer, .real(let number)):
      let whole = number.rounded(isLower ? .up : .down)
      if let end = Int64(exactly: whole) {
        self = .value(.integer(end), isIncluded: isIncluded || whole != number)
      } else {
        self = (number > 0) == isLower ? .none : .any
      }
    case (.real, .integer(let number)):
      let end = Double(exactly: number)
      self = .value(.real(end ?? Double(number)), isIncluded: isIncluded || end == nil)
    default: self = .any
    }
  }

  /// The value, a text as the number that SQLite makes of it beside a column of numbers. Nil where it can't be read.
  private static func read(
    _ value: OpaquePointer, _ type: StorageClass?, _ format: StorageFormat
  ) -> DatabaseValue? {
    let reader = ColumnReader(value: value, format: format)
    guard type == .integer || type == .real, reader.storageClass == .text else {
      return try? DatabaseValue(column: reader)
    }
    // The value itself stays as it is: SQLite has it for others.
    guard let copy = sqlite3_value_dup(value) else { return nil }
    defer { sqlite3_value_free(copy) }
    _ = sqlite3_value_numeric_type(copy)
    return try? DatabaseValue(column: ColumnReader(value: copy, format: format))
  }
}
