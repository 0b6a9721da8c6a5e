import Larder

// Custom virtual tables, created by CREATE VIRTUAL TABLE.

/// A table whose rows are read from outside the database, such as from a file or another service.
///
/// ```swift
/// VirtualTable(
///   .init("id", .integer, by: [.value, .range, .order]), "name", primaryKey: "id"
/// ) { request in
///   try service.cities(id: request.value["id"], from: request.range["id"]?.lower)
///     .map { [.integer($0.id), .text($0.name)] }
/// }
/// ```
///
/// Created by a module: see `Database.createModule` and
/// [The Virtual Table Mechanism](https://www.sqlite.org/vtab.html).
public struct VirtualTable: Sendable {
  let columns: [VirtualColumn]
  let keys: [String]
  let primaryKey: String?
  let changes: VirtualTableChanges?
  let rows: @Sendable (VirtualTableRequest, RowCheck?) throws -> TableRows

  /// A read-only table of columns without types.
  ///
  /// - `columns`: the columns' names.
  /// - `keys`: the columns by whose value rows can be found faster than by reading all.
  /// - `rows`: returns the rows as lists of the columns' values. Missing values are NULL. It gets the values
  ///   that keys have to equal, as far as a query limits them. It may return other rows too, since SQLite
  ///   checks them again. Numbers are equal as SQLite compares them: 1 is 1.0. Numbers of another table's
  ///   columns aren't passed on, since SQLite would also match texts that are numbers; in joins, columns with
  ///   types read fewer rows. It is called each time the table is read, and its result is read row by row,
  ///   both on the thread that runs the statement. Its errors become the statement's, as for
  ///   ``TableFunction``.
  public init<Rows: Sequence & SendableMetatype>(
    columns: [String], keys: [String] = [],
    rows: @escaping @Sendable (_ equals: [String: DatabaseValue]) throws -> Rows
  ) where Rows.Element == [DatabaseValue], Rows.Iterator: SendableMetatype {
    let columns = columns.map { VirtualColumn($0, by: keys.contains($0) ? .value : []) }
    self.init(columns, keys, nil, nil) { try rows($0.value) }
  }

  /// A table of columns with types and the ways in which rows can be asked for.
  ///
  /// - `columns`: at least one. A name alone declares a column of any type.
  /// - `primaryKey`: a column whose values are unique and never NULL. SQLite relies on it, and may skip one
  ///   of two rows with the same value. The table has no row ids then, but can have `changes`.
  /// - `changes`: closures that write rows. The module has to be registered as writable.
  /// - `rows`: returns the rows as lists of the columns' values. Missing values are NULL. Its request uses
  ///   the columns as their `by` allows. It is called as in the other initializer. Within one statement it
  ///   has to find the same rows each time.
  public init<Rows: Sequence & SendableMetatype>(
    _ columns: VirtualColumn..., primaryKey: String? = nil,
    changes: VirtualTableChanges? = nil,
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

  /// The index of the primary key's column; nil if there is none.
  var keyIndex: Int? { columns.firstIndex { $0.name == primaryKey } }

  /// The shape of the table. Throws `ResultCode.misuse` for a key that isn't a column, and for changes that
  /// can't be made.
  func shape(_ name: String, isDirectOnly: Bool, isWritable: Bool) throws -> TableShape {
    for key in keys + (primaryKey.map { [$0] } ?? [])
    where !columns.contains(where: { $0.name == key }) {
      throw DatabaseError(.misuse, "\(name) has no column \(key), which its key names")
    }
    if changes != nil {
      guard primaryKey != nil else {
        throw DatabaseError(.misuse, "\(name) takes changes, so it needs a primary key")
      }
      guard isWritable else {
        throw DatabaseError(.misuse, "\(name) takes changes, so its module has to be writable")
      }
    }
    let shape = TableShape(
      name, columns: columns.map(\.name), declaration: declaration, isDirectOnly: isDirectOnly,
      rows: .request { RequestedTable(name, self) })
    try shape.check()
    for column in columns { try column.check() }
    return shape
  }

  /// The declaration for SQLite. With a primary key, rows have no row ids.
  private var declaration: String {
    let keyIndex = keyIndex
    var list = columns.enumerated().map { index, column in
      column.declaration + (index == keyIndex ? " NOT NULL" : "")
    }
    if let primaryKey { list.append("PRIMARY KEY (\(primaryKey.quotedIdentifier))") }
    return "CREATE TABLE larder (\(list.joined(separator: ", ")))"
      + (primaryKey == nil ? "" : " WITHOUT ROWID")
  }
}

extension Database {
  /// Registers a module, with which `CREATE VIRTUAL TABLE … USING name(…)` creates tables.
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
  /// The closure is called when a connection opens a table: when it is created, or first used. It gets the
  /// arguments between the parentheses, split at commas and otherwise as they are written.
  ///
  /// - `directOnly`: whether tables have to be temporary (`CREATE VIRTUAL TABLE temp.name …`) and are barred
  ///   from views and triggers. Otherwise the file keeps their definitions, and whoever wrote the file
  ///   chooses the closure's arguments: it mustn't trust them.
  /// - `isWritable`: whether tables may have ``LarderVirtualTables/VirtualTableChanges``. Statements that
  ///   write are refused when they are compiled if this is false, and otherwise, for a table without
  ///   changes, when they come to a row.
  ///
  /// Registering a module again replaces it, for tables that are opened from then on;
  /// `removeFunction(_:argumentCount:)` removes it. Throws `ResultCode.misuse` for a name that is empty,
  /// too long, contains NUL or is that of a module of SQLite.
  public func createModule(
    _ name: String, directOnly: Bool = true, isWritable: Bool = false,
    _ body: @escaping @Sendable (_ arguments: [String]) throws -> VirtualTable
  ) throws {
    try connection.registerTables(
      name, isWritable ? TableMethods.writable : TableMethods.creatable
    ) {
      table, database, arguments in
      guard !directOnly || database == "temp" else {
        throw DatabaseError(
          .misuse, "\(name) only makes temporary tables: create \(table) in the schema temp")
      }
      let opened = try body(arguments)
      return try opened.shape(table, isDirectOnly: directOnly, isWritable: isWritable)
    }
  }
}
