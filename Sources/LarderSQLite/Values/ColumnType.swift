/// The declared type of a column, which follows from how a Swift type's values are stored.
///
/// See [STRICT tables](https://www.sqlite.org/stricttables.html).
public struct ColumnType: Hashable, Sendable {
  package enum Kind: Sendable {
    case integer, real, text, blob, any
    /// Values that SQLite stores as integers and blobs, and other engines in types of their own.
    case bool, uuid
    /// Dates, in the form that the connection's ``DateFormat`` gives them.
    case date
    /// Decimal numbers as text.
    case decimal
  }

  package let kind: Kind
  package let isNullable: Bool

  package init(_ kind: Kind, isNullable: Bool = false) {
    self.kind = kind
    self.isNullable = isNullable
  }

  /// Integers.
  public static let integer = ColumnType(.integer)
  /// Real numbers.
  public static let real = ColumnType(.real)
  /// Text.
  public static let text = ColumnType(.text)
  /// Bytes.
  public static let blob = ColumnType(.blob)
  /// Values of any kind.
  public static let any = ColumnType(.any)
  package static let bool = ColumnType(.bool)
  static let uuid = ColumnType(.uuid)
  static let date = ColumnType(.date)
  static let decimal = ColumnType(.decimal)

  /// Whether a stored value of another type may equal one of this type.
  package func canBeCompared(with other: ColumnType) -> Bool {
    !kind.forms.isDisjoint(with: other.kind.forms)
  }

  /// The same type with NULL.
  public var optional: ColumnType { ColumnType(kind, isNullable: true) }
}

extension ColumnType.Kind {
  /// The storage classes that values of the kind may have, with `.integer` for all numbers.
  fileprivate var forms: Set<StorageClass> {
    switch self {
    case .integer, .real, .bool: [.integer]
    case .text: [.text]
    case .blob, .uuid: [.blob]
    case .date, .decimal: [.integer, .text]
    case .any: [.integer, .text, .blob]
    }
  }
}
