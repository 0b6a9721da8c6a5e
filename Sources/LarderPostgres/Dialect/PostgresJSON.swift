import Larder
import LarderSQLite

/// What lies at a path in JSON, by [jsonpath](https://www.postgresql.org/docs/15/functions-json.html).
///
/// What isn't of the type that is asked for fails, as it does in SQLite once it is read.
enum PostgresJSON {
  static func value(
    _ json: SQLFragment, _ path: SQLFragment, _ kind: ColumnType.Kind
  ) -> SQLFragment {
    let value: SQLFragment
    switch kind {
    case .integer:
      value = """
        WHEN 'boolean' THEN CAST(CAST(v AS BOOLEAN) AS INTEGER) \
        WHEN 'number' THEN CAST(v #>> '{}' AS BIGINT) ELSE CAST(v AS BIGINT)
        """
    case .real: value = "ELSE CAST(v AS DOUBLE PRECISION)"
    case .bool: value = "ELSE CAST(v AS BOOLEAN)"
    case .decimal: value = "ELSE CAST(v #>> '{}' AS NUMERIC)"
    case .text:
      value = """
        WHEN 'number' THEN CAST(CAST('no text: ' || CAST(v AS TEXT) AS BIGINT) AS TEXT) \
        WHEN 'boolean' THEN CAST(CAST(v AS BIGINT) AS TEXT) ELSE v #>> '{}'
        """
    default: return .unsupported("value of that type in JSON")
    }
    return found(json, path, "CASE jsonb_typeof(v) WHEN 'null' THEN NULL \(value) END")
  }

  static func count(_ json: SQLFragment, _ path: SQLFragment) -> SQLFragment {
    let count: SQLFragment =
      "CASE jsonb_typeof(v) WHEN 'array' THEN jsonb_array_length(v) ELSE 0 END"
    return found(json, path, count)
  }

  private static func found(
    _ json: SQLFragment, _ path: SQLFragment, _ result: SQLFragment
  ) -> SQLFragment {
    guard case .text(let text)? = path.boundValue, let steps = JSONPathStep.steps(of: text) else {
      return .unsupported("path like that in JSON")
    }
    let path = SQLFragment(text: ("strict $" + steps.map(self.text).joined()).quotedText)
    return """
      (SELECT \(result) FROM jsonb_path_query(CAST(\(json) AS JSONB), \(path), '{}', true) AS v LIMIT 1)
      """
  }

  private static func text(_ step: JSONPathStep) -> String {
    switch step {
    case .name(let name): return ".\"\(name.escaping("\\\""))\""
    case .element(let index): return "[\(index)]"
    case .last(let index): return "[last - \(index)]"
    }
  }
}
