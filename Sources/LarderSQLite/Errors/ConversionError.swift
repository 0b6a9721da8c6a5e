/// An error of a value that could not go into or come out of the database exactly.
///
/// Larder converts without loss or not at all: text is never read as 0, NULL never as an empty
/// string, and a number that does not fit throws. The value itself is left out of the error.
public struct ConversionError: Error, Hashable, Sendable {
  /// The kinds of failed conversions.
  public enum Kind: Hashable, Sendable {
    /// NULL, for which the type has no place; an Optional would.
    case null
    /// A value of this storage class can't become the type.
    case storageClass(StorageClass)
    /// The number is too large, too small, or not representable exactly.
    case notExact
    /// The text or bytes aren't in the form that the type or the date format asks for.
    case malformed
    /// The value was written by another coding of columns, such as `.format(.sqlDate)`, than the one that was
    /// to read it.
    case otherCoding(String)
    /// No case of the enumeration, or other raw-value type, has this raw value.
    case unknownRawValue
    /// A NaN, which isn't stored at all, since SQLite would store NULL for it.
    case notANumber
  }

  /// What was wrong with the value.
  public let kind: Kind
  /// The Swift type, for instance `Int`.
  public let type: String
  /// The result column's name, if a column was read.
  public internal(set) var column: String?
  /// The result column's position from 0, if a column was read.
  public internal(set) var index: Int?
  /// The statement that gave the row, if a column was read.
  public internal(set) var sql: String?

  /// The row's position from 0 in the result, if it was counted.
  public package(set) var row: Int?

  /// The part of the value that was wrong, and how, without the value.
  package private(set) var part: String?

  /// Creates an error for a custom conversion to throw.
  public init(_ kind: Kind, _ type: Any.Type) {
    self.kind = kind
    self.type = String(describing: type)
  }

  /// Creates an error for a value that has parts.
  package init(_ kind: Kind, _ type: Any.Type, part: String?) {
    self.init(kind, type)
    self.part = part
  }

  /// Creates the error in code that is inlined into programs, where it takes a call instead of a box and its
  /// filling.
  @usableFromInline
  static func failure(_ kind: Kind, _ type: Any.Type) -> any Error {
    ConversionError(kind, type)
  }

  /// Copies an error, and adds what is known of the column.
  package init(_ error: ConversionError, column: String, index: Int, sql: String) {
    self = error
    self.column = column
    self.index = index
    self.sql = DatabaseError.cut(sql)
  }
}

extension ConversionError: CustomStringConvertible {
  /// One line with the problem, the type, the column and the statement.
  public var description: String {
    var text =
      switch kind {
      case .null: "NULL can't be read as \(type); use Optional<\(type)> where NULL is allowed"
      case .storageClass(let found): "\(found) can't be read as \(type)"
      case .notExact: "the number can't be represented exactly as \(type)"
      // This covers reading and writing: bytes that aren't UTF-8, or NUL if the engine ends texts with it.
      case .malformed where type == "String": "the text isn't UTF-8, or contains a NUL"
      case .malformed: "the value doesn't have the form of \(type)"
      case .otherCoding(let coding):
        "the value is stored in another form of \(type), that of a column declared `as: \(coding)`"
          + (type == "Date" ? ", or of Configuration.dateFormat" : "")
      case .unknownRawValue: "the value isn't a raw value of \(type)"
      case .notANumber: "NaN can't be stored: not every engine supports it"
      }
    if let column, let index { text += " — column “\(column)” at index \(index)" }
    if let row { text += " in row \(row)" }
    if let part { text += ", where \(part)" + (sql == nil ? "" : ",") }
    if let sql { text += " of “\(sql)”" }
    return text
  }
}
