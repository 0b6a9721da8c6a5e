/// The values for a statement's parameters, by position or by name.
///
/// ```swift
/// try db.executeUpdate("INSERT INTO city VALUES (?, ?)", arguments: [1, "Oslo"])
/// try db.executeUpdate("INSERT INTO city VALUES (:id, :name)", arguments: ["id": 1, "name": "Oslo"])
/// ```
///
/// A name matches `:name`, `@name` and `$name`, and is bound wherever it occurs. Values are
/// converted when they are bound: one that can't be stored makes that call throw.
/// See [Parameters](https://www.sqlite.org/lang_expr.html#varparam).
public struct Arguments: Sendable {
  /// The values of positional arguments; those of named ones in the order of ``names``.
  package let values: [(any DatabaseValueConvertible)?]
  /// The names, or nil for positional arguments.
  package let names: [String]?
  package private(set) var allowsSurplus = false

  /// Positional arguments.
  public init(_ values: [(any DatabaseValueConvertible)?] = []) {
    self.values = values
    names = nil
  }

  /// Named arguments.
  public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
    self.init(pairs: Array(dictionary))
  }

  private init(pairs: [(key: String, value: (any DatabaseValueConvertible)?)]) {
    values = pairs.map(\.value)
    names = pairs.map(\.key)
  }

  /// The same arguments, of which those are left out whose names the statement doesn't have.
  /// Without this they are an error, as surplus positional arguments always are.
  public func ignoringSurplusNames() -> Arguments {
    var copy = self
    copy.allowsSurplus = names != nil
    return copy
  }

  /// The number of arguments.
  public var count: Int { values.count }

  /// What would be bound, in order. Throws where a value can't be stored exactly.
  public var databaseValues: [DatabaseValue] {
    get throws { try values.map { try $0?.databaseValue ?? .null } }
  }
}

extension Arguments: ExpressibleByArrayLiteral {
  /// Positional arguments.
  public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) { self.init(elements) }
}

extension Arguments: ExpressibleByDictionaryLiteral {
  /// Named arguments.
  public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
    values = elements.map(\.1)
    names = elements.map(\.0)
  }
}

extension Arguments: Equatable {
  /// Whether the same values would be bound to the same parameters; false where a value can't be
  /// stored at all.
  public static func == (left: Arguments, right: Arguments) -> Bool {
    guard left.names == right.names, left.allowsSurplus == right.allowsSurplus,
      let leftValues = try? left.databaseValues, let rightValues = try? right.databaseValues
    else { return false }
    return leftValues == rightValues
  }
}
