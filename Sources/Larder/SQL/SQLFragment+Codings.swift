import FoundationEssentials
import LarderSQLite

// The stored form of a fragment's values, and what it allows. Two columns are compared only if they are
// stored alike, and SQLite computes only with values that are stored as their type says.

extension SQLFragment {
  /// The form in which the fragment's values are stored; nil if it isn't known, as for anything but a column.
  private var form: StoredForm? { coding?.form ?? (kind == .text ? .own : nil) }

  /// This fragment for use beside another. If the two are stored in different
  /// ways, the result throws when it is bound.
  final func matching(_ other: SQLFragment) -> SQLFragment { matching(other.form) }

  final func matching(_ wanted: StoredForm?) -> SQLFragment {
    guard let form, let wanted, form != wanted else { return self }
    switch (form, wanted) {
    // Whether dates are stored in the same format depends on the connection.
    case (.own, .date(let format)), (.date(let format), .own):
      let condition = SQLFragment(value: DateFormatCondition(format: format))
      return SQLFragment(.choice([condition], [self]), isNullable: isNullable, coding: coding)
    default:
      return .notMatching
    }
  }

  /// The date format of the fragment's column; nil for anything but a column,
  /// and for dates that the engine has a type for.
  package final var dateFormat: DateFormat? { coding.map { $0.dateFormat ?? .iso8601 } }

  /// The kind in which values of a type are stored; nil if the fragment's coding stores them in another form.
  final func storedKind<Value>(of type: Value.Type) -> ColumnType.Kind? {
    guard coding.map({ $0.form == .own }) ?? true else { return nil }
    return (type as? any DatabaseValueConvertible.Type)?.columnType.kind
  }

  /// The collation that the fragment's column declares, in capital letters; nil if that is `BINARY`.
  package final var columnCollation: String? { coding?.collation }

  /// Whether it is a decimal number.
  package final var isDecimal: Bool { coding?.isDecimal ?? false }

  /// The replacement of a column that is stored in another way than the one it is used with.
  static var notMatching: SQLFragment {
    .misuse("two columns that are stored in different forms can't be compared or combined")
  }

  /// The replacement of an operand that a coding stores in another form.
  static var notComputed: SQLFragment {
    .misuse("a column with its own coding is stored in a form that can't be used in a computation")
  }

  /// This fragment as the operand of a function that computes with its values.
  final var computed: SQLFragment {
    guard let coding, coding.form != .own else { return self }
    return .notComputed
  }

  // MARK: Dates as text in several forms

  /// A date's text in one of several forms as the moment that it means, in milliseconds since 1970.
  final func moment(as coding: ExpressionCoding) -> SQLFragment {
    let operand = parenthesized(in: .lowest)
    return SQLFragment(
      .form(.moment, [operand], .call("larder_date", operand)), isNullable: isNullable,
      coding: coding)
  }

  /// A moment as the text that a column of dates in several forms is written with; any other fragment as it is.
  final func dateText(in form: StoredForm) -> SQLFragment {
    guard case .dateText(let format) = form, self.form == .date(.unixMilliseconds) else {
      return self
    }
    let operand = parenthesized(in: .lowest)
    return SQLFragment(
      .form(
        .dateText, [operand],
        .call("larder_date_text", operand, SQLFragment(text: "\(format.rawValue)"))),
      isNullable: isNullable)
  }

  // MARK: Floats

  /// A real number as a Float holds it.
  final var float: SQLFragment {
    if insideFloat != nil { return self }
    return float(as: coding)
  }

  private func float(as coding: ExpressionCoding?) -> SQLFragment {
    let operand = parenthesized(in: .lowest)
    return SQLFragment(
      .form(.float, [operand], .call("larder_float", operand)), isNullable: isNullable,
      coding: coding)
  }

  private var insideFloat: SQLFragment? {
    guard case .form(.float, let operands, _) = content else { return nil }
    return operands.first
  }

  // MARK: Types with a coding of their own

  /// A computed expression as one of a type, with the conversion that the type's coding needs, if it has one.
  final func owned(as coding: ExpressionCoding?) -> SQLFragment {
    guard let coding else { return self }
    if coding.isDecimal { return decimal(as: coding) }
    return coding.isFloat && insideFloat == nil ? float(as: coding) : self
  }

  /// The operand of ``owned(as:)``; nil for any other fragment.
  final var insideOwned: SQLFragment? {
    guard let coding else { return nil }
    return coding.isDecimal ? insideDecimal : coding.isFloat ? insideFloat : nil
  }
}

/// The condition that the connection stores dates in a format, which throws where it doesn't.
private struct DateFormatCondition: DatabaseValueConvertible {
  let format: DateFormat

  init(format: DateFormat) { self.format = format }

  var databaseValue: DatabaseValue { get throws { throw Self.mismatch } }

  init(databaseValue: DatabaseValue) throws { throw ConversionError(.malformed, Date.self) }

  func bind(to parameter: ParameterBinder) throws {
    guard parameter.dateFormat == format else { throw Self.mismatch }
    try parameter.bind(1 as Int64)
  }

  private static var mismatch: DatabaseError {
    DatabaseError(.misuse, "two columns whose dates have different formats can't be compared")
  }
}
