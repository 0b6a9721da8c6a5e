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
  /// What lies at a path in JSON; whether a value of another kind is an error.
  case jsonValue(JSONKind, [JSONPathStep], isStrict: Bool)
  /// JSON, the first operand, with changes, each of which has an operand of its own.
  case jsonChange([JSONPathChange])
  /// A text that is JSON, as JSON: null where it is NULL.
  case jsonDocument
  /// A table of what is in an array or object, whose columns are `key`, a number, and `value`, a pair of the name
  /// and the text.
  case jsonRows([JSONPathStep])
  /// A part of such a pair, and the column that engines may have for it.
  case jsonElement
  /// Whether an array at a path in JSON, the first operand, has an element that equals a value, the second.
  case jsonContains(JSONKind, [JSONPathStep])
  /// A term of GROUP BY or ORDER BY, and the selected expression of the same place in JSON, which engines want for it.
  case jsonSelected
  /// A value as JSON.
  case jsonText
  /// Whether a text is JSON, or NULL.
  case jsonCheck
  /// All rows' values as an array of JSON; as an object with the names that stand before them.
  case jsonArray, jsonGroup
  /// An object of JSON: its names and values, in turn.
  case jsonObject
  /// A decimal number without its sign.
  case decimalMagnitude
  /// A real number as a Float holds it.
  case float
  /// An integer, or an error where the column's property can't have it.
  case integer
  /// A text that a function of the program's has made.
  case ownText
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
  /// Rows that are bound to a parameter as a table, and what engines write in its place that have no such parameters.
  case boundRows(@Sendable () -> SQLFragment?)
  /// A call of a table-valued function of the program's own, which only SQLite has.
  case tableFunction
}
