import LarderSQLite
import Synchronization

/// A column of a record's table, and the property that it stores.
///
/// ```swift
/// let id = Column("id", \City.id, .primaryKey)
/// let population = Column("population", \City.population, .indexed, .default(0))
/// let country = Column("country", \City.country, .references(Country.self, onDelete: .cascade))
/// let founded = Column("founded", \City.founded, as: .iso8601)
/// ```
///
/// The name may be any text without NUL, except an empty one. A property whose type doesn't say how it is
/// stored needs a coding: see ``ColumnCoding``.
public struct Column<R, Value: Sendable>: Sendable {
  // A single reference, since queries copy the column each time they mention it.
  @usableFromInline let storage: ColumnStorage<Value>

  /// The column's name.
  public var name: String { storage.definition.name }
  @usableFromInline var access: PropertyAccess { storage.access }
  var definition: ColumnDefinition { storage.definition }

  /// A column whose type says how it is stored.
  @inlinable
  public init(
    _ name: String, _ keyPath: KeyPath<R, Value> & Sendable, _ options: ColumnOption<Value>...
  ) where Value: DatabaseValueConvertible {
    let isWritable = keyPath is WritableKeyPath<R, Value>
    let access = MemoryLayout<R>.offset(of: keyPath).map {
      PropertyAccess.plain(Value.self, offset: $0, isWritable: isWritable, keyPath: keyPath)
    }
    storage = ColumnStorage(name, options, .plain, access ?? .coded(keyPath, .plain), nil)
  }

  /// A column with a coding of its own.
  @_disfavoredOverload  // or `.json` would take a whole Optional, whose nil is the text `null`
  public init(
    _ name: String, _ keyPath: KeyPath<R, Value> & Sendable, _ options: ColumnOption<Value>...,
    as coding: ColumnCoding<Value>
  ) {
    storage = ColumnStorage(name, options, coding, .coded(keyPath, coding)) {
      ExpressionCoding(coding, collation: $0)
    }
  }

  /// A column of an Optional property, with a coding of its own for the wrapped type.
  public init<Wrapped: Sendable>(
    _ name: String, _ keyPath: KeyPath<R, Wrapped?> & Sendable,
    _ options: ColumnOption<Wrapped?>..., as coding: ColumnCoding<Wrapped>
  ) where Value == Wrapped? {
    let optional = coding.optional
    storage = ColumnStorage(name, options, optional, .coded(keyPath, optional)) {
      ExpressionCoding(coding, collation: $0)
    }
  }

  /// The same column of another record, for a record that is a part of it; see `Table.init(of:_:_:notStored:)`.
  @inlinable
  public init<Whole>(
    _ column: Column<Whole, Value>, _ keyPath: KeyPath<R, Value> & Sendable
  ) where Value: DatabaseValueConvertible {
    let isWritable = keyPath is WritableKeyPath<R, Value>
    // Only a property without a coding of its own is read and written where it lies.
    let access = MemoryLayout<R>.offset(of: keyPath).flatMap {
      column.access.isStored
        ? PropertyAccess.plain(Value.self, offset: $0, isWritable: isWritable, keyPath: keyPath)
        : nil
    }
    storage = ColumnStorage(column.storage, access ?? column.storage.access(by: keyPath))
  }

  /// The same column of another record, whose type has a coding of its own.
  @_disfavoredOverload
  public init<Whole>(
    _ column: Column<Whole, Value>, _ keyPath: KeyPath<R, Value> & Sendable
  ) {
    storage = ColumnStorage(column.storage, column.storage.access(by: keyPath))
  }
}

/// A column, without the type of its values.
protocol NamedColumn {
  var name: String { get }
  /// Whether the column holds JSON that Larder encodes from values.
  var isJSON: Bool { get }
}

extension Column: NamedColumn {
  var isJSON: Bool { storage.isJSON }
}

/// The shared part of a column: its definition, its coding and the access to its property.
@usableFromInline
final class ColumnStorage<Value: Sendable>: Sendable {
  let definition: ColumnDefinition
  /// The column's name without the table's, as SET needs it.
  let unqualified: SQLFragment
  /// The column qualified by the first table name that asked for it: a cache of one.
  private let qualified = Atomic<Unmanaged<QualifiedColumn>?>(nil)
  @usableFromInline let access: PropertyAccess
  let expressionCoding: ExpressionCoding?
  private let coding: ColumnCoding<Value>
  var isJSON: Bool { coding.form.isJSON }

  func databaseValue(of value: Value, _ format: DateFormat) throws -> DatabaseValue {
    try coding.stored(value, format)
  }

  func stored(_ value: Value) -> SQLFragment {
    SQLFragment(value: CodedValue(value: value, coding: coding))
  }

  /// The column, qualified by the name of a table in a query.
  @usableFromInline
  func qualified(by alias: QueryAlias) -> SQLFragment {
    let asked = ObjectIdentifier(alias)
    if let known = qualified.load(ordering: .acquiring)?._withUnsafeGuaranteedRef({
      $0.identity == asked ? $0.node : nil
    }) {
      return known
    }
    let node = alias.column(
      definition.name, isNullable: definition.type.isNullable,
      as: .column(isKey: definition.isPrimaryKey, definition.type.kind), coding: expressionCoding)
    // Set once, and released with this object.
    let reference = Unmanaged.passRetained(QualifiedColumn(alias: alias, node: node))
    let isFirst = qualified.compareExchange(
      expected: nil, desired: reference, ordering: .acquiringAndReleasing
    ).exchanged
    if !isFirst { reference.release() }
    return node
  }

  /// Access to a record's property with the column's coding.
  @usableFromInline
  func access<R>(by keyPath: KeyPath<R, Value> & Sendable) -> PropertyAccess {
    .coded(keyPath, coding)
  }

  /// The same column with another property.
  @usableFromInline
  init(_ column: ColumnStorage<Value>, _ access: PropertyAccess) {
    definition = column.definition
    unqualified = column.unqualified
    expressionCoding = column.expressionCoding
    coding = column.coding
    self.access = access
  }

  deinit { qualified.load(ordering: .acquiring)?.release() }

  @usableFromInline
  init(
    _ name: String, _ options: [ColumnOption<Value>], _ coding: ColumnCoding<Value>,
    _ access: PropertyAccess, _ expressionCoding: ((String?) -> ExpressionCoding)?
  ) {
    self.coding = coding
    self.access = access
    unqualified = SQLFragment(text: name.quotedIdentifier)
    var definition = ColumnDefinition(name: name, type: coding.columnType)
    definition.form = coding.form
    for option in options {
      option.apply(&definition)
      if let value = option.defaultValue {
        definition.defaultValue = { try coding.stored(value, $0) }
      }
      if let timestamp = option.timestamp {
        definition.timestamp = ColumnTimestamp(
          isOfCreation: timestamp.isOfCreation, coding, timestamp.value)
      }
    }
    definition.numbers = coding.numbers
    definition.isDateText = coding.isDateText
    if expressionCoding != nil { definition.code = { coding.coded($0) } }
    self.definition = definition
    // These comparisons need no lookup where the compiler knows the type.
    let isFloat = Value.self == Float.self || Value.self == Float?.self
    let collation = definition.knownCollation
    let codesValues = isFloat || coding.columnType.kind == .decimal
    self.expressionCoding =
      expressionCoding?(collation)
      ?? (codesValues || collation != nil
        ? ExpressionCoding(coding, collation: collation, codesValues: codesValues) : nil)
  }
}

private final class QualifiedColumn: Sendable {
  // Retained, so that no other alias can get the address that is its identity.
  private let alias: QueryAlias
  let identity: ObjectIdentifier
  let node: SQLFragment

  init(alias: QueryAlias, node: SQLFragment) {
    self.alias = alias
    identity = ObjectIdentifier(alias)
    self.node = node
  }
}
