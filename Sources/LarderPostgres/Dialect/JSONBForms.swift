import Larder

/// Places in JSON on PostgreSQL: the text is converted to JSONB, and
/// [paths of the SQL standard](https://www.postgresql.org/docs/15/functions-json.html) find values in it.
enum JSONBForms {
  static func form(_ form: SQLForm, _ operands: [SQLFragment]) -> SQLFragment? {
    switch form {
    case .jsonValue(let kind, let path, let isStrict):
      value(kind, in: operands[0], at: path, isStrict)
    case .jsonChange(let changes):
      ArrayForms.array(
        changed(operands[0], changes, operands.dropFirst()), storedAs: operands[0].storedForm)
    case .jsonDocument: "coalesce(\(document(operands[0])), 'null')"
    case .jsonRows(let path): rows(of: operands[0], at: path)
    case .jsonElement, .jsonSelected: "\(operands[0])"
    case .jsonContains(let kind, let path):
      contains(operands[1], of: kind, in: operands[0], at: path, isCondition: false)
    case .jsonText: "coalesce(to_jsonb(\(operands[0])), 'null')"
    case .jsonCheck where operands[0].storesArray || operands[0].storesRange: "(1 = 1)"
    case .jsonCheck: "(CAST(coalesce(\(operands[0]), 'null') AS JSONB) IS NOT NULL)"
    case .jsonObject: "jsonb_build_object(\(.list(operands)))"
    default: nil
    }
  }

  static func aggregate(_ operands: [SQLFragment], _ clauses: SQLFragment?) -> SQLFragment {
    operands.count == 1
      ? "coalesce(jsonb_agg(\(operands[0]))\(clauses), '[]')"
      : "coalesce(jsonb_object_agg(\(.list(operands)))\(clauses), '{}')"
  }

  /// The JSON of a column or expression.
  private static func document(_ json: SQLFragment) -> SQLFragment {
    switch json.storedForm {
    case .array: "to_jsonb(\(json))"
    case .range:
      "jsonb_build_object('lower', lower(\(json)), 'upper', upper(\(json)))"
    default: "CAST(\(json) AS JSONB)"
    }
  }

  /// The value at a path: names lead only into objects, numbers only into arrays.
  static func find(in json: SQLFragment, at path: some Sequence<JSONPathStep>) -> SQLFragment {
    let path = Array(path)
    let names = path.compactMap { if case .name(let name) = $0 { name } else { nil } }
    // A number needs the standard's path: for `->` a value that is neither an
    // array nor an object has one element, itself.
    guard names.count == path.count else { return find("", in: json, at: path) }
    let document = document(json)
    let steps = names.map { " -> \($0.quotedText)" }.joined()
    return steps.isEmpty ? document : "(\(document)\(text: steps))"
  }

  /// The value at a path, if it passes a filter.
  private static func find(
    _ filter: String, in json: SQLFragment, at path: [JSONPathStep]
  ) -> SQLFragment { first(of: path.standardPath + filter, in: json) }

  private static func first(of path: String, in json: SQLFragment) -> SQLFragment {
    "jsonb_path_query_first(\(document(json)), \(SQLFragment(text: path.quotedText)), '{}', true)"
  }

  /// The number at a path. A sign before anything else is an error, which finds nothing. That takes half the
  /// time of a filter by type.
  private static func number(in json: SQLFragment, at path: [JSONPathStep]) -> SQLFragment {
    first(of: "strict +" + path.standardPath.dropFirst("strict ".count), in: json)
  }

  /// The text of the string at a path.
  private static func string(in json: SQLFragment, at path: [JSONPathStep]) -> SQLFragment {
    guard case .name(let name)? = path.last, path.hasOnlyNames else {
      return "\(find(in: json, at: path)) #>> '{}'"
    }
    return "\(find(in: json, at: path.dropLast())) ->> \(SQLFragment(text: name.quotedText))"
  }

  private static func value(
    _ kind: JSONKind, in json: SQLFragment, at path: [JSONPathStep], _ isStrict: Bool
  ) -> SQLFragment {
    let place = find(in: json, at: path)
    let value: SQLFragment
    var found = place
    if !isStrict, kind == .text, path.isEmpty,
      case .form(.jsonElement, let columns, _) = json.content, columns.count == 2
    {
      return columns[1]
    }
    // Two steps through JSONB take half the time of a path with a filter.
    if !isStrict, kind == .text, json.storedForm == .json, path.hasOnlyNames {
      return """
        (CASE jsonb_typeof(\(place)) WHEN 'string' THEN \(string(in: json, at: path)) END COLLATE "C")
        """
    }
    if !isStrict, kind == .number {
      value = number(in: json, at: path)
    } else if !isStrict, let type = kind.typeName {
      // For a text, the document is converted only once this way.
      value = find(" ? (@.type() == \"\(type)\"\(range(of: kind)))", in: json, at: path)
      if kind == .text { return "((\(value) #>> '{}') COLLATE \"C\")" }
      found = value
    } else {
      value = "nullif(\(place), 'null')"
    }
    let characters: SQLFragment = isStrict ? string(in: json, at: path) : "\(found) #>> '{}'"
    let text: SQLFragment = """
      (CASE jsonb_typeof(\(found)) WHEN 'string' THEN \(characters) WHEN 'null' THEN NULL \
      ELSE CAST(CAST('no text: ' || CAST(\(found) AS TEXT) AS BIGINT) AS TEXT) END COLLATE "C")
      """
    // Casts go through text, in which a JSON string keeps its quotes: so a number in quotes is refused. Comparing texts
    // with null takes less than comparing JSON.
    let digits: SQLFragment =
      isStrict ? "nullif(CAST(\(place) AS TEXT), 'null')" : "CAST(\(value) AS TEXT)"
    return switch kind {
    case .integer where !isStrict: "CAST(CAST(CAST(\(value) AS TEXT) AS NUMERIC) AS BIGINT)"
    case .integer: "CAST(\(digits) AS BIGINT)"
    case .number where !isStrict: "CAST(\(value) AS NUMERIC)"
    case .number, .decimal: "CAST(\(digits) AS NUMERIC)"
    case .real: "CAST(\(digits) AS DOUBLE PRECISION)"
    case .bool: "CAST(\(value) AS BOOLEAN)"
    case .text: text
    case .uuid: "CAST(\(text) AS UUID)"
    case .date:
      """
      (to_char(CAST(\(text) AS TIMESTAMPTZ) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') COLLATE "C")
      """
    case .json: "(CAST(\(value) AS TEXT) COLLATE \"C\")"
    case .type: "(jsonb_typeof(\(place)) COLLATE \"C\")"
    case .count, .valid: "CAST(\(find(".size()", in: json, at: path)) AS BIGINT)"
    }
  }

  // MARK: Containment

  /// Whether an array at a path has an element that equals a value. A GIN index of the document serves it if
  /// all steps of the path are names.
  ///
  /// - Parameter isCondition: whether NULL counts as false.
  static func contains(
    _ value: SQLFragment, of kind: JSONKind, in json: SQLFragment, at path: [JSONPathStep],
    isCondition: Bool
  ) -> SQLFragment? {
    guard let element = text(of: value, kind) else { return nil }
    let test = containment(of: "[\(element)]", in: json, at: path)
    return isCondition ? "(\(test))" : "coalesce(\(test), FALSE)"
  }

  /// A comparison of a place in JSON with a value, as a containment that an index of the document can serve;
  /// nil for other fragments, and if no index could serve it.
  static func holds(_ place: SQLFragment, _ value: SQLFragment) -> SQLFragment? {
    guard
      case .form(.jsonValue(let kind, let path, isStrict: false), let operands, _) =
        place.content, let text = text(of: value, kind), path.hasOnlyNames,
      let json = operands.first
    else { return nil }
    return containment(of: text, in: json, at: path)
  }

  private static func containment(
    of text: String, in json: SQLFragment, at path: [JSONPathStep]
  ) -> SQLFragment {
    let elements = path.lastIndex { if case .element = $0 { true } else { false } }
    let names = path[(elements.map { $0 + 1 } ?? 0)...]
    let part = names.reversed().reduce(text) { "{\($1.text.quotedJSON):\($0)}" }
    let whole = find(in: json, at: path.dropLast(names.count))
    return "\(whole) @> \(SQLFragment(.typed(part, "::jsonb")))"
  }

  /// A value as JSON; nil for kinds that the server may represent differently.
  private static func text(of value: SQLFragment, _ kind: JSONKind) -> String? {
    switch (value.boundValue, kind) {
    case (.integer(let number)?, .integer), (.integer(let number)?, .number): "\(number)"
    case (.integer(let number)?, .bool): number == 0 ? "false" : "true"
    case (.text(let text)?, .text) where !text.utf8.contains(0): text.quotedJSON
    default: nil
    }
  }

  /// A filter for the numbers that a type has, since casting any other is an error.
  private static func range(of kind: JSONKind) -> String {
    switch kind {
    case .integer: " && @ == @.floor() && @ >= \(Int64.min) && @ <= \(Int64.max)"
    case .real: " && @ >= -1.7976931348623157e308 && @ <= 1.7976931348623157e308"
    default: ""
    }
  }

  /// Makes changes in order. Each finds the result of the one before it in a table of one row, so that its
  /// SQL is written only once.
  private static func changed(
    _ json: SQLFragment, _ changes: [JSONPathChange], _ values: ArraySlice<SQLFragment>
  ) -> SQLFragment {
    var whole = document(json)
    for (number, (change, value)) in zip(changes, values).enumerated() {
      if number == 0, json.kind == .text || change.path.isEmpty {
        whole = changed(whole, by: change, value)
      } else {
        // Without OFFSET the server would insert the subquery's SQL wherever its name stands.
        whole = """
          (SELECT \(changed("larder.json", by: change, value)) \
          FROM (SELECT \(whole) OFFSET 0) AS larder (json))
          """
      }
    }
    return whole
  }

  /// Makes one change. Each step checks what is there: names lead only into objects, numbers only into
  /// arrays. Anything else becomes the number 0, in which setting a value is an error.
  private static func changed(
    _ json: SQLFragment, by change: JSONPathChange, _ value: SQLFragment
  ) -> SQLFragment {
    let path = change.path
    let steps = path.map { SQLFragment(text: $0.text.quotedText) }
    let isNothing: SQLFragment = "\(find(in: json, at: path)) IS NULL"
    if change.kind == .remove {
      let rest: SQLFragment = "\(json) #- ARRAY[\(.list(steps))]"
      return "CASE WHEN \(isNothing) THEN \(json) ELSE \(rest) END"
    }
    var new: SQLFragment = "coalesce(CAST(\(value) AS JSONB), 'null')"
    for (depth, step) in path.enumerated().reversed() {
      let found = find(in: json, at: path[..<depth])
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

  /// The rows of what is found in a document: each has a key, a name, the value as JSON, a text's characters, and
  /// name and value as an array.
  private static func rows(of json: SQLFragment, at path: [JSONPathStep]) -> SQLFragment {
    let found = find(in: json, at: path)
    func part(_ name: String, _ function: String, _ type: String) -> SQLFragment {
      elements(
        of: """
          \(text: function)(CASE jsonb_typeof(\(found)) WHEN '\(text: type)' THEN \(found) END)
          """,
        name: name, json: "value",
        text: "CASE jsonb_typeof(value) WHEN 'string' THEN value #>> '{}' END")
    }
    let nothing = "CAST(NULL AS TEXT)"
    if path.isEmpty, json.storedForm == .array(.text) {
      // An array's elements are read from the array itself; arrays in it are JSON.
      let texts = elements(
        of: "unnest(CASE WHEN array_ndims(\(json)) = 1 THEN \(json) END)",
        name: nothing, json: "coalesce(to_jsonb(value), 'null')", text: "CAST(value AS TEXT)")
      let arrays = elements(
        of: "jsonb_array_elements(CASE WHEN array_ndims(\(json)) > 1 THEN \(found) END)",
        name: nothing, json: "value", text: nothing)
      return "LATERAL (\(texts) (value, place) UNION ALL \(arrays) (value, place))"
    }
    // The found value is repeated: named once, in a subquery, it makes the
    // server cache the rows by it, which takes longer.
    return """
      LATERAL (\(part(nothing, "jsonb_array_elements", "array")) (value, place) \
      UNION ALL \(part("name", "jsonb_each", "object")) (name, value, place))
      """
  }

  /// The rows of a function that gives values in order.
  private static func elements(
    of call: SQLFragment, name: String, json: String, text: String
  ) -> SQLFragment {
    """
    SELECT place - 1 AS key, \(text: name) COLLATE "C" AS name, \(text: json) AS json, \
    (\(text: text)) COLLATE "C" AS text, \
    jsonb_build_array(\(text: name), CAST(\(text: json) AS TEXT)) AS value \
    FROM \(call) WITH ORDINALITY AS list
    """
  }
}

extension [JSONPathStep] {
  /// Whether there are steps, all of them names.
  fileprivate var hasOnlyNames: Bool {
    !isEmpty && allSatisfy { if case .name = $0 { true } else { false } }
  }

  /// The path in the SQL standard's language. In strict mode each step finds only a value of the type that it
  /// asks for.
  fileprivate var standardPath: String {
    let steps = map { step in
      switch step {
      case .name(let name): ".\(name.quotedJSON)"
      case .element(let index): index < 0 ? "[last - \(index.magnitude - 1)]" : "[\(index)]"
      }
    }
    return "strict $\(steps.joined())"
  }
}
