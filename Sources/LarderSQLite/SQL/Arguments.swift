/// The values for a statement's parameters, by position or by name.
///
/// ```swift
/// try db.executeUpdate("INSERT INTO city VALUES (?, ?)", arguments: [1, "Oslo"])
/// try db.executeUpdate("INSERT INTO city VALUES (:id, :name)", arguments: ["id": 1, "name": "Oslo"])
/// ```
///
/// A name matches `:name`, `@name` and `$name`, and is bound wherever it occurs. Values are converted when
/// they are bound: a value that can't be stored makes that call throw. See
/// [Parameters](https://www.sqlite.org/lang_expr.html#varparam).
public struct Arguments: Sendable {
  package struct Pair: Sendable {
    package let name: String
    package let value: (any DatabaseValueConvertible)?
  }

  package let positional: [(any DatabaseValueConvertible)?]
  package let pairs: [Pair]?
  package private(set) var allowsSurplus = false

  /// Creates positional arguments.
  public init(_ values: [(any DatabaseValueConvertible)?] = []) {
    positional = values
    pairs = nil
  }

  /// Creates named arguments.
  public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
    positional = []
    pairs = dictionary.map { Pair(name: $0.key, value: $0.value) }
  }

  /// The same arguments, but names that the statement doesn't have are ignored. Otherwise they are an error,
  /// as surplus positional arguments always are.
  public func ignoringSurplusNames() -> Arguments {
    var copy = self
    copy.allowsSurplus = pairs != nil
    return copy
  }

  /// The number of arguments.
  public var count: Int { pairs?.count ?? positional.count }

  /// The values to bind, in order. Throws if a value can't be stored exactly.
  public var values: [DatabaseValue] {
    get throws { try (pairs?.map(\.value) ?? positional).map { try $0?.databaseValue ?? .null } }
  }
}

extension Arguments: ExpressibleByArrayLiteral {
  /// Creates positional arguments.
  public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) { self.init(elements) }
}

extension Arguments: ExpressibleByDictionaryLiteral {
  /// Creates named arguments.
  public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
    positional = []
    pairs = elements.map { Pair(name: $0.0, value: $0.1) }
  }
}

extension Arguments: Equatable {
  /// Whether both bind the same values to the same parameters; false if a value can't be stored at all.
  public static func == (left: Arguments, right: Arguments) -> Bool {
    guard left.pairs?.map(\.name) == right.pairs?.map(\.name),
      left.allowsSurplus == right.allowsSurplus,
      let leftValues = try? left.values, let rightValues = try? right.values
    else { return false }
    return leftValues == rightValues
  }
}
