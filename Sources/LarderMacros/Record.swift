@_exported import Larder

/// Makes a record of a structure: writes its `Columns`, `columns` and `table`, and the conformance to
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
/// Each stored property is a column of its own name, unless `@Column` says more of it, or
/// ``NotStored()`` that it is none. Properties that are computed, lazy or static are none. What is written can be
/// read: `swiftc -dump-macro-expansions`, or “expand macro” in an editor. Where the type has initializers of its
/// own, or a property is private, an initializer for the table is written too, so that the types of properties
/// have to be.
///
/// What can't be a record, or can't be read, is an error in its place: generic types, classes that aren't
/// final, properties with wrappers, constants that have their value, properties under `#if`.
///
/// - Parameters:
///   - name: the table's name; that of the type with a small letter if left out: `city`.
///   - constraints: those that aren't a single column's, with columns by their properties: `.unique(\.name, \.country)`.
///   - indexes: those that aren't a single column's: `.index(\.country, \.name, where: "population > 0")`.
///   - options: whether it has no row id, or no primary key, or isn't STRICT.
@attached(member, names: named(Columns), named(columns), named(table), named(init))
@attached(extension, conformances: Record, SingleSource, QuerySource, names: named(init))
public macro Record(
  _ name: String = "", constraints: [RecordAttribute.TableConstraint] = [],
  indexes: [RecordAttribute.TableConstraint] = [], options: TableOptions = []
) = #externalMacro(module: "LarderMacrosPlugin", type: "RecordMacro")

/// What a property's column is besides its type, in a type that is a ``Record(_:constraints:indexes:options:)``.
///
/// ```swift
/// @Column(.primaryKey) var id: Int64?
/// @Column("title", .unique, .collate("NOCASE")) var name: String
/// @Column(as: .json) var tags: [String]
/// ```
///
/// - Parameters:
///   - options: the column's name as a string literal, where that isn't the property's, and then its options.
///   - coding: how it is stored, where its type doesn't say so: `.json`.
@attached(peer)
public macro Column(
  _ options: RecordAttribute.ColumnOption..., as coding: RecordAttribute.JSON? = nil
) = #externalMacro(module: "LarderMacrosPlugin", type: "PropertyMacro")

/// A column with a coding other than JSON: `@Column(as: .iso8601)`, `@Column("founding", as: .iso8601)`. A coding
/// by two closures has its type written: `as: ColumnCoding<Color>(encode: …, decode: …)`.
@attached(peer)
public macro Column<Value: Sendable>(
  _ options: RecordAttribute.ColumnOption..., as coding: ColumnCoding<Value>
) = #externalMacro(module: "LarderMacrosPlugin", type: "PropertyMacro")

/// A stored property that is no column. It has a value, with which records come from the database.
@attached(peer)
public macro NotStored() = #externalMacro(module: "LarderMacrosPlugin", type: "PropertyMacro")
