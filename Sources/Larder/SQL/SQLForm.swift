import LarderSQLite

/// A construct with a single meaning that takes several functions in SQLite, or one of this library's own. A
/// dialect recognizes it by this case, and finds the operands beside it.
package enum SQLForm: Sendable {
  /// A decimal number, and its sort key; an engine that has decimal numbers writes the operand as it is.
  case decimal, decimalKey
  case decimalAdd, decimalSubtract, decimalMultiply
  /// The sum over all rows.
  case decimalSum, integerSum
  /// Values of a kind, joined to one text, and the separator.
  case joinedText(ColumnType.Kind)
  /// A call of an aggregate or window function, and a clause that belongs to it.
  case clause
  /// The value at a path in JSON. If it is strict, a value of another kind is an error.
  case jsonValue(JSONKind, [JSONPathStep], isStrict: Bool)
  /// JSON, the first operand, with changes. Each change has an operand of its own.
  case jsonChange([JSONPathChange])
  /// A text that is JSON, as JSON. NULL becomes JSON's null.
  case jsonDocument
  /// A table of the members of an array or object. Its columns are `key`, a
  /// number, and `value`, a pair of the name and the text.
  case jsonRows([JSONPathStep])
  /// A part of such a pair. The operands are the columns that engines may have for it: the part, and its
  /// characters if it is a text.
  case jsonElement
  /// Whether an array at a path in JSON, the first operand, has an element that equals a value, the second.
  case jsonContains(JSONKind, [JSONPathStep])
  /// Whether an array, the operand, has all elements or one element of another, which is given as JSON; for a
  /// range, whether it contains or overlaps another, which is given as a server writes it.
  case arrayContains(String), arrayOverlaps(String)
  /// The number of elements of an array.
  case arrayLength
  /// A term of GROUP BY or ORDER BY at a place in JSON that is also selected. The operand is the selected
  /// expression, which engines want as the term.
  case jsonSelected
  /// A value as JSON.
  case jsonText
  /// Whether a text is JSON, or NULL.
  case jsonCheck
  /// All rows' values as a JSON array, and as a JSON object with the names that stand before them.
  case jsonArray, jsonGroup
  /// A JSON object: its names and values, in turn.
  case jsonObject
  /// A decimal number without its sign.
  case decimalMagnitude
  /// A real number as a Float holds it.
  case float
  /// An integer, or an error where the column's property can't have it.
  case integer
  /// A text that one of the program's own functions has made.
  case ownText
  /// Whether a text begins or ends with another, and the position of one text in another.
  case hasPrefix, hasSuffix, position
  /// Whether a text matches a pattern of LIKE, with a backslash as escape. If the case of letters doesn't
  /// matter, the pattern is folded. A pattern that matches nothing is NULL.
  case like(caseSensitive: Bool)
  /// A date's text in one of several forms, as the moment that it means; and a moment as text.
  case moment, dateText
  /// A format in strftime's notation, and a date, which becomes text in that format.
  case strftime
  /// A date, and modifiers in SQLite's words. The first `months` of them are
  /// years or months, whose length depends on the day.
  case dateAdding(months: Int)
  /// A date as seconds since 1970.
  case seconds
  /// A value converted by a column's affinity, as a comparison with the column
  /// does, and a value that no affinity converts.
  case withAffinity, withoutAffinity
  /// A part of a full-text search, which the layer above describes.
  case textSearch(any Sendable)
  /// Rows that are bound to a parameter as a table. The closure makes the
  /// fragment for engines without such parameters.
  case boundRows(@Sendable () -> SQLFragment?)
  /// A table whose rows a query, the operand, chooses for each row of the tables before it, and the condition of its
  /// join; in SQLite the whole table, and whether its row is a row of the query.
  case lateralRows, lateralCondition
  /// A call of one of the program's own table-valued functions, which only SQLite has.
  case tableFunction
}
