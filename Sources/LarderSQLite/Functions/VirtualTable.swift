// Virtual tables of the program's own, which CREATE VIRTUAL TABLE makes.

/// A table whose rows are read from elsewhere, such as a file or another service.
///
/// ```swift
/// VirtualTable(
///   VirtualColumn("id", .integer, by: [.value, .range, .order]), "name", primaryKey: "id"
/// ) { request in
///   try service.cities(id: request.equals["id"], from: request.ranges["id"]?.lower)
///     .map { [.integer($0.id), .text($0.name)] }
/// }
/// ```
///
/// See ``Database/createModule(_:directOnly:isWritable:_:)``, which makes them, and
/// [The Virtual Table Mechanism](https://www.sqlite.org/vtab.html).
public struct VirtualTable: Sendable {
  let columns: [VirtualColumn]
  let keys: [String]
  let primaryKey: String?
  let changes: VirtualTableChanges?
  let rows: @Sendable (VirtualTableRequest, RowCheck?) throws -> TableRows

  /// A table of columns without types that can be read.
  ///
  /// - `columns`: their names.
  /// - `keys`: those of them by whose value the rows can be found faster than by reading all.
  /// - `rows`: the rows as lists of the columns' values; what is missing is NULL. It gets the values that keys have to
  ///   equal, as far as a query says: other rows needn't be returned, but may be, since SQLite compares them again.
  ///   Numbers are equal as SQLite compares them: 1 is 1.0. By a number from another table no rows are asked for, since
  ///   SQLite takes texts for numbers beside it: columns with types have what joins them read less.
  ///   It is called each time the table is read, and what it returns is asked for one row after the other, both on the
  ///   thread that runs the statement. What it throws becomes the statement's error as for ``TableFunction``.
  public init<Rows: Sequence & SendableMetatype>(
    columns: [String], keys: [String] = [],
    rows: @escaping @Sendable (_ equals: [String: DatabaseValue]) throws -> Rows
  ) where Rows.Element == [DatabaseValue], Rows.Iterator: SendableMetatype {
    let columns = columns.map { VirtualColumn($0, by: keys.contains($0) ? .value : []) }
    self.init(columns, keys, nil, nil) { try rows($0.equals) }
  }

  /// A table of columns that say what they hold and what rows can be asked for by.
  ///
  /// - `columns`: at least one. A name alone is one of any values.
  /// - `primaryKey`: a column whose value no two rows have, nor NULL. SQLite relies on it: of two rows with the same it may
  ///   leave one out. The table has no row ids then, but can have `changes`.
  /// - `changes`: what is done with rows that are written. The module has to be registered as writable.
  /// - `rows`: the rows as lists of the columns' values; what is missing is NULL. It is asked for them as the columns' `by`
  ///   allows, and called as the other form's is. Within one statement it has to find the same rows each time.
  public init<Rows: Sequence & SendableMetatype>(
    _ columns: VirtualColumn..., primaryKey: String? = nil, changes: VirtualTableChanges? = nil,
    rows: @escaping @Sendable (VirtualTableRequest) throws -> Rows
  ) where Rows.Element == [DatabaseValue], Rows.Iterator: SendableMetatype {
    self.init(columns, [], primaryKey, changes, rows)
  }

  private init<Rows: Sequence & SendableMetatype>(
    _ columns: [VirtualColumn], _ keys: [String], _ primaryKey: String?,
    _ changes: VirtualTableChanges?,
    _ rows: @escaping @Sendable (VirtualTableRequest) throws -> Rows
  ) where Rows.Element == [DatabaseValue], Rows.Iterator: SendableMetatype {
    self.columns = columns
    self.keys = keys
    self.primaryKey = primaryKey
    self.changes = changes
    self.rows = {
      TableRows(lists: try rows($0), columnCount: columns.count, check: $1)
    }
  }

  /// Throws `ResultCode.misuse` for a key that is no column, and changes that can't be made.
  func shape(_ name: String, isDirectOnly: Bool, isWritable: Bool) throws -> TableShape {
    for key in keys + (primaryKey.map { [$0] } ?? [])
    where !columns.contains(where: { $0.name == key }) {
      throw DatabaseError(.misuse, "\(name) has no column \(key) for a key")
    }
    if changes != nil {
      guard primaryKey != nil else {
        throw DatabaseError(.misuse, "\(name) needs a primary key for its changes")
      }
      guard isWritable else {
        throw DatabaseError(.misuse, "\(name) has changes: its module has to be writable")
      }
    }
    let shape = TableShape(
      name, columns: columns, primaryKey: columns.firstIndex { $0.name == primaryKey },
      isDirectOnly: isDirectOnly, changes: changes, rows: .request(rows))
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
  /// between the parentheses, parted at commas, as it is written.
  ///
  /// - `directOnly`: whether the tables have to be temporary ones (`CREATE VIRTUAL TABLE temp.name …`), and can't be
  ///   used in views and triggers. Otherwise the file keeps their definition, and whoever has written the file
  ///   chooses what the closure gets: it must trust none of it.
  /// - `isWritable`: whether tables may have ``VirtualTableChanges``. Without it statements that write are refused
  ///   when they are compiled, with it when they come to a row.
  ///
  /// Registering one anew replaces it, for tables that are opened from then on; ``removeFunction(_:argumentCount:)``
  /// removes it. Throws `ResultCode.misuse` for a name that is empty, too long, has a NUL or is one of SQLite's.
  public func createModule(
    _ name: String, directOnly: Bool = true, isWritable: Bool = false,
    _ body: @escaping @Sendable (_ arguments: [String]) throws -> VirtualTable
  ) throws {
    try connection.registerTables(name, isWritable ? .writable : .creatable) {
      table, database, arguments in
      guard !directOnly || database == "temp" else {
        throw DatabaseError(
          .misuse, "\(name) makes temporary tables only: \(table) would be one of the file's")
      }
      let opened = try body(arguments)
      return try opened.shape(table, isDirectOnly: directOnly, isWritable: isWritable)
    }
  }
}
