import LarderSQLite

/// A column of a record's table, and the property that it stores.
///
/// ```swift
/// let id = Column("id", \City.id, .primaryKey)
/// let population = Column("population", \City.population, .indexed, .default(0))
/// let country = Column("country", \City.country, .references(Country.self, onDelete: .cascade))
/// let founded = Column("founded", \City.founded, as: .iso8601)
/// ```
///
/// The name may be anything but empty, without NUL. A property of a type that doesn't say how it is
/// stored needs a coding: see ``ColumnCoding``.
public struct Column<R, Value: Sendable>: Sendable {
  /// The column's name.
  public let name: String
  /// The coding, if it isn't the type's own.
  let coding: ColumnCoding<Value>?
  @usableFromInline let access: PropertyAccess
  let definition: ColumnDefinition

  /// A column whose type says how it is stored.
  @inlinable
  public init(
    _ name: String, _ keyPath: KeyPath<R, Value> & Sendable, _ options: ColumnOption<Value>...
  ) where Value: DatabaseValueConvertible {
    let isWritable = keyPath is WritableKeyPath<R, Value>
    let access = MemoryLayout<R>.offset(of: keyPath).map {
      PropertyAccess.plain(Value.self, offset: $0, isWritable: isWritable)
    }
    self.init(name, options, .plain, access ?? .coded(keyPath, .plain), isPlain: true)
  }

  /// A column with a coding of its own.
  @_disfavoredOverload
  public init(
    _ name: String, _ keyPath: KeyPath<R, Value> & Sendable, _ options: ColumnOption<Value>...,
    as coding: ColumnCoding<Value>
  ) {
    self.init(name, options, coding, .coded(keyPath, coding), isPlain: false)
  }

  /// A column with a coding of its own for what an Optional wraps.
  public init<Wrapped: Sendable>(
    _ name: String, _ keyPath: KeyPath<R, Wrapped?> & Sendable,
    _ options: ColumnOption<Wrapped?>...,
    as coding: ColumnCoding<Wrapped>
  ) where Value == Wrapped? {
    self.init(name, options, coding.optional, .coded(keyPath, coding.optional), isPlain: false)
  }

  @usableFromInline
  init(
    _ name: String, _ options: [ColumnOption<Value>], _ coding: ColumnCoding<Value>,
    _ access: PropertyAccess, isPlain: Bool
  ) {
    self.name = name
    self.coding = isPlain ? nil : coding
    self.access = access
    var definition = ColumnDefinition(name: name, type: coding.columnType)
    for option in options {
      option.apply(&definition)
      if let value = option.defaultValue {
        definition.defaultValue = { try coding.stored(value, $0) }
      }
    }
    if !isPlain {
      definition.code = { value in
        (value as? Value).map { CodedValue(value: $0, coding: coding) } ?? value
      }
    }
    self.definition = definition
  }
}
