/// A column of a ``VirtualTable``: its name, its type, and what its rows can be asked for by.
///
/// ```swift
/// VirtualColumn("id", .integer, by: [.value, .range, .order])
/// VirtualColumn("name", .text, collation: "NOCASE", by: .value)
/// ```
///
/// A name alone is a column of values of any type, by which rows aren't asked for.
public struct VirtualColumn: Sendable, ExpressibleByStringLiteral {
  /// What a table finds faster than by reading all of its rows.
  public struct Access: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int
    /// Access by these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// The rows with a value: ``VirtualTableRequest/equals``.
    public static let value = Access(rawValue: 1)
    /// The rows above, below and between values: ``VirtualTableRequest/ranges``. The column needs a type.
    public static let range = Access(rawValue: 2)
    /// All rows in the order of the column's values: ``VirtualTableRequest/order``.
    public static let order = Access(rawValue: 4)
  }

  let name: String
  let type: StorageClass?
  let collation: String?
  let access: Access

  /// A column.
  ///
  /// - `type`: how all of its values are stored that aren't NULL; a row with another throws (of an integer in a
  ///   column of `.real` the number is made). SQLite then compares it as a column that is declared so, with what it
  ///   converts by that: `id = '7'` is asked for as 7. Without a type any value may be there, and SQLite converts
  ///   nothing.
  /// - `collation`: by which SQLite compares the column's texts, if nothing else is said in a statement. Rows are
  ///   asked for by texts only where a comparison has this collation, or is by bytes, and a column that is accessed
  ///   by value has to find all that the collation takes for equal.
  public init(
    _ name: String, _ type: StorageClass? = nil, collation: String? = nil, by access: Access = []
  ) {
    self.name = name
    self.type = type
    self.collation = collation
    self.access = access
  }

  /// A column of values of any type.
  public init(stringLiteral name: String) { self.init(name) }
}

extension VirtualColumn {
  /// Whether texts are among its values, so that a collation matters.
  var hasTexts: Bool { type == nil || type == .text }

  /// Whether it can be asked for the values that are equal by a collation.
  func finds(_ collation: String) -> Bool {
    // What is equal by its bytes is so by every collation.
    !hasTexts || collation.foldedName == "BINARY".foldedName || isOrdered(by: collation)
  }

  /// Whether its order is that of a collation.
  func isOrdered(by collation: String) -> Bool {
    !hasTexts || collation.foldedName == (self.collation ?? "BINARY").foldedName
  }

  /// How SQLite is told of it.
  var declaration: String {
    var text = name.quotedIdentifier
    switch type {
    case .integer: text += " INTEGER"
    case .real: text += " REAL"
    case .text: text += " TEXT"
    case .blob: text += " BLOB"
    case .null, nil: break
    }
    if let collation { text += " COLLATE \(collation.quotedIdentifier)" }
    return text
  }

  /// A value as the column's type has it; nil where it is of another.
  ///
  /// - Parameter isConverted: whether a value is converted as a STRICT table's column does where nothing is lost.
  func stored(_ value: DatabaseValue) -> DatabaseValue? {
    switch (type, value) {
    case (nil, _), (_, .null), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob):
      value
    case (.real, .integer(let number)): .real(Double(number))
    default: nil
    }
  }
}
