/// Why a value could not go into or come out of the database exactly.
///
/// Larder converts without loss or not at all: text is never read as 0, NULL never as an empty
/// string, and a number that does not fit throws. The value itself is left out of the error.
public struct ConversionError: Error, Hashable, Sendable {
  /// What was wrong with the value.
  public enum Reason: Hashable, Sendable {
    /// NULL, where the type has no place for it; an Optional would.
    case null
    /// A value of this storage class can't become the type.
    case storageClass(StorageClass)
    /// The number is too large, too small, or not representable exactly.
    case notExact
    /// The text or bytes aren't in the form that the type or the date format asks for.
    case malformed
    /// The value is one of the type, but as another coding of columns writes it, such as
    /// `.format(.sqlDate)`, and not the one that was to read it.
    case otherCoding(String)
    /// No case of the enumeration, or other raw-value type, has this raw value.
    case unknownRawValue
    /// SQLite would store NULL for a NaN, so that it isn't stored at all.
    case notANumber
  }

  /// What was wrong.
  public let reason: Reason
  /// The Swift type, for instance `Int`.
  public let type: String
  /// The result column's name, if a column was read.
  public internal(set) var column: String?
  /// The result column's position from 0, if a column was read.
  public internal(set) var index: Int?
  /// The statement that gave the row, if a column was read.
  public internal(set) var sql: String?

  /// The row's position from 0 in the result, where it was counted.
  public package(set) var row: Int?

  /// Which part of the value was wrong, and how, without the value.
  package private(set) var part: String?

  /// An error for a conversion of one's own to throw.
  public init(_ reason: Reason, _ type: Any.Type) {
    self.reason = reason
    self.type = String(describing: type)
  }

  /// An error for a value that has parts.
  package init(_ reason: Reason, _ type: Any.Type, part: String?) {
    self.init(reason, type)
    self.part = part
  }

  /// The error to throw from code that is inlined in programs, where it takes a call instead of a box
  /// and its filling.
  @usableFromInline
  static func failure(_ reason: Reason, _ type: Any.Type) -> any Error {
    ConversionError(reason, type)
  }

  /// The same error with what is known of the column.
  package init(_ error: ConversionError, column: String, index: Int, sql: String) {
    self = error
    self.column = column
    self.index = index
    self.sql = DatabaseError.cut(sql)
  }
}

extension ConversionError: CustomStringConvertible {
  /// One line with the reason, the type, the column and the statement.
  public var description: String {
    var text =
      switch reason {
      case .null: "NULL can't be read as \(type); use Optional<\(type)> where NULL is allowed"
      case .storageClass(let found): "\(found) can't be read as \(type)"
      case .notExact: "the number can't be represented exactly as \(type)"
      // What a text can't be on either way: bytes that aren't UTF-8, or NUL where the engine ends texts with it.
      case .malformed where type == "String": "the text isn't UTF-8, or has a NUL"
      case .malformed: "the value doesn't have the form of \(type)"
      case .otherCoding(let coding):
        "the value has another form of \(type) than is read here: that of a column `as: \(coding)`"
      case .unknownRawValue: "the value is no raw value of \(type)"
      case .notANumber: "NaN can't be stored: not every engine has such a value"
      }
    if let column, let index { text += " — column “\(column)” at index \(index)" }
    if let row { text += " in row \(row)" }
    if let part { text += ", where \(part)" + (sql == nil ? "" : ",") }
    if let sql { text += " of “\(sql)”" }
    return text
  }
}
