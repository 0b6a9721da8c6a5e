import LarderSQLite

/// An element of a JSON array or a member of a JSON object: a row that a query joins.
///
/// ```swift
/// try Job.all.join(each: { $0.payload["lines"] })
///   .filter { job, line in line.value["count"] > 5 }
///   .select { job, line in (job.id, line.value["sku"].as(String.self)) }
///   .fetchAll(db)
/// // … FROM "job" JOIN json_each(larder_json_rows("job"."payload", '["lines"]')) AS "each" ON TRUE …
/// ```
public struct JSONElement: SingleSource, Hashable {
  /// The position in the array or object, counted from 0.
  public let index: Int
  /// The member's name; nil in an array.
  public let name: String?
  /// The value as JSON.
  public let text: String

  /// Not available: elements can't be the nullable side of an outer join.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns as expressions.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> JSONElementFields {
    fields(of: names.next())
  }

  static func fields(of alias: QueryAlias) -> JSONElementFields {
    let pair = alias.column("value")
    func part(_ index: Int, _ names: String...) -> SQLFragment {
      SQLFragment(
        .form(
          .jsonElement, names.map { alias.column($0) },
          .call("json_extract", pair, "'$[\(text: "\(index)")]'")))
    }
    return JSONElementFields(
      index: SQLExpression<Int>(alias.column("key", isNullable: false)),
      name: SQLExpression<String?>(part(0, "name")), value: JSONExpression(part(1, "json", "text")))
  }

  /// Reads the columns.
  @_documentation(visibility: internal)
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> JSONElement {
    let source = SelectionSource(
      [.value(Int.self), .value(JSON<Pair>.self)], at: columns.add(["key", "value"]))
    let (positions, layout) = (source.positions, source.layout)
    return { cursor in
      let row = RecordRow(cursor.handle, positions.first, layout, cursor.format)
      return try withUnsafeTemporaryAllocation(of: (Int, JSON<Pair>).self, capacity: 1) { memory in
        guard let memory = memory.baseAddress else { throw RecordLayout.noMemory() }
        do {
          try row.read(into: UnsafeMutableRawPointer(memory))
        } catch {
          throw source.describe(error, cursor.statement)
        }
        let (index, pair) = memory.move()
        return JSONElement(index: index, name: pair.value.name, text: pair.value.text)
      }
    }
  }

  /// A member's name and its value's JSON text, which are encoded as an array.
  private struct Pair: Codable {
    let name: String?
    let text: String

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      name = try container.decodeNil() ? nil : container.decode(String.self)
      text = try container.decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(name)
      try container.encode(text)
    }
  }
}

/// The columns of a ``JSONElement`` in a query.
@_documentation(visibility: internal)
public struct JSONElementFields: Sendable {
  /// The position in the array or object, counted from 0.
  public let index: SQLExpression<Int>
  /// The member's name; NULL in an array.
  public let name: SQLExpression<String?>
  /// The value.
  public let value: JSONExpression
}

extension Query where From: SingleSource {
  /// Joins each row with each element of an array, or member of an object, in its JSON. See
  /// ``JSONElement``.
  public func join(
    each path: (From.QueryFields) -> JSONExpression
  ) -> Query<Join2<From, JSONElement>> {
    let json = scoped(path)
    let rows = SQLFragment.jsonRows(json.document, json.path)
    return joined(each: QueryTableDefinition(name: "each", source: rows, codings: []))
  }
}

extension Record {
  /// Joins each row with each element of an array, or member of an object, in its JSON. See
  /// ``JSONElement``.
  public static func join(
    each path: (RecordFields<Self>) -> JSONExpression
  ) -> Query<Join2<Self, JSONElement>> {
    all.join(each: path)
  }
}

extension JSONKind {
  /// Whether JSON has only one representation of each value of this kind, apart from the digits of numbers.
  package var isExact: Bool { [.integer, .text, .bool].contains(self) }
}

extension JSONExpression {
  /// Whether the JSON is an array with an element of the value's type that equals it.
  public func contains<Value: DatabaseValueConvertible>(_ value: Value) -> SQLExpression<Bool> {
    let alias = QueryAlias(QueryAlias.newName(for: "each", besides: QueryScope.names))
    let element = JSONElement.fields(of: alias)
    let isArray = SQLExpression<String>(json(.type)) == "array"
    let rows: SQLFragment = """
      EXISTS (SELECT 1 FROM \(.jsonRows(document, path)) AS \(name: alias.name) \
      WHERE \((element.value == value).node.parenthesized(in: .lowest)))
      """
    let test = isArray.node.infix(
      .and, operand: SQLFragment(.sequence([.part(rows)]), isNullable: false))
    guard let kind = JSONKind(Value.self), kind.isExact else { return SQLExpression<Bool>(test) }
    let (document, path) = document.jsonSource(of: path)
    return SQLExpression<Bool>(
      SQLFragment(
        .form(.jsonContains(kind, path), [document, SQLFragment(value: value)], test), .and,
        isNullable: false))
  }
}
