import LarderSQLite

// Properties of a server's columns that no record declares, and that a rebuild keeps.

extension TableSchema {
  /// This table with what an existing one has and a declaration can't say: domains of the declared type, and
  /// how rows are numbered, if they are to be numbered.
  func keeping(_ old: TableSchema) -> TableSchema {
    var table = self
    for index in table.columns.indices {
      let column = table.columns[index]
      guard let former = old.column(column.name) else { continue }
      if former.baseType != nil, former.baseType == column.type {
        table.columns[index].type = former.type
        table.columns[index].collation = former.collation
        table.columns[index].baseType = former.baseType
      }
      // Another program's text stays in the order in which its indexes have it.
      if column.collation == "C", former.collation == nil, former.type == column.type {
        table.columns[index].collation = nil
      }
      if column.isNumbered, former.isNumbered {
        table.columns[index].identity = former.identity
        table.columns[index].default = former.default
        table.columns[index].isSerial = former.isSerial
      }
    }
    return table
  }
}
