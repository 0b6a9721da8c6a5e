import LarderSQLite

// Columns and tables, interpolated into a program's own SQL.

extension SQL.Interpolation {
  /// A column's name, qualified by its table's, in double quotes:
  /// `"SELECT \(City.columns.name) FROM \(City.table)"`.
  @_documentation(visibility: internal)
  public mutating func appendInterpolation<R: Record, Value>(_ column: Column<R, Value>) {
    appendInterpolation(identifier: R.table.name)
    appendLiteral(".")
    appendInterpolation(identifier: column.name)
  }

  /// A table's name in double quotes, behind that of its schema if the declaration names one.
  @_documentation(visibility: internal)
  public mutating func appendInterpolation<R: Record>(_ table: Table<R>) {
    if let schema = table.schema {
      appendInterpolation(identifier: schema)
      appendLiteral(".")
    }
    appendInterpolation(identifier: table.name)
  }
}
