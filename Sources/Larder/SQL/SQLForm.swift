/// What is one thing in meaning and takes several functions in SQLite, or one of this library's own: a dialect
/// knows it by this, and finds the operands beside it.
package enum SQLForm: Sendable {
  /// A decimal number, and one in its order; an engine that has decimal numbers writes the operand as it is.
  case decimal, decimalKey
  case decimalAdd, decimalSubtract, decimalMultiply
  /// Of all rows.
  case decimalSum
  /// A decimal number without its sign.
  case decimalMagnitude
  /// A real number as a Float holds it.
  case float
  /// An integer, or an error where the column's property can't have it.
  case integer
  /// Whether a text begins or ends with another; where it is in it.
  case hasPrefix, hasSuffix, position
  /// A format of SQLite's, and a date as text in it.
  case strftime
  /// A date, and modifiers in SQLite's words.
  case dateAdding
  /// The same with years or months, whose length depends on the day.
  case dateAddingMonths
  /// A value as a column of some affinity compares it, and one that converts nothing.
  case withAffinity, withoutAffinity
}
