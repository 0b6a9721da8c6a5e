import FoundationEssentials
import LarderSQLite

/// A place in JSON: a column that holds JSON, and the path of names and indices that leads to a value in it.
///
/// ```swift
/// try Job.filter { $0.payload["customer"]["id"] == 7 && $0.payload["lines"].count > 1 }
///   .order { $0.payload["at"].as(String.self).desc }
///   .select { ($0.id, $0.payload["lines"][-1]["sku"].as(String.self)) }
///   .fetchAll(db)
/// try Job.filter { $0.id == 5 }.update(db) { $0.payload["state"] = "done" }
/// ```
///
/// Columns hold JSON by ``ColumnCoding/json``, as ``JSON``, or as text. A name is any text; no character in
/// it is special. A number is the index of an array's element; a negative one counts from the end, and -1 is
/// the last element. A path that leads nowhere is nil, and so is `null`.
///
/// A comparison holds only for values of the other side's type: numbers are compared with numbers and texts
/// with texts; any other value is neither equal nor less nor greater. `as` asks for a type, and throws
/// ``LarderSQLite/DatabaseError`` if the value has another one. So does text that isn't JSON.
///
/// An index, by ``TableConstraint/index(on:as:unique:where:name:)``, serves comparisons and orders.
public struct JSONExpression: Sendable {
  let document: SQLFragment
  let path: [JSONPathStep]
  /// In an update, the document with the changes that were made at this path or below it.
  private var changed: SQLFragment?
  private var current: SQLFragment { changed ?? document }

  init(_ document: SQLFragment, _ path: [JSONPathStep] = []) {
    self.document = document
    self.path = path
  }

  /// The value of an expression as JSON, for an assignment: `$0.payload["total"] = JSONExpression($0.total)`.
  ///
  /// Blobs and UUIDs have no JSON of their own: the statement throws ``LarderSQLite/DatabaseError``.
  public init<Value>(_ expression: SQLExpression<Value>) { self.init(expression.jsonText) }

  /// A value as JSON, for an assignment: `$0.payload["customer"] = .value(customer)`. If it can't be encoded,
  /// the statement throws ``LarderSQLite/ConversionError`` when it runs.
  public static func value(_ value: some Encodable & Sendable) -> JSONExpression {
    JSONExpression(SQLFragment(value: EncodedJSON(value), isNullable: false))
  }

  // MARK: Paths

  /// The member of an object with this name. Assigning replaces or adds it. Missing or null objects on the
  /// path are created; any other value on the path makes the statement throw.
  public subscript(name: String) -> JSONExpression {
    get { JSONExpression(current, path + [.name(name)]) }
    set { assign(newValue, to: .name(name)) }
  }

  /// An element of an array, counted from 0; -1 is the last one. Assigning to the index after the last
  /// appends an element.
  public subscript(index: Int) -> JSONExpression {
    get { JSONExpression(current, path + [.element(index)]) }
    set { assign(newValue, to: .element(index)) }
  }

  private mutating func assign(_ value: JSONExpression, to step: JSONPathStep) {
    changed = value.assigned(to: current, path + [step])
  }

  /// The document with this value at a path.
  func assigned(to document: SQLFragment, _ path: [JSONPathStep]) -> SQLFragment {
    guard let changed else { return .changedJSON(document, .set, path, text) }
    // This value carries the change that was made below it; its document is on the way back to the column.
    if document === self.document, path.json == self.path.json { return changed }
    return .misuse(
      "JSON changed in a variable can only be assigned to the place that it was read from")
  }

  /// The value as JSON text; `null` if there is none.
  private var text: SQLFragment {
    // A value and another column's expression are JSON text already.
    if path.isEmpty, document.kind == .value || document.isJSONText { return document }
    return .call("coalesce", json(.json), "'null'")
  }

  func json(
    _ kind: JSONKind, isStrict: Bool = false, isCompared: Bool = true
  ) -> SQLFragment {
    .json(kind, of: current, at: path, isStrict: isStrict, isCompared: isCompared)
  }

  // MARK: Changes

  /// Sets the value only if there is none yet; null counts as a value.
  public mutating func insert(_ value: JSONExpression) {
    changed = .changedJSON(current, .insert, path, value.text)
  }

  /// Removes the value from its object or array; does nothing if there is none.
  public mutating func remove() {
    changed =
      path.isEmpty
      ? .misuse("the top-level JSON value can't be removed: only a member or an element can")
      : .changedJSON(current, .remove, path)
  }

  /// Merges a value into this one by [RFC 7396](https://www.rfc-editor.org/rfc/rfc7396): objects are merged
  /// member by member, and a null in `value` removes the member. PostgreSQL has no such function: the
  /// statement throws `UnsupportedByEngine`.
  public mutating func patch(_ value: some Encodable & Sendable) {
    let patched = SQLFragment.call(
      "json_patch", text, SQLFragment(value: EncodedJSON(value), isNullable: false))
    changed = .changedJSON(current, .set, path, patched)
  }

  // MARK: Values

  /// The value, read as a type; nil if there is none or it is null. A value of another type throws
  /// ``LarderSQLite/DatabaseError`` wherever the expression is used, unless `strict` is false.
  ///
  /// ```swift
  /// Job.select { $0.payload["customer"]["id"].as(Int.self) }
  /// // SELECT larder_json("job"."payload", '["customer","id"]', 'integer') FROM "job"
  /// ```
  ///
  /// Numbers are read with all their digits, as Decimals too, and dates as ``ColumnCoding/json`` reads them.
  /// A number with a fraction is no integer, and one beyond 64-bit signed integers isn't read as any integer
  /// type. Objects and arrays are read as ``JSON``: `.as(JSON<[Line]>.self)`.
  ///
  /// - Parameters:
  ///   - type: the Swift type to read.
  ///   - strict: whether a value of another type throws. If false, it is nil, as in groups and orders, and an
  ///     index on texts or Bools serves the expression.
  public func `as`<Value: DatabaseValueConvertible>(
    _ type: Value.Type, strict: Bool = true
  ) -> SQLExpression<Value.AsOptional> {
    SQLExpression<Value.AsOptional>(typed(type, isStrict: strict, isCompared: false))
  }

  private func typed<Value: DatabaseValueConvertible>(
    _ type: Value.Type, isStrict: Bool = false, isCompared: Bool = true
  ) -> SQLFragment {
    guard let kind = JSONKind(type) else {
      return .misuse("JSON can't hold values of the type \(type)")
    }
    // A value that is compared with a whole number may have a fraction.
    let asked = isCompared && kind == .integer ? .number : kind
    let value = json(asked, isStrict: isStrict, isCompared: isCompared)
    if kind == .date {
      return SQLFragment(
        .sequence([.part(value)]), coding: ExpressionCoding(ColumnCoding<Date>.iso8601))
    }
    if kind == .uuid {
      // Beside a column of texts it would equal none: that throws.
      return SQLFragment(
        .sequence([.part(value)]),
        coding: ExpressionCoding(ColumnCoding<UUID>.plain, codesValues: false))
    }
    return value.owned(as: .own(of: type))
  }

  /// The number of elements; nil if the value is no array.
  public var count: SQLExpression<Int?> { SQLExpression<Int?>(json(.count)) }

  /// The JSON type: `object`, `array`, `string`, `number`, `boolean` or `null`; nil if there is no value.
  public var type: SQLExpression<String?> { SQLExpression<String?>(json(.type)) }

  /// Whether there is no value, or null.
  public var isNull: SQLExpression<Bool> { SQLExpression<String>(json(.json)).isNull }
  /// Whether there is a value other than null.
  public var isNotNull: SQLExpression<Bool> { SQLExpression<String>(json(.json)).isNotNull }

  // MARK: Declarations

  /// The value as a type, for an index or a computed column; NULL if the value has another type.
  ///
  /// - Parameter isCompared: whether to use the same form as comparisons, in which a whole number may have a
  ///   fraction.
  func declared<Value: DatabaseValueConvertible>(
    as type: Value.Type, isCompared: Bool
  ) -> SQLFragment {
    guard let kind = JSONKind(type), [.integer, .real, .text, .bool].contains(kind) else {
      return .misuse("JSON can be declared as a number, text or Bool, not as \(type)")
    }
    return json(isCompared && kind == .integer ? .number : kind)
  }

  /// The names of the column and the path, joined for an index's name.
  var indexName: String {
    let column = document.words?.split(separator: "\"").joined() ?? ""
    return ([column] + path.map(\.text)).joined(separator: "_")
  }

  // MARK: Comparisons

  /// Whether the value has the other side's type and equals it; a missing value and null equal nil.
  public static func == <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    if right.isStoredAsNull { return left.isNull }
    return SQLExpression<Bool>(
      left.typed(Value.self).equals(right, negated: false))
  }

  /// Whether the value differs from the other side or has another type; a missing value and null equal nil.
  public static func != <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    if right.isStoredAsNull { return left.isNotNull }
    return SQLExpression<Bool>(
      left.typed(Value.self).equals(right, negated: true))
  }

  /// Whether there is no value, or null.
  public static func == (left: Self, right: _OptionalNilComparisonType) -> SQLExpression<Bool> {
    left.isNull
  }

  /// Whether there is a value other than null.
  public static func != (left: Self, right: _OptionalNilComparisonType) -> SQLExpression<Bool> {
    left.isNotNull
  }

  /// Whether the value has the other side's type and is less.
  public static func < <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    left.compared(.less, right)
  }

  /// Whether the value has the other side's type and is at most that.
  public static func <= <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    left.compared(.lessOrEqual, right)
  }

  /// Whether the value has the other side's type and is greater.
  public static func > <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    left.compared(.greater, right)
  }

  /// Whether the value has the other side's type and is at least that.
  public static func >= <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    left.compared(.greaterOrEqual, right)
  }

  /// Whether the value has the expression's type and equals it; a missing value and null equal NULL.
  public static func == <Value: DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Value>
  ) -> SQLExpression<Bool> {
    SQLExpression<Bool>(
      left.typed(Value.self).equals(right.node, orNull: true, negated: false))
  }

  /// Whether the value is one of these and of their type; false for an empty list.
  public func `in`<Value: DatabaseValueConvertible>(
    _ values: some Sequence<Value>
  ) -> SQLExpression<Bool> {
    SQLExpression<Value>(typed(Value.self)).in(values)
  }

  /// Whether the value has the range's type and lies in it. Reading throws for a type of range other than those
  /// of Swift's operators.
  @_disfavoredOverload
  public func `in`<Value: DatabaseValueConvertible>(
    _ range: some RangeExpression<Value>
  ) -> SQLExpression<Bool> {
    SQLExpression<Value>(typed(Value.self)).in(range)
  }

  private func compared<Value: DatabaseValueConvertible>(
    _ operation: SQLOperator, _ value: Value
  ) -> SQLExpression<Bool> {
    SQLExpression<Bool>(typed(Value.self).infix(operation, value))
  }
}

extension JSONKind {
  /// The JSON kind of a Swift type's values; nil if the type has none.
  init?<Value: DatabaseValueConvertible>(_ type: Value.Type) {
    if type is any JSONDocument.Type {
      self = .json
      return
    }
    switch type.columnType.kind {
    case .integer: self = .integer
    case .real: self = .real
    case .bool: self = .bool
    case .text: self = .text
    case .date: self = .date
    case .uuid: self = .uuid
    case .decimal: self = .decimal
    case .blob, .any: return nil
    }
  }
}
