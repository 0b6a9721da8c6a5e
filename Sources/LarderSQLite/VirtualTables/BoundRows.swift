import CSQLite

/// Rows that are bound to one parameter and read as a table: `larder_table(?)`.
///
/// The parameter's value is a pointer, which SQL can't make and sees as NULL; see
/// [The Pointer Passing Interfaces](https://www.sqlite.org/bindptr.html). The statement's text is the same
/// for any number of rows.
@usableFromInline
package final class BoundRows: DatabaseValueConvertible {
  static let table = "larder_table"
  /// The maximum number of columns. Columns that the rows lack are NULL.
  package static let mostColumns = 64

  let makeRows: @Sendable () throws -> TableRows

  @usableFromInline
  package init(_ makeRows: @escaping @Sendable () throws -> TableRows) { self.makeRows = makeRows }

  @usableFromInline
  package init(databaseValue: DatabaseValue) throws { throw Self.noValue }

  /// Always throws: a table isn't a single value.
  @usableFromInline
  package var databaseValue: DatabaseValue { get throws { throw Self.noValue } }

  private static var noValue: DatabaseError {
    DatabaseError(.misuse, "a table that is bound to a parameter has no single value")
  }

  @usableFromInline
  package func bind(to parameter: ParameterBinder) throws {
    try parameter.arena.bindTable(self, at: parameter.index) { rows in
      rows.map { Unmanaged<BoundRows>.fromOpaque($0).release() }
    }
  }

  /// The module's only table.
  static let shape = TableShape(
    table, columns: columnNames(mostColumns), [.init(isRequired: true)],
    isDirectOnly: true,
    rows: .call { arguments in
      guard let rows = arguments.boundRows else {
        throw DatabaseError(
          .misuse, "the argument of \(table) has to be a table that is bound to a parameter")
      }
      return try rows.makeRows()
    })

  private static func columnNames(_ count: Int) -> [String] { (1...count).map { "c\($0)" } }

  /// The SQL text of a table expression up to the parameter. Columns get these names; a missing name is
  /// `value` for the only column, or `c1`, `c2` … for several.
  package static func text(columnCount: Int, names: [String]) -> String {
    let columns = (0..<columnCount).map { index in
      let name =
        index < names.count ? names[index] : columnCount == 1 ? "value" : "c\(index + 1)"
      return "c\(index + 1) AS \(name.quotedIdentifier)"
    }
    return "(SELECT \(columns.joined(separator: ", ")) FROM \(table)("
  }

  /// The same rows or, if they can't have these columns, rows that throw when they are read.
  package func checked(columnCount: Int, names: [String]) -> BoundRows {
    if columnCount > Self.mostColumns {
      return BoundRows {
        throw DatabaseError(.misuse, "bound rows can have at most \(Self.mostColumns) columns")
      }
    }
    if names.count > columnCount || names.contains(where: \.isEmpty) {
      return BoundRows {
        throw DatabaseError(
          .misuse,
          "bound rows of \(columnCount) columns can't have \(names.count) names, or an empty name")
      }
    }
    return self
  }
}

extension SQL.Interpolation {
  /// Values as a table of one column, named `value` unless a name is given. They are bound to one parameter,
  /// so the text is the same for any number of them.
  ///
  /// ```swift
  /// try db.executeQuery("SELECT name FROM city JOIN \(table: ids) AS wanted ON city.id = wanted.value")
  /// try db.executeUpdate("DELETE FROM city WHERE id IN \(table: ids)")
  /// ```
  @_documentation(visibility: internal)
  @inlinable
  public mutating func appendInterpolation<Rows: Sequence>(table rows: Rows, columns: String...)
  where Rows.Element: DatabaseValueConvertible {
    let rows = Array(rows)
    append(BoundRows { TableRows(rows) }, columnCount: 1, columns)
  }

  /// Tuples as a table. The columns are named `c1`, `c2` and so on unless names are given.
  @_disfavoredOverload  // a value is a tuple of one
  @_documentation(visibility: internal)
  @inlinable
  public mutating func appendInterpolation<Rows: Sequence, each Value: DatabaseValueConvertible>(
    table rows: Rows, columns: String...
  ) where Rows.Element == (repeat each Value) {
    let rows = Array(rows)
    var count = 0
    for _ in repeat (each Value).self { count += 1 }
    append(BoundRows { TableRows(tuples: rows) }, columnCount: count, columns)
  }

  @usableFromInline
  mutating func append(_ rows: BoundRows, columnCount: Int, _ names: [String]) {
    sql.text += BoundRows.text(columnCount: columnCount, names: names)
    append(rows.checked(columnCount: columnCount, names: names))
    sql.text += "))"
  }
}
