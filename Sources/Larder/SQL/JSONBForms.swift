import LarderSQLite

/// JSON as JSONB, in which paths of the SQL standard find what [lies there](https://www.postgresql.org/docs/15/functions-json.html).
package enum JSONBForms {
  package static func form(_ form: SQLForm, _ operands: [SQLFragment]) -> SQLFragment? {
    switch form {
    case .jsonValue(let kind, let path, let isStrict):
      value(kind, in: operands[0], at: path, isStrict)
    case .jsonChange(let path): change(operands[0], path, operands.dropFirst().first)
    case .jsonRows(let path): rows(find("", in: operands[0], at: path))
    case .jsonText: "coalesce(to_jsonb(\(operands[0])), 'null')"
    case .jsonCheck: "(CAST(coalesce(\(operands[0]), 'null') AS JSONB) IS NOT NULL)"
    case .jsonObject: "jsonb_build_object(\(.list(operands)))"
    default: nil
    }
  }

  package static func aggregate(_ operands: [SQLFragment], _ clauses: SQLFragment?) -> SQLFragment {
    operands.count == 1
      ? "coalesce(jsonb_agg(\(operands[0]))\(clauses), '[]')"
      : "coalesce(jsonb_object_agg(\(.list(operands)))\(clauses), '{}')"
  }

  /// What lies at a path, where a filter lets it through.
  private static func find(
    _ filter: String, in json: SQLFragment, at path: [JSONPathStep]
  ) -> SQLFragment {
    let path = SQLFragment(text: (path.standardPath + filter).quotedText)
    return "jsonb_path_query_first(CAST(\(json) AS JSONB), \(path), '{}', true)"
  }

  private static func value(
    _ kind: JSONKind, in json: SQLFragment, at path: [JSONPathStep], _ isStrict: Bool
  ) -> SQLFragment {
    let type = isStrict ? nil : kind.typeName
    let filter = type.map { "== \"\($0)\"" } ?? "!= \"null\""
    let value = find(" ? (@.type() \(filter))", in: json, at: path)
    let text: SQLFragment = """
      (CASE jsonb_typeof(\(value)) WHEN 'string' THEN \(value) #>> '{}' \
      ELSE CAST(CAST('no text: ' || CAST(\(value) AS TEXT) AS BIGINT) AS TEXT) END COLLATE "C")
      """
    // As text, a number in quotes is none.
    return switch kind {
    case .integer: "CAST(CAST(\(value) AS TEXT) AS BIGINT)"
    case .number, .decimal: "CAST(CAST(\(value) AS TEXT) AS NUMERIC)"
    case .real: "CAST(CAST(\(value) AS TEXT) AS DOUBLE PRECISION)"
    case .bool: "CAST(\(value) AS BOOLEAN)"
    case .text: text
    case .uuid: "CAST(\(text) AS UUID)"
    case .date:
      """
      to_char(CAST(\(text) AS TIMESTAMPTZ) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      """
    case .json: "CAST(\(value) AS TEXT)"
    case .type: "jsonb_typeof(\(find("", in: json, at: path)))"
    case .count, .valid: "CAST(\(find(".size()", in: json, at: path)) AS BIGINT)"
    }
  }

  /// Each step looks at what is there: names lead into objects alone, numbers into arrays. Nothing can be set in a
  /// number, which is an error.
  private static func change(
    _ json: SQLFragment, _ path: [JSONPathStep], _ value: SQLFragment?
  ) -> SQLFragment {
    let steps = path.map { SQLFragment(text: $0.text.quotedText) }
    guard let value else {
      let whole: SQLFragment = "CAST(\(json) AS JSONB)"
      let rest: SQLFragment = "\(whole) #- ARRAY[\(.list(steps))]"
      return "CASE WHEN \(find("", in: json, at: path)) IS NULL THEN \(whole) ELSE \(rest) END"
    }
    var new: SQLFragment = "coalesce(CAST(\(value) AS JSONB), 'null')"
    for (depth, step) in path.enumerated().reversed() {
      let found = find("", in: json, at: Array(path[..<depth]))
      let container: SQLFragment =
        switch step {
        case .name:
          "jsonb_typeof(\(found)) WHEN 'array' THEN '0' ELSE coalesce(nullif(\(found), 'null'), '{}')"
        case .element(let index):
          "WHEN \(text: "\(index.magnitude)") <= jsonb_array_length(\(found)) THEN \(found) ELSE '0'"
        }
      new = "jsonb_set(CASE \(container) END, ARRAY[\(steps[depth])], \(new))"
    }
    return new
  }

  private static func rows(_ found: SQLFragment) -> SQLFragment {
    func part(_ name: String, _ function: String, _ type: String) -> SQLFragment {
      """
      SELECT place - 1 AS key, jsonb_build_array(\(text: name), CAST(value AS TEXT)) AS value \
      FROM \(text: function)(CASE jsonb_typeof(\(found)) WHEN '\(text: type)' THEN \(found) END) \
      WITH ORDINALITY AS list
      """
    }
    return """
      LATERAL (\(part("NULL::text", "jsonb_array_elements", "array")) (value, place) \
      UNION ALL \(part("name", "jsonb_each", "object")) (name, value, place))
      """
  }
}
