import FoundationEssentials
import LarderSQLite

/// How a column's values are stored, without their type.
@usableFromInline
package final class ExpressionCoding: Sendable {
  let code: @Sendable (any DatabaseValueConvertible) -> any DatabaseValueConvertible
  let dateFormat: DateFormat?
  /// Whether the values are Decimals: text in SQLite that is compared and computed with as numbers.
  @usableFromInline let isDecimal: Bool
  /// Whether the values are Floats: SQLite computes with Doubles, so that results have to be rounded.
  let isFloat: Bool
  package let form: StoredForm
  /// The declared collation of the column, in capital letters, if it isn't `BINARY`. SQLite knows it by itself.
  package let collation: String?
  /// The coding of a date's moment, if the values are dates as text in several forms.
  let moment: ExpressionCoding?
  private let type: Any.Type
  private let access: PropertyAccess
  private let optionalType: Any.Type
  private let optionalAccess: PropertyAccess

  /// The access that reads values of a type, if the coding is for that type or for the type that it wraps.
  @usableFromInline
  func access<Value>(for type: Value.Type) -> PropertyAccess? {
    if self.type == type { return access }
    return optionalType == type ? optionalAccess : nil
  }

  /// - Parameters:
  ///   - collation: the column's collation.
  ///   - codesValues: whether values need the coding to be stored; false if their type says how.
  init<Value>(
    _ coding: ColumnCoding<Value>, collation: String? = nil, codesValues: Bool = true
  ) {
    self.collation = collation
    moment = coding.isDateText ? ExpressionCoding(ColumnCoding<Date>.unixMilliseconds) : nil
    type = Value.self
    access = .value(coding)
    optionalType = Value?.self
    optionalAccess = .value(coding.optional)
    dateFormat = coding.dateFormat
    isDecimal = coding.columnType.kind == .decimal
    form = coding.form
    isFloat = form == .own && (Value.self == Float.self || Value.self == Float?.self)
    code = { codesValues ? coding.coded($0) : $0 }
  }

  /// The coding of a type's expressions without a column; nil for types that SQLite computes with as stored.
  static func own<Value: DatabaseValueConvertible>(of type: Value.Type) -> ExpressionCoding? {
    let isFloat = type == Float.self || type == Float?.self
    let needsCoding = isFloat || type.columnType.kind == .decimal
    return needsCoding ? ExpressionCoding(ColumnCoding<Value>.plain) : nil
  }

  /// The coding of any type's expressions; nil also if the type isn't a database value's.
  static func own(ofAny type: Any.Type) -> ExpressionCoding? {
    guard let type = type as? any DatabaseValueConvertible.Type else { return nil }
    return own(of: type)
  }
}
