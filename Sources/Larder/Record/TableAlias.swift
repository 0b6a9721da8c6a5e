import LarderSQLite

/// A table's name in a query.
@usableFromInline
final class QueryAlias: Sendable {
  let name: String
  /// The name quoted, with the dot.
  let prefix: String
  /// How the columns are stored, where the table is no record's.
  let codings: [ExpressionCoding?]
  /// What its fields know besides columns, where the table is neither a record's nor an expression.
  let source: (any AnyObject & Sendable)?

  @usableFromInline static let none = QueryAlias("")

  init(
    _ name: String, codings: [ExpressionCoding?] = [], source: (any AnyObject & Sendable)? = nil
  ) {
    self.name = name
    self.codings = codings
    self.source = source
    prefix = name.quotedIdentifier + "."
  }

  /// The table with this name, as it stands behind FROM.
  func definition(of table: String) -> SQLFragment {
    let quoted = table.quotedIdentifier
    return SQLFragment(
      text: name.isSame(as: table) ? quoted : "\(quoted) AS \(name.quotedIdentifier)")
  }

  /// A column of the table.
  func column(
    _ name: String, isNullable: Bool = true, as known: SQLOperator = .or,
    coding: ExpressionCoding? = nil
  ) -> SQLFragment {
    let column = SQLFragment(
      text: prefix + name.quotedIdentifier, isNullable: isNullable, as: known, coding: coding)
    return coding?.isDecimal == true ? column.decimal : column
  }
}

/// The names of a table's columns, where they aren't `c1`, `c2` and so on, and which of them are keys.
final class CommonColumns: Sendable {
  let names: [String]
  private let keys: [Bool]

  init(_ names: [String], keys: [Bool] = []) {
    self.names = names
    self.keys = keys
  }

  /// Whether a column of a table, from 0, is a key, which is never NULL.
  static func isKey(_ index: Int, of alias: QueryAlias) -> Bool {
    guard let keys = (alias.source as? CommonColumns)?.keys else { return false }
    return index < keys.count && keys[index]
  }

  /// The name of a column of a table, from 0.
  static func name(_ index: Int, of alias: QueryAlias) -> String {
    guard let names = (alias.source as? CommonColumns)?.names, index < names.count else {
      return "c\(index + 1)"
    }
    return names[index]
  }
}

/// The tables of a query.
@usableFromInline
final class QueryTables: Sendable {
  /// The tables with their joins, as they stand behind FROM.
  let text: SQLFragment
  /// The tables' names in order.
  @usableFromInline let aliases: [QueryAlias]
  /// All columns, where a record's table under its own name is the only one.
  @usableFromInline let ownColumns: SQLFragment?

  /// Whether what is behind the name isn't a table as a whole, but rows of one.
  let isDerived: Bool

  init(
    _ text: SQLFragment, _ aliases: [QueryAlias], ownColumns: SQLFragment? = nil,
    isDerived: Bool = false
  ) {
    self.isDerived = isDerived
    self.text = text
    self.aliases = aliases
    self.ownColumns = ownColumns
  }

  /// The name of a table; an empty one where somebody asks for more tables than there are.
  @inlinable
  func alias(at index: Int) -> QueryAlias {
    index < aliases.count ? aliases[index] : .none
  }
}

/// The name and definition of what is joined: a table, or a ``CommonTable``.
@_documentation(visibility: internal)
public struct QueryTableDefinition: Sendable {
  let name: String
  /// The definition; nil for a table that is there, whose name alone stands behind FROM.
  let source: SQLFragment?
  /// How its columns are stored.
  let codings: [ExpressionCoding?]
  /// The names of its columns, where they aren't the ones that its type says.
  var columns: CommonColumns?
  /// The record's table, where it is one.
  var record: TableCore?

  /// The table under its name in a query.
  func named(_ alias: String) -> SQLFragment {
    if let record { return record.reference(as: alias) }
    if let source { return "\(source) AS \(name: alias)" }
    return alias.isSame(as: name) ? "\(name: name)" : "\(name: name) AS \(name: alias)"
  }
}
