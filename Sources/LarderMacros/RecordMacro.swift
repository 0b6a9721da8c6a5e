@_exported import Larder

/// Makes a record of a structure. Writes its `Columns`, `columns` and `table`, and the conformance to
/// ``Larder/Record``, as one would by hand.
///
/// ```swift
/// @Record
/// struct City {
///   @Column(.primaryKey) var id: Int64?
///   var name: String
///   @Column("inhabitants", .indexed, .default(0)) var population: Int
///   @Column(as: .iso8601) var founded: Date?
///   @Column(.references(Country.self, onDelete: .cascade)) var country: String
///   @NotStored var isSelected = false
/// }
/// ```
///
/// Each stored property is a column of its own name, unless `@Column` says more about it or ``NotStored()``
/// excludes it. Computed, lazy and static properties are no columns. The written code can be read:
/// `swiftc -dump-macro-expansions`, or “expand macro” in an editor. If the type has its own initializers, or
/// a property is private or has an init accessor, the macro also writes an initializer for the table. The types
/// of properties have to be written then.
///
/// A type that can't be a record, or can't be read, is an error in its place: generic types, private types in
/// others, classes that aren't final, properties with wrappers, constants that have their value, properties
/// under `#if`.
///
/// - Parameters:
///   - name: the table's name; by default the type's with a small letter: `city`.
///   - schema: the table's schema (namespace) on PostgreSQL, or an attached database on SQLite.
///   - constraints: those that don't belong to a single column, with columns by their properties:
///     `.unique(\.name, \.country)`.
///   - indexes: those that don't belong to a single column:
///     `.index(\.country, \.name, where: "population > 0")`.
///   - options: whether the table has no row id, or no primary key, or isn't STRICT.
@attached(
  member,
  names: named(Columns), named(columns), named(table), named(init), named(QueryFields),
  named(QueryRow), named(QueryNullable))
@attached(
  extension, conformances: Record, SingleSource, QuerySource,
  names: named(init), named(QueryFields), named(QueryRow), named(QueryNullable))
public macro Record(
  _ name: String = "", schema: String? = nil, constraints: [RecordAttribute.TableConstraint] = [],
  indexes: [RecordAttribute.TableConstraint] = [], options: TableOptions = []
) = #externalMacro(module: "LarderMacrosPlugin", type: "RecordMacro")

/// Makes a record of a structure that has some of the properties of another record, and takes their columns
/// from it; see ``Larder/Table/init(of:_:_:notStored:)``.
///
/// ```swift
/// @Record(of: City.self)
/// struct CityHead {
///   let id: Int64?
///   var name: String
/// }
/// ```
///
/// - Parameter whole: the record whose properties have the same names and types.
@attached(
  member,
  names: named(Columns), named(columns), named(table), named(init), named(QueryFields),
  named(QueryRow), named(QueryNullable))
@attached(
  extension, conformances: Record, SingleSource, QuerySource,
  names: named(init), named(QueryFields), named(QueryRow), named(QueryNullable))
public macro Record<Whole>(of whole: Whole.Type) =
  #externalMacro(module: "LarderMacrosPlugin", type: "RecordMacro")

/// Says more about a property's column than its type does, in a type that is a
/// ``Record(_:schema:constraints:indexes:options:)``.
///
/// ```swift
/// @Column(.primaryKey) var id: Int64?
/// @Column("title", .unique, .collate("NOCASE")) var name: String
/// @Column(as: .json) var tags: [String]
/// ```
///
/// - Parameters:
///   - options: the column's name as a string literal, if it isn't the property's; then its options.
///   - coding: how the value is stored, if its type doesn't say so: `.json`, `.array`.
@attached(peer)
public macro Column(
  _ options: RecordAttribute.ColumnOption..., as coding: RecordAttribute.JSON? = nil
) = #externalMacro(module: "LarderMacrosPlugin", type: "PropertyMacro")

/// A column with a coding other than JSON and arrays: `@Column(as: .iso8601)`, `@Column("founding", as: .iso8601)`. For
/// a coding by two closures, write its type: `as: ColumnCoding<Color>(encode: …, decode: …)`.
@attached(peer)
public macro Column<Value: Sendable>(
  _ options: RecordAttribute.ColumnOption..., as coding: ColumnCoding<Value>
) = #externalMacro(module: "LarderMacrosPlugin", type: "PropertyMacro")

/// A stored property that is no column. It has a value, which records from the database get.
@attached(peer)
public macro NotStored() = #externalMacro(module: "LarderMacrosPlugin", type: "PropertyMacro")
