import LarderSQLite

// ORDER BY of a column whose name a user chose.

extension Query where From: Record {
  /// Orders rows by a column that a user chose. Earlier terms take precedence.
  ///
  /// Throws ``RecordError/unknownColumn(table:column:)`` unless `name` is exactly the name of one of the
  /// record's columns.
  public func order(byColumnNamed name: String, descending: Bool = false) throws -> Self {
    let core = From.table.core
    guard let definition = core.columns.first(where: { $0.name.isSame(as: name) }),
      let alias = select.tables.aliases.first
    else {
      throw RecordError.unknownColumn(table: core.name, column: name)
    }
    var query = self
    let named = alias.column(name, coding: definition.comparisonCoding)
    let column = definition.type.kind == .decimal ? named.decimalKey : named
    query.select.add(order: descending ? SQLFragment(.descending, column) : column)
    return query
  }
}
