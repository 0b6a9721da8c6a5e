import LarderSQLite

/// A table's name in a query.
@usableFromInline
final class QueryAlias: Sendable {
  let name: String
  /// The table's own name; the same, if it has no other in the query.
  let table: String
  /// The name quoted, with the dot.
  let prefix: String
  /// The codings of the columns, if the table isn't a record's.
  let codings: [ExpressionCoding?]
  /// Further data for the table's fields, if the table is neither a record's nor an expression.
  let source: (any AnyObject & Sendable)?

  @usableFromInline static let none = QueryAlias("")

  init(
    _ name: String, of table: String? = nil, codings: [ExpressionCoding?] = [],
    source: (any AnyObject & Sendable)? = nil
  ) {
    self.name = name
    self.table = table ?? name
    self.codings = codings
    self.source = source
    prefix = name.quotedIdentifier + "."
  }

  /// The table under this name, as FROM lists it.
  func definition(of table: String) -> SQLFragment {
    SQLFragment(text: Self.definition(of: table, as: name))
  }

  static func definition(
    of table: String, in schema: String? = nil, as alias: String
  ) -> String {
    let quoted = table.quoted(in: schema)
    return alias.isSame(as: table) ? quoted : "\(quoted) AS \(alias.quotedIdentifier)"
  }

  func column(
    _ name: String, isNullable: Bool = true, as known: SQLOperator = .or,
    coding: ExpressionCoding? = nil
  ) -> SQLFragment {
    let column = SQLFragment(
      text: prefix + name.quotedIdentifier, isNullable: isNullable, as: known, coding: coding)
    if let moment = coding?.moment { return column.moment(as: moment) }
    return coding?.isDecimal == true ? column.decimal : column
  }
}

/// The column names of a table, if they aren't `c1`, `c2` and so on, and which of the columns are keys.
final class CommonColumns: Sendable {
  let names: [String]
  private let keys: [Bool]

  init(_ names: [String], keys: [Bool] = []) {
    self.names = names
    self.keys = keys
  }

  /// Whether a table's column at this index, from 0, is a key, which is never NULL.
  static func isKey(_ index: Int, of alias: QueryAlias) -> Bool {
    guard let keys = (alias.source as? CommonColumns)?.keys else { return false }
    return index < keys.count && keys[index]
  }

  /// The name of a table's column at this index, from 0.
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
  /// The tables with their joins, as FROM lists them.
  let text: SQLFragment
  @usableFromInline let aliases: [QueryAlias]
  /// All columns, if the only table is a record's under its own name.
  @usableFromInline let ownColumns: SQLFragment?

  /// Whether the name stands for some rows of a table, rather than for the whole table.
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

  /// The name of the table at this index; an empty one beyond the last table.
  @inlinable
  func alias(at index: Int) -> QueryAlias {
    index < aliases.count ? aliases[index] : .none
  }
}
