import LarderSQLite

/// How a column's values are stored, without their type.
@usableFromInline
package final class ExpressionCoding: Sendable {
  /// A value of the column's type with its coding.
  let code: @Sendable (any DatabaseValueConvertible) -> any DatabaseValueConvertible
  /// The format of dates; nil for values that are none.
  let dateFormat: DateFormat?
  private let type: Any.Type
  private let access: PropertyAccess
  private let optionalType: Any.Type
  private let optionalAccess: PropertyAccess

  /// What reads values of a type, if the coding is one for it, or for what it wraps.
  @usableFromInline
  func access<Value>(for type: Value.Type) -> PropertyAccess? {
    if self.type == type { return access }
    return optionalType == type ? optionalAccess : nil
  }

  init<Value>(_ coding: ColumnCoding<Value>) {
    type = Value.self
    access = .value(coding)
    optionalType = Value?.self
    optionalAccess = .value(coding.optional)
    dateFormat = coding.dateFormat
    code = { coding.coded($0) }
  }
}
