import FoundationEssentials
import LarderSQLite

/// A place in JSON: a column that holds JSON, and the names and numbers that lead to a value in it.
///
/// ```swift
/// try Job.filter { $0.payload["customer"]["id"] == 7 && $0.payload["lines"].count > 1 }
///   .order { $0.payload["at"].as(String.self).desc }
///   .select { ($0.id, $0.payload["lines"][-1]["sku"].as(String.self)) }
///   .fetchAll(db)
/// try Job.filter { $0.id == 5 }.update(db) { $0.payload["state"] = "done" }
/// ```
///
/// Columns hold JSON by ``ColumnCoding/json``, as ``JSON``, or as text. Names are any text: nothing in them has a
/// meaning of its own. A number is that of an array's element, or, where it is negative, counted from the last one,
/// which is -1. What leads nowhere is nil, and so is `null`.
///
/// Comparisons say what is so of a value of the other side's type: numbers are compared with numbers, texts with
/// texts, and any other value is neither equal nor less nor greater. `as` asks for a type, and throws
/// ``LarderSQLite/DatabaseError`` where the value is of another one. Text that isn't JSON throws it too.
///
/// An index, by ``TableConstraint/index(on:as:unique:where:name:)``, serves comparisons and orders.
public struct JSONExpression: Sendable {
  let document: SQLFragment
  let path: [JSONPathStep]
  /// The document with what was assigned here or below, in an update.
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

  /// A value as JSON, for an assignment: `$0.payload["customer"] = .value(customer)`. Throws
  /// ``LarderSQLite/ConversionError``, when the statement runs, where it can't be encoded.
  public static func value(_ value: some Encodable & Sendable) -> JSONExpression {
    JSONExpression(SQLFragment(value: EncodedJSON(value), isNullable: false))
  }

  // MARK: Paths

  /// The value with a name, of an object. What is assigned to it takes its place, or is added: objects on the way
  /// are made where there is nothing or null, and the statement throws where something else is in the way.
  public subscript(name: String) -> JSONExpression {
    get { JSONExpression(current, path + [.name(name)]) }
    set { assign(newValue, to: .name(name)) }
  }

  /// An element of an array, counted from 0, or from the last, which is -1. What is assigned to the one behind the
  /// last is added.
  public subscript(index: Int) -> JSONExpression {
    get { JSONExpression(current, path + [.element(index)]) }
    set { assign(newValue, to: .element(index)) }
  }

  private mutating func assign(_ value: JSONExpression, to step: JSONPathStep) {
    changed = value.assigned(to: current, path + [step])
  }

  /// The document with this at a path.
  func assigned(to document: SQLFragment, _ path: [JSONPathStep]) -> SQLFragment {
    guard let changed else { return .changedJSON(document, .set, path, text) }
    // What was assigned below: the statement that says so is on its way to the column.
    if document === self.document, path.json == self.path.json { return changed }
    return .misuse("JSON that was changed in a variable is assigned to another place")
  }

  /// The value as text, null where there is none.
  private var text: SQLFragment {
    // A value and an expression of another column are JSON as they are.
    if path.isEmpty, document.kind == .value || document.isJSONText { return document }
    return .call("coalesce", json(.json), "'null'")
  }

  func json(
    _ kind: JSONKind, isStrict: Bool = false, isCompared: Bool = true
  ) -> SQLFragment {
    .json(kind, of: current, at: path, isStrict: isStrict, isCompared: isCompared)
  }

  // MARK: Changes

  /// Sets the value where there is none yet, not even null.
  public mutating func insert(_ value: JSONExpression) {
    changed = .changedJSON(current, .insert, path, value.text)
  }

  /// Takes the value out of its object or array; nothing where there is none.
  public mutating func remove() {
    changed =
      path.isEmpty
      ? .misuse("JSON as a whole is in nothing that it could be taken out of")
      : .changedJSON(current, .remove, path)
  }

  /// Merges a value into this one by [RFC 7396](https://www.rfc-editor.org/rfc/rfc7396): objects member by member,
  /// without those that are null in it. PostgreSQL has nothing for that: `UnsupportedByEngine`.
  public mutating func patch(_ value: some Encodable & Sendable) {
    let patched = SQLFragment.call(
      "json_patch", text, SQLFragment(value: EncodedJSON(value), isNullable: false))
    changed = .changedJSON(current, .set, path, patched)
  }

  // MARK: Values

  /// The value as one of a type, nil where there is none or null. A value of another type throws
  /// ``LarderSQLite/DatabaseError``, wherever the expression stands, unless that is nil too.
  ///
  /// ```swift
  /// Job.select { $0.payload["customer"]["id"].as(Int.self) }
  /// // SELECT larder_json("job"."payload", '["customer","id"]', 'integer') FROM "job"
  /// ```
  ///
  /// Numbers are read with all their digits, as Decimals too, and dates as ``ColumnCoding/json`` reads them. A number
  /// with a fraction is no integer, and one beyond 64 bits with a sign is none of any type. Objects and arrays are
  /// read as ``JSON``: `.as(JSON<[Line]>.self)`.
  ///
  /// - Parameters:
  ///   - type: the Swift type to read.
  ///   - strict: whether a value of another type throws; if not, it is nil, as in groups and orders. An index on
  ///     texts or Bools serves it then.
  public func `as`<Value: DatabaseValueConvertible>(
    _ type: Value.Type, strict: Bool = true
  ) -> SQLExpression<Value.AsOptional> {
    SQLExpression<Value.AsOptional>(typed(type, isStrict: strict, isCompared: false))
  }

  private func typed<Value: DatabaseValueConvertible>(
    _ type: Value.Type, isStrict: Bool = false, isCompared: Bool = true
  ) -> SQLFragment {
    guard let kind = JSONKind(type) else {
      return .misuse("JSON has no values of the type \(type)")
    }
    // What is compared with a whole number may have a fraction.
    let asked = isCompared && kind == .integer ? .number : kind
    let value = json(asked, isStrict: isStrict, isCompared: isCompared)
    if kind == .date {
      return SQLFragment(
        .sequence([.part(value)]), coding: ExpressionCoding(ColumnCoding<Date>.iso8601))
    }
    return value.owned(as: .own(of: type))
  }

  /// The number of elements; nil for what is no array.
  public var count: SQLExpression<Int?> { SQLExpression<Int?>(json(.count)) }

  /// `object`, `array`, `string`, `number`, `boolean` or `null`; nil where there is nothing.
  public var type: SQLExpression<String?> { SQLExpression<String?>(json(.type)) }

  /// Whether there is nothing, or null.
  public var isNull: SQLExpression<Bool> { SQLExpression<String>(json(.json)).isNull }
  /// Whether there is something other than null.
  public var isNotNull: SQLExpression<Bool> { SQLExpression<String>(json(.json)).isNotNull }

  // MARK: Declarations

  /// The value for an index, or for a column that is computed, of a type: NULL where it is of another one.
  ///
  /// - Parameter isCompared: whether it is the same as in comparisons, where whole numbers have fractions beside them.
  func declared<Value: DatabaseValueConvertible>(
    as type: Value.Type, isCompared: Bool
  ) -> SQLFragment {
    guard let kind = JSONKind(type), [.integer, .real, .text, .bool].contains(kind) else {
      return .misuse("JSON can be declared as numbers, texts and Bools, not as \(type)")
    }
    return json(isCompared && kind == .integer ? .number : kind)
  }

  /// The names of the column and of the path.
  var indexName: String {
    let column = document.words?.split(separator: "\"").joined() ?? ""
    return ([column] + path.map(\.text)).joined(separator: "_")
  }

  // MARK: Comparisons

  /// Whether it equals a value of its type; nothing and null equal nil.
  public static func == <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    if right.isStoredAsNull { return left.isNull }
    return SQLExpression<Bool>(
      left.typed(Value.self).equals(right, negated: false))
  }

  /// Whether it differs from a value, or is of another type; nothing and null equal nil.
  public static func != <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    if right.isStoredAsNull { return left.isNotNull }
    return SQLExpression<Bool>(
      left.typed(Value.self).equals(right, negated: true))
  }

  /// Whether there is nothing, or null.
  public static func == (left: Self, right: _OptionalNilComparisonType) -> SQLExpression<Bool> {
    left.isNull
  }

  /// Whether there is something other than null.
  public static func != (left: Self, right: _OptionalNilComparisonType) -> SQLExpression<Bool> {
    left.isNotNull
  }

  /// Whether it is of a value's type, and less.
  public static func < <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    left.compared(.less, right)
  }

  /// Whether it is of a value's type, and at most that.
  public static func <= <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    left.compared(.lessOrEqual, right)
  }

  /// Whether it is of a value's type, and greater.
  public static func > <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    left.compared(.greater, right)
  }

  /// Whether it is of a value's type, and at least that.
  public static func >= <Value: DatabaseValueConvertible>(
    left: Self, right: Value
  ) -> SQLExpression<Bool> {
    left.compared(.greaterOrEqual, right)
  }

  /// Whether it equals an expression of its type; nothing and null equal NULL.
  public static func == <Value: DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Value>
  ) -> SQLExpression<Bool> {
    SQLExpression<Bool>(
      left.typed(Value.self).equals(right.node, orNull: true, negated: false))
  }

  /// Whether it is one of these values of its type; false for an empty list.
  public func `in`<Value: DatabaseValueConvertible>(
    _ values: some Sequence<Value>
  ) -> SQLExpression<Bool> {
    SQLExpression<Value>(typed(Value.self)).in(values)
  }

  private func compared<Value: DatabaseValueConvertible>(
    _ operation: SQLOperator, _ value: Value
  ) -> SQLExpression<Bool> {
    SQLExpression<Bool>(typed(Value.self).infix(operation, value))
  }
}

extension DatabaseValueConvertible {
  fileprivate var isStoredAsNull: Bool { (try? databaseValue)?.isNull ?? false }
}

extension JSONKind {
  /// What values of a type are in JSON; nil for a type that has none.
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
