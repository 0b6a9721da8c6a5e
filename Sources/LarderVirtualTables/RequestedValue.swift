import CSQLite
import Larder

/// The value that a column is compared with, converted to the column's type.
///
/// SQLite converts one side of a comparison by the type of the other; see
/// [Type Conversions Prior To Comparison](https://www.sqlite.org/datatype3.html#type_conversions_prior_to_comparison).
/// Only the column's own type is known here, not that of the other side. If the result depends on it, the
/// request is ``any``.
enum RequestedValue: Equatable {
  /// No row can match.
  case none
  /// The comparison can't be used: all rows have to be read.
  case any
  /// Rows can match only if they are equal to the value or, for a bound, beyond it; the value itself doesn't
  /// match unless it is included.
  case value(DatabaseValue, isIncluded: Bool = true)

  /// Converts the value of an equality. Pointer safety: SQLite has made the value for the current call.
  init(
    equalTo value: OpaquePointer, _ column: VirtualColumn, isLiteral: Bool,
    _ format: StorageFormat
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
    // SQLite compares them as numbers or as texts, depending on the type of the other side.
    case (.text, .integer), (.text, .real): self = .any
    case (nil, .integer), (nil, .real):
      // If the number came from a numeric column, texts that are numbers would match too.
      self = isLiteral || sqlite3_value_frombind(value) != 0 ? .value(given) : .any
    case (nil, .text), (nil, .blob): self = .value(given)
    default: self = .none
    }
  }

  /// Converts a lower or upper bound of a range.
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
      // If the text came from a numeric column, SQLite would compare texts that are numbers as numbers.
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

  /// Reads the value. For a numeric column, text is converted to a number as SQLite does. Nil if it can't be
  /// read.
  private static func read(
    _ value: OpaquePointer, _ type: StorageClass?, _ format: StorageFormat
  ) -> DatabaseValue? {
    let reader = ColumnReader(value: value, format: format)
    guard type == .integer || type == .real, reader.storageClass == .text else {
      return try? DatabaseValue(column: reader)
    }
    // The value itself isn't converted, because SQLite uses it elsewhere too.
    guard let copy = sqlite3_value_dup(value) else { return nil }
    defer { sqlite3_value_free(copy) }
    _ = sqlite3_value_numeric_type(copy)
    return try? DatabaseValue(column: ColumnReader(value: copy, format: format))
  }
}
