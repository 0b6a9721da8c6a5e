import LarderSQLite

/// What is one thing in meaning and takes several functions in SQLite, or one of this library's own: a dialect
/// knows it by this, and finds the operands beside it.
package enum SQLForm: Sendable {
  /// A decimal number, and one in its order; an engine that has decimal numbers writes the operand as it is.
  case decimal, decimalKey
  case decimalAdd, decimalSubtract, decimalMultiply
  /// Of all rows.
  case decimalSum, integerSum
  /// Values of a kind as one text, and what stands between them.
  case joinedText(ColumnType.Kind)
  /// A call of an aggregate or window function, and a clause that belongs to it.
  case clause
  /// JSON, and the path to a value of this type in it, or to an array whose elements are counted.
  case jsonValue(ColumnType), jsonCount
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
  /// A date, and modifiers in SQLite's words, the first ones of which are years or months, whose length depends
  /// on the day.
  case dateAdding(months: Int)
  /// A date as seconds since 1970.
  case seconds
  /// A value as a column of some affinity compares it, and one that converts nothing.
  case withAffinity, withoutAffinity
  /// A part of full-text search, and what engines write in its place that have text search vectors instead.
  case textSearch(@Sendable () -> SQLFragment)
}
