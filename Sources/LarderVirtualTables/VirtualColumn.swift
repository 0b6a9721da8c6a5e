import Larder

/// A column of a ``VirtualTable``: its name, its type, and the ways in which rows can be asked for by it.
///
/// ```swift
/// VirtualColumn("id", .integer, by: [.value, .range, .order])
/// VirtualColumn("name", .text, collation: "NOCASE", by: .value)
/// ```
///
/// A name alone declares a column of any type, by which rows aren't asked for.
public struct VirtualColumn: Sendable, ExpressibleByStringLiteral {
  /// The ways in which a table finds rows by a column faster than by reading all of them.
  public struct Access: OptionSet, Hashable, Sendable {
    /// The option's bits.
    public let rawValue: Int
    /// Options with these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Rows by value: ``VirtualTableRequest/value``.
    public static let value = Access(rawValue: 1)
    /// Rows above, below and between values: ``VirtualTableRequest/range``. The column needs a type.
    public static let range = Access(rawValue: 2)
    /// All rows in the order of the column: ``VirtualTableRequest/order``.
    public static let order = Access(rawValue: 4)
  }

  let name: String
  let type: StorageClass?
  let collation: String?
  let access: Access

  /// Declares a column.
  ///
  /// - `type`: the storage class of all values that aren't NULL. A row with another one throws, except that
  ///   integers in a `.real` column are converted. SQLite compares the column like any column with this type,
  ///   after the same conversions: `id = '7'` is asked for as 7. Without a type, values of any type are
  ///   allowed, and SQLite converts nothing.
  /// - `collation`: the collation for comparisons of the column's texts, unless the statement has another.
  ///   Rows are asked for by texts only if a comparison has this collation, or compares bytes. A column that
  ///   is accessed by value has to find all texts that are equal by the collation.
  public init(
    _ name: String, _ type: StorageClass? = nil, collation: String? = nil, by access: Access = []
  ) {
    self.name = name
    self.type = type
    self.collation = collation
    self.access = access
  }

  /// Declares a column of any type.
  public init(stringLiteral name: String) { self.init(name) }
}

extension VirtualColumn {
  /// Throws `ResultCode.misuse` for a column that no table can have.
  func check() throws {
    guard type != .null else {
      throw DatabaseError(.misuse, "column \(name) can't be of type NULL")
    }
    guard type != nil || !access.contains(.range) else {
      throw DatabaseError(.misuse, "column \(name) needs a type for ranges of its values")
    }
    guard collation?.utf8.contains(0) != true, collation != "" else {
      throw DatabaseError(.misuse, "a collation's name can't be empty or contain a NUL")
    }
  }

  /// Whether the column may contain texts, so that a collation matters.
  var hasTexts: Bool { type == nil || type == .text }

  /// Whether the column can be asked for values that are equal by a collation.
  func finds(_ collation: String) -> Bool {
    // Values with equal bytes are equal by every collation.
    !hasTexts || collation.foldedName == "BINARY".foldedName || isOrdered(by: collation)
  }

  /// Whether the column is ordered by a collation.
  func isOrdered(by collation: String) -> Bool {
    !hasTexts || collation.foldedName == (self.collation ?? "BINARY").foldedName
  }

  /// The column's part of the declaration for SQLite.
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

  /// A value with the column's type; nil if it has another one. Integers in a `.real` column are converted.
  func stored(_ value: DatabaseValue) -> DatabaseValue? {
    switch (type, value) {
    case (nil, _), (_, .null), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob):
      value
    case (.real, .integer(let number)): .real(Double(number))
    default: nil
    }
  }
}
