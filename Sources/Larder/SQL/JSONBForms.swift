import LarderSQLite

/// JSON as JSONB, in which paths of the SQL standard find what [lies there](https://www.postgresql.org/docs/15/functions-json.html).
package enum JSONBForms {
  package static func form(_ form: SQLForm, _ operands: [SQLFragment]) -> SQLFragment? {
    switch form {
    case .jsonValue(let kind, let path, let isStrict):
      value(kind, in: operands[0], at: path, isStrict)
    case .jsonChange(let changes): changed(operands[0], changes, operands.dropFirst())
    case .jsonDocument: "coalesce(CAST(\(operands[0]) AS JSONB), 'null')"
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
    let range = isStrict ? "" : range(of: kind)
    let value = find(" ? (@.type() \(filter)\(range))", in: json, at: path)
    let text: SQLFragment = """
      (CASE jsonb_typeof(\(value)) WHEN 'string' THEN \(value) #>> '{}' \
      ELSE CAST(CAST('no text: ' || CAST(\(value) AS TEXT) AS BIGINT) AS TEXT) END COLLATE "C")
      """
    // As text, a number in quotes is none.
    return switch kind {
    case .integer where !isStrict: "CAST(CAST(CAST(\(value) AS TEXT) AS NUMERIC) AS BIGINT)"
    case .integer: "CAST(CAST(\(value) AS TEXT) AS BIGINT)"
    case .number, .decimal: "CAST(CAST(\(value) AS TEXT) AS NUMERIC)"
    case .real: "CAST(CAST(\(value) AS TEXT) AS DOUBLE PRECISION)"
    case .bool: "CAST(\(value) AS BOOLEAN)"
    case .text: text
    case .uuid: "CAST(\(text) AS UUID)"
    case .date:
      """
      (to_char(CAST(\(text) AS TIMESTAMPTZ) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') COLLATE "C")
      """
    case .json: "(CAST(\(value) AS TEXT) COLLATE \"C\")"
    case .type: "(jsonb_typeof(\(find("", in: json, at: path))) COLLATE \"C\")"
    case .count, .valid: "CAST(\(find(".size()", in: json, at: path)) AS BIGINT)"
    }
  }

  /// The numbers that a type has: another one's cast is an error.
  private static func range(of kind: JSONKind) -> String {
    switch kind {
    case .integer: " && @ == @.floor() && @ >= \(Int64.min) && @ <= \(Int64.max)"
    case .real: " && @ >= -1.7976931348623157e308 && @ <= 1.7976931348623157e308"
    default: ""
    }
  }

  /// Each change finds what the one before it made in a table of one row: its text stands there once.
  private static func changed(
    _ json: SQLFragment, _ changes: [JSONPathChange], _ values: ArraySlice<SQLFragment>
  ) -> SQLFragment {
    var whole: SQLFragment = "CAST(\(json) AS JSONB)"
    for (number, (change, value)) in zip(changes, values).enumerated() {
      if number == 0, json.kind == .text || change.path.isEmpty {
        whole = changed(whole, by: change, value)
      } else {
        // Without OFFSET the server would write the text in each place of the name.
        whole = """
          (SELECT \(changed("larder.json", by: change, value)) \
          FROM (SELECT \(whole) OFFSET 0) AS larder (json))
          """
      }
    }
    return whole
  }

  /// Each step looks at what is there: names lead into objects alone, numbers into arrays. Nothing can be set in a
  /// number, which is an error.
  private static func changed(
    _ json: SQLFragment, by change: JSONPathChange, _ value: SQLFragment
  ) -> SQLFragment {
    let path = change.path
    let steps = path.map { SQLFragment(text: $0.text.quotedText) }
    let isNothing: SQLFragment = "\(find("", in: json, at: path)) IS NULL"
    if change.kind == .remove {
      let rest: SQLFragment = "\(json) #- ARRAY[\(.list(steps))]"
      return "CASE WHEN \(isNothing) THEN \(json) ELSE \(rest) END"
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
    return change.kind == .insert ? "CASE WHEN \(isNothing) THEN \(new) ELSE \(json) END" : new
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
