import LarderSQLite

/// An array, or an Optional of one.
@_documentation(visibility: internal)
public protocol ArrayValue {
  associatedtype ArrayElement
}

extension Array: ArrayValue {
  /// The type of the elements.
  @_documentation(visibility: internal)
  public typealias ArrayElement = Element
}

extension Optional: ArrayValue where Wrapped: ArrayValue {
  /// The type of the elements.
  @_documentation(visibility: internal)
  public typealias ArrayElement = Wrapped.ArrayElement
}

/// Tests of arrays: of columns with ``ColumnCoding/array``, which a server has a type for, and of those that
/// are stored as JSON.
///
/// ```swift
/// try Package.filter { $0.keywords.contains("sqlite") && $0.platforms.overlaps(["linux", "macos"]) }
///   .fetchAll(db)
/// // SQLite: … EXISTS (SELECT 1 FROM json_each(…) WHERE …); PostgreSQL: "keywords" @> $1 AND "platforms" && $2
/// ```
///
/// On PostgreSQL a [GIN](https://www.postgresql.org/docs/current/gin.html) index on the column serves the
/// tests.
extension SQLExpression
where Value: ArrayValue & Codable, Value.ArrayElement: DatabaseValueConvertible & Codable {
  /// Whether an element equals the value; false for NULL.
  public func contains(_ element: Value.ArrayElement) -> SQLExpression<Bool> {
    arrayTest([element], json.contains(element).node) { .arrayContains($0) }
  }

  /// Whether each of the values equals an element; false for NULL.
  public func contains(all elements: [Value.ArrayElement]) -> SQLExpression<Bool> {
    let tests = elements.map(contains)
    guard let first = tests.first else { return isNotNull }
    let all = tests.dropFirst().reduce(first) { $0 && $1 }
    return elements.contains(where: \.isStoredAsNull)
      ? all : arrayTest(elements, all.node) { .arrayContains($0) }
  }

  /// Whether one of the values equals an element; false for NULL.
  public func overlaps(_ elements: [Value.ArrayElement]) -> SQLExpression<Bool> {
    let tests = elements.map(contains)
    guard let first = tests.first else { return SQLExpression<Bool>(SQLFragment(text: "(1 = 0)")) }
    let any = tests.dropFirst().reduce(first) { $0 || $1 }
    return elements.contains(where: \.isStoredAsNull)
      ? any : arrayTest(elements, any.node) { .arrayOverlaps($0) }
  }

  /// The test for engines that have arrays, and the one of their JSON for all others.
  private func arrayTest(
    _ elements: [Value.ArrayElement], _ json: SQLFragment, _ form: (String) -> SQLForm
  ) -> SQLExpression<Bool> {
    guard node.storesArray, let text = try? JSONText.text(of: elements) else {
      return SQLExpression<Bool>(json)
    }
    return SQLExpression<Bool>(
      SQLFragment(.form(form(text), [node], json), json.precedence, isNullable: false))
  }
}

extension SQLExpression where Value: ArrayValue & Codable {
  /// The number of elements; NULL if there is no array.
  public var length: SQLExpression<Int?> {
    let count = json.count
    guard node.storesArray else { return count }
    return SQLExpression<Int?>(SQLFragment(.form(.arrayLength, [node], count.node)))
  }
}

extension SQLFragment {
  /// Whether it is a column that holds an array, for which some engines have types.
  package final var storesArray: Bool { if case .array? = storedForm { true } else { false } }

  /// The form of the column's coding; nil for anything but a column that has one.
  package final var storedForm: StoredForm? { coding?.form }
}
