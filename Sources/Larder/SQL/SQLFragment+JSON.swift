import LarderSQLite

// Values in JSON, by functions that every connection to SQLite has (see `JSONFunctions`). SQLite's own
// functions read some numbers with another last bit, end texts at NUL and don't find all names. Before 3.41
// no index can have them where the schema isn't trusted. Nothing in a call is a parameter, so that an index
// has the same expression.

extension SQLFragment {
  /// The value at a path in JSON, as a value of a kind; NULL if there is none, or null.
  ///
  /// - Parameters:
  ///   - isStrict: whether a value of another kind is an error, and not NULL.
  ///   - isCompared: whether a number of either type will do.
  static func json(
    _ kind: JSONKind, of document: SQLFragment, at path: [JSONPathStep], isStrict: Bool = false,
    isCompared: Bool = true
  ) -> SQLFragment {
    let (document, path) = document.jsonSource(of: path)
    // One index serves numbers of either type.
    let asked = !isStrict && isCompared && (kind == .real || kind == .integer) ? .number : kind
    let arguments = [
      document.parenthesized(in: .lowest), SQLFragment(text: path.json.quotedText),
      SQLFragment(text: asked.rawValue.quotedText),
    ]
    let call = SQLFragment(.call(isStrict ? "larder_json" : "larder_json_if", arguments))
    return SQLFragment(.form(.jsonValue(kind, path, isStrict: isStrict), [document], call))
  }

  /// The fragment as a term of ORDER BY: values of another kind are NULL, so that an index serves it.
  final var orderedJSON: SQLFragment {
    guard case .form(.jsonValue(let kind, let path, isStrict: true), let operands, _) = content,
      [.integer, .real, .text, .bool].contains(kind)
    else { return self }
    return .json(kind == .integer ? .number : kind, of: operands[0], at: path)
  }

  /// The rows of an array or object in JSON.
  static func jsonRows(_ document: SQLFragment, _ path: [JSONPathStep]) -> SQLFragment {
    let (document, path) = document.jsonSource(of: path)
    let call = SQLFragment.call(
      "larder_json_rows", document.parenthesized(in: .lowest),
      SQLFragment(text: path.json.quotedText))
    return SQLFragment(.form(.jsonRows(path), [document], .call("json_each", call)))
  }

  /// Whether a text is JSON, or NULL.
  static func isValidJSON(_ document: SQLFragment) -> SQLFragment {
    let call: SQLFragment = """
      coalesce(\(.call("larder_json_if", document.parenthesized(in: .lowest), "'[]'", "'valid'")), 1)
      """
    return SQLFragment(.form(.jsonCheck, [document], call), isNullable: false)
  }

  /// A value of a column as JSON; null where it is NULL.
  ///
  /// - Parameter kind: what is stored; nil for JSON.
  static func jsonText(_ value: SQLFragment, _ kind: ColumnType.Kind?) -> SQLFragment {
    let operand = value.parenthesized(in: .lowest)
    let text: SQLFragment
    switch kind {
    case nil, .decimal: text = .call("coalesce", operand, "'null'")
    case .integer: text = .call("coalesce", SQLFragment(.cast(value, .text)), "'null'")
    // json_quote rounds to 15 digits.
    case .real:
      text = """
        CASE WHEN \(value.parenthesized(in: .equality)) IS NULL THEN 'null' ELSE printf('%!.17g', \(operand)) END
        """
    case .text, .date: text = .call("json_quote", operand)
    case .bool: text = "CASE \(operand) WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END"
    case .blob, .uuid, .any: return .misuse("JSON can't hold values of that type")
    }
    // A value without a kind is already JSON as a whole.
    return SQLFragment(
      kind == nil
        ? .form(.jsonDocument, [value], text) : .form(.jsonText, [value], text))
  }

  /// Whether it is a value as JSON.
  final var isJSONText: Bool {
    switch content {
    case .form(.jsonText, _, _), .form(.jsonObject, _, _): true
    default: false
    }
  }
}
