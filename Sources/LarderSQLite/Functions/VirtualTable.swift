// Virtual tables of the program's own, which CREATE VIRTUAL TABLE makes.

/// A table whose rows are read from elsewhere, such as a file or another service.
///
/// See ``Database/createModule(_:directOnly:_:)``, which makes them, and
/// [The Virtual Table Mechanism](https://www.sqlite.org/vtab.html).
public struct VirtualTable: Sendable {
  let columns: [String]
  let keys: [String]
  let rows: @Sendable (TableArguments, [String]) throws -> TableRows

  /// A table that can be read.
  ///
  /// - `columns`: their names.
  /// - `keys`: those of them by whose value the rows can be found faster than by reading all.
  /// - `rows`: the rows as lists of the columns' values; what is missing is NULL. It gets the values that keys have to
  ///   equal, as far as a query says: other rows needn't be returned, but may be, since SQLite compares them again.
  ///   It is called each time the table is read, and what it returns is asked for one row after the other, both on the
  ///   thread that runs the statement. What it throws becomes the statement's error as for ``TableFunction``.
  public init<Rows: Sequence & SendableMetatype>(
    columns: [String], keys: [String] = [],
    rows: @escaping @Sendable (_ equals: [String: DatabaseValue]) throws -> Rows
  ) where Rows.Element == [DatabaseValue], Rows.Iterator: SendableMetatype {
    self.columns = columns
    self.keys = keys
    self.rows = { arguments, keys in
      var equals: [String: DatabaseValue] = [:]
      for (key, value) in zip(keys, try arguments.all()) { equals[key] = value }
      return TableRows(lists: try rows(equals), columnCount: columns.count)
    }
  }

  /// Throws `ResultCode.misuse` for a key that is no column.
  func shape(_ name: String, isDirectOnly: Bool) throws -> TableShape {
    let parameters = try keys.map { key in
      guard let column = columns.firstIndex(of: key) else {
        throw DatabaseError(.misuse, "\(name) has no column \(key) for a key")
      }
      return TableShape.Parameter(column: column, isRequired: false)
    }
    let (rows, keys) = (rows, keys)
    let shape = TableShape(name, columns: columns, parameters, isDirectOnly: isDirectOnly) {
      try rows($0, keys)
    }
    try shape.check()
    return shape
  }
}

extension Database {
  /// Registers a module: what `CREATE VIRTUAL TABLE … USING name(…)` makes tables with.
  ///
  /// ```swift
  /// try db.createModule("lines") { arguments in
  ///   let text = try String(contentsOfFile: arguments[0], encoding: .utf8)
  ///   return VirtualTable(columns: ["line"]) { _ in
  ///     text.split(separator: "\n").lazy.map { [.text(String($0))] }
  ///   }
  /// }
  /// try db.executeUpdate("CREATE VIRTUAL TABLE temp.hosts USING lines(/etc/hosts)")
  /// ```
  ///
  /// The closure is called when a connection opens a table: when it is created, or first used. It gets what stands
  /// between the parentheses, parted at commas, as it is written. The tables can be read but not be written to.
  ///
  /// - `directOnly`: whether the tables have to be temporary ones (`CREATE VIRTUAL TABLE temp.name …`), and can't be
  ///   used in views and triggers. Otherwise the file keeps their definition, and whoever has written the file
  ///   chooses what the closure gets: it must trust none of it.
  ///
  /// Registering one anew replaces it, for tables that are opened from then on; ``removeFunction(_:argumentCount:)``
  /// removes it. Throws `ResultCode.misuse` for a name that is empty, too long, has a NUL or is one of SQLite's.
  public func createModule(
    _ name: String, directOnly: Bool = true,
    _ body: @escaping @Sendable (_ arguments: [String]) throws -> VirtualTable
  ) throws {
    try connection.registerTables(name, isCreatable: true) { table, database, arguments in
      guard !directOnly || database == "temp" else {
        throw DatabaseError(
          .misuse, "\(name) makes temporary tables only: \(table) would be one of the file's")
      }
      let opened = try body(arguments)
      return try opened.shape(table, isDirectOnly: directOnly)
    }
  }
}
