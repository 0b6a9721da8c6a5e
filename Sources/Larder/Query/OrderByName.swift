import LarderSQLite

/// A name that was chosen by a user and isn't that of a column.
public struct UnknownColumn: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table's name.
  public let table: String
  /// The name that no column has.
  public let column: String

  /// One line with both names.
  public var description: String { "“\(table)” has no column “\(column)”" }
}

extension Query where From: Record {
  /// In the order of a column that a user chose, where the terms that were named before are equal.
  ///
  /// Throws ``UnknownColumn`` for what isn't exactly the name of one of the record's columns.
  public func order(byColumnNamed name: String, descending: Bool = false) throws -> Self {
    let core = From.table.core
    guard core.columns.contains(where: { $0.name.isSame(as: name) }),
      let alias = select.tables.aliases.first
    else {
      throw UnknownColumn(table: core.name, column: name)
    }
    var query = self
    let column = alias.column(name)
    query.select.add(order: descending ? SQLFragment(.descending, column) : column)
    return query
  }
}
