import Larder
import LarderSQLite

/// Arrays and ranges on PostgreSQL: their tests, which an index serves, and the arrays of changed JSON.
///
/// See [Array Functions and Operators](https://www.postgresql.org/docs/15/functions-array.html).
enum ArrayForms {
  /// A test of an array's elements, or of a range; nil for any other fragment.
  ///
  /// - Parameter isCondition: whether NULL counts as false.
  static func test(_ fragment: SQLFragment, isCondition: Bool) -> SQLFragment? {
    guard case .form(let form, let operands, _) = fragment.content, let array = operands.first
    else { return nil }
    let test: SQLFragment
    switch form {
    // Containment and overlap never find NULL.
    case .arrayContains("[null]"): test = "(array_position(\(array), NULL) IS NOT NULL)"
    case .arrayContains(let json): test = "(\(array) @> \(elements(json, beside: array)))"
    case .arrayOverlaps(let json): test = "(\(array) && \(elements(json, beside: array)))"
    default: return nil
    }
    return isCondition || !array.isNullable ? test : "coalesce(\(test), FALSE)"
  }

  /// The elements as an array of the column's own type, which the connection makes of the JSON; or a range.
  private static func elements(_ json: String, beside array: SQLFragment) -> SQLFragment {
    SQLFragment(.beside(json, array))
  }

  /// An array's length. The length of an empty array's first dimension is NULL.
  static func length(_ array: SQLFragment) -> SQLFragment {
    "coalesce(array_length(\(array), 1), cardinality(\(array)))"
  }

  /// The type of arrays of values of a kind; those of any kind are JSON.
  static func typeName(of kind: ColumnType.Kind) -> String {
    kind == .any ? "JSONB[]" : "\(kind.cast)".dropFirst(2).uppercased() + "[]"
  }

  /// JSON as a value of a column: an array's JSON as an array, any other as it is.
  static func array(_ json: SQLFragment, storedAs form: StoredForm?) -> SQLFragment {
    guard case .array(let kind)? = form else { return json }
    let type = SQLFragment(text: typeName(of: kind))
    let elements: SQLFragment = kind == .any ? "jsonb_array_elements" : "jsonb_array_elements_text"
    return """
      (SELECT CASE WHEN larder.json IS NOT NULL THEN \
      CAST(ARRAY(SELECT \(elements)(larder.json)) AS \(type)) END \
      FROM (SELECT \(json) OFFSET 0) AS larder (json))
      """
  }

  /// The literal of an array's JSON.
  static func literal(of json: String, _ kind: ColumnType.Kind) throws -> String {
    let element =
      switch kind {
      case .blob: TypeOID.bytea
      case .any: TypeOID.jsonb
      default: TypeOID.text
      }
    return try ServerLiteral.text(of: json, .array(.plain(element)))
  }
}
