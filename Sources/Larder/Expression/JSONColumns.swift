import LarderSQLite

// Columns and expressions that hold JSON, and values that become JSON.

extension SQLExpression where Value: Codable {
  /// The JSON that the column holds, as a whole: `$0.tags.json.count`. See ``JSONExpression``.
  public var json: JSONExpression {
    get { JSONExpression(jsonDocument) }
    set { self = SQLExpression(newValue.assigned(to: jsonDocument, [])) }
  }

  /// The value with a name in the column's JSON object. See ``JSONExpression``.
  public subscript(name: String) -> JSONExpression {
    get { json[name] }
    set { json[name] = newValue }
  }

  /// An element of the column's JSON array. See ``JSONExpression``.
  public subscript(index: Int) -> JSONExpression {
    get { json[index] }
    set { json[index] = newValue }
  }

  /// Whether the column's text is valid JSON, or NULL. PostgreSQL throws ``LarderSQLite/DatabaseError`` for
  /// invalid JSON.
  ///
  /// Reading a record whose column holds invalid JSON throws ``RecordError`` with the record's key.
  public var isValidJSON: SQLExpression<Bool> { SQLExpression<Bool>(.isValidJSON(jsonDocument)) }
}

extension JSONExpression {
  /// The JSON in a column of the same table, for a generated column.
  public init(column name: String) { self.init(SQLFragment(text: name.quotedIdentifier)) }
}

extension SQLExpression {
  /// The expression, if its type or coding holds JSON; a misuse otherwise.
  var jsonDocument: SQLFragment {
    let isJSON = node.coding.map(\.form.isJSON) ?? (node.storedKind(of: Value.self) == .text)
    return isJSON ? node : .misuse("a column of the type \(Value.self) doesn't hold JSON")
  }

  /// The value as JSON.
  var jsonText: SQLFragment {
    if node.coding?.form.isJSON == true || Value.self is any JSONDocument.Type {
      return .jsonText(node, nil)
    }
    if let format = node.coding?.dateFormat ?? (isDate ? .secondsSince1970 : nil),
      format != .iso8601
    {
      return .jsonText(formatted("%Y-%m-%dT%H:%M:%fZ"), .date)
    }
    let kind = node.storedKind(of: Value.self) ?? (node.dateFormat != nil ? .date : .any)
    return .jsonText(node, kind)
  }

  private var isDate: Bool {
    (Value.self as? any DatabaseValueConvertible.Type)?.columnType.kind == .date
  }
}

// MARK: Rows as JSON

extension SQLExpression {
  /// The values of all rows as an array, in an unspecified order; empty if there are no rows.
  ///
  /// ```swift
  /// City.all.group { $0.country }.select { ($0.country, $0.name.jsonArray()) }
  /// // SELECT "city"."country", json_group_array(json(json_quote("city"."name"))) FROM … GROUP BY …
  /// ```
  public func jsonArray() -> SQLExpression<JSON<[Value]>> where Value: Codable {
    .aggregated(.jsonArray, [jsonText])
  }

  /// The values of all rows as an array; the values are JSON already.
  public func jsonArray<Element>() -> SQLExpression<JSON<[Element]>> where Value == JSON<Element> {
    .aggregated(.jsonArray, [jsonText])
  }

  /// The values of all rows as an array; each value is JSON already, or nil.
  public func jsonArray<Element>() -> SQLExpression<JSON<[Element?]>>
  where Value == JSON<Element>? {
    .aggregated(.jsonArray, [jsonText])
  }

  /// The values of all rows as an object, with this text as each value's name. A name that occurs twice is
  /// written twice, and reading takes one of its values.
  public func jsonObject<Element: Codable>(
    of values: SQLExpression<Element>
  ) -> SQLExpression<JSON<[String: Element]>> where Value == String {
    .aggregated(.jsonGroup, [node.computed, values.jsonText])
  }
}

extension SQLExpression {
  fileprivate static func aggregated<Result>(
    _ form: SQLForm, _ operands: [SQLFragment]
  ) -> SQLExpression where Value == JSON<Result> {
    let json = SQLFragment.call("json", operands[operands.count - 1])
    let call =
      operands.count == 1
      ? SQLFragment.call("json_group_array", json)
      : .call("json_group_object", operands[0], json)
    return SQLExpression(SQLFragment(.form(form, operands, call), isNullable: false))
  }
}

/// A JSON object in each row, as a value of a type. Its members are named expressions.
///
/// ```swift
/// Order.join(Line.self) { $0.id == $1.order }.group { $0.0.id }.select {
///   ($0.id, jsonObject(("sku", $1.sku), ("count", $1.count), as: Item.self).jsonArray())
/// }
/// ```
public func jsonObject<each Member: Sendable, Value: Codable & Sendable>(
  _ members: repeat (String, SQLExpression<each Member>), as type: Value.Type
) -> SQLExpression<JSON<Value>> {
  var operands: [SQLFragment] = []
  var arguments: [SQLFragment] = []
  for (name, expression) in repeat each members {
    // A name is literal text in the SQL, and text with a NUL would end there.
    let name =
      name.utf8.contains(0)
      ? SQLFragment.misuse("a name in JSON holds a NUL") : SQLFragment(text: name.quotedText)
    operands += [name, expression.jsonText]
    arguments += [name, .call("json", expression.jsonText)]
  }
  return SQLExpression<JSON<Value>>(
    SQLFragment(
      .form(.jsonObject, operands, SQLFragment(.call("json_object", arguments))), isNullable: false)
  )
}
