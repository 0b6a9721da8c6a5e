import LarderSQLite

/// A record's table: its name, its columns, and the SQL that is made of them.
///
/// ```swift
/// static let table = Table("city", City.init, columns.id, columns.name, columns.population)
/// ```
///
/// The columns are in the order of the initializer's parameters, which for the compiler's own initializer is
/// that of the stored properties. Larder checks this, as far as it can, when the table is first used, and by
/// the first records that are read or written: up to 1000, until every two columns of the same type have had
/// different values. An operation on a wrongly declared table throws
/// ``RecordError/declaration(table:problem:)``. ``verify(_:)`` checks the order in a test.
public struct Table<R: Record>: Sendable {
  @usableFromInline let core: TableCore
  /// Reads a record from a statement's current row.
  @usableFromInline let read: @Sendable (RecordRow) throws -> R
  @usableFromInline let hooks: HookCalls<R>?
  /// Whether an operation changes the record before it writes, or can fail afterwards.
  @usableFromInline let needsScope: Bool
  /// Whether a single operation can fail after something was written.
  let needsTransaction: Bool

  /// A table of these columns.
  ///
  /// - Parameters:
  ///   - name: any text without NUL, except an empty one.
  ///   - make: an initializer, usually the compiler's own.
  ///   - columns: one for each parameter of the initializer, in the order of the stored properties.
  ///   - schema: the schema (namespace) that has the table on PostgreSQL, or the name of an attached database
  ///     on SQLite. All statements name it. Nil for the first schema of the search path in which a table of
  ///     this name is found, and for SQLite's `main`.
  ///   - constraints: those that aren't a single column's.
  ///   - indexes: those that aren't a single column's.
  ///   - options: whether it has no row id, or no primary key, or isn't STRICT.
  ///   - notStored: the record's stored properties that are deliberately in no column. Any other property
  ///     without a column makes all operations throw.
  @inlinable
  public init<each Value>(
    _ name: String, _ make: @escaping @Sendable (repeat consuming each Value) -> R,
    _ columns: repeat Column<R, each Value>, schema: String? = nil,
    constraints: [TableConstraint<R>] = [], indexes: [TableConstraint<R>] = [],
    options: TableOptions = [],
    notStored: [PartialKeyPath<R> & Sendable] = []
  ) {
    self.init(
      name, in: schema,
      TableDeclaration(of: R.self, constraints, indexes, options, notStored: notStored), make,
      repeat each columns)
  }

  /// Some of the columns of another record's table, for a record that is a part of the other.
  ///
  /// ```swift
  /// struct CityHead: Record {
  ///   let id: Int64
  ///   var name: String
  ///
  ///   struct Columns: Sendable {
  ///     let id = Column(City.columns.id, \CityHead.id)
  ///     let name = Column(City.columns.name, \CityHead.name)
  ///   }
  ///   static let columns = Columns()
  ///   static let table = Table(of: City.self, CityHead.init, columns.id, columns.name)
  /// }
  /// let heads = try City.filter { $0.population > 1_000_000 }.select(CityHead.self).fetchAll(db)
  /// // SELECT "city"."id", "city"."name" FROM "city" WHERE "city"."population" > ?
  /// try heads[0].update(db)      // UPDATE "city" SET "name" = :name WHERE "id" = :id
  /// ```
  ///
  /// Such a record is read, updated and deleted, and writes only its own columns. Inserting it, and creating or
  /// comparing its table, throws ``RecordError/declaration(table:problem:)``: the other record does that. The
  /// columns of the key and of the version have to be among the part's. Hooks are its own.
  ///
  /// - Parameters:
  ///   - whole: the record that declares the table.
  ///   - make: an initializer, usually the compiler's own.
  ///   - columns: one for each parameter of the initializer, in the order of the stored properties.
  ///   - notStored: the record's stored properties that are deliberately in no column.
  @inlinable
  public init<Whole: Record, each Value>(
    of whole: Whole.Type, _ make: @escaping @Sendable (repeat consuming each Value) -> R,
    _ columns: repeat Column<R, each Value>, notStored: [PartialKeyPath<R> & Sendable] = []
  ) {
    self.init(
      whole.table.name, in: whole.table.schema, whole.table.part(R.self, notStored), make,
      repeat each columns)
  }

  @usableFromInline
  func part<Part>(
    _ type: Part.Type, _ notStored: [PartialKeyPath<Part> & Sendable]
  ) -> TableDeclaration {
    TableDeclaration(
      of: type, partOf: core.recordType, core.columns, core.options, notStored: notStored)
  }

  @inlinable @inline(__always)
  init<each Value>(
    _ name: String, in schema: String?, _ declaration: TableDeclaration,
    _ make: @escaping @Sendable (repeat consuming each Value) -> R,
    _ columns: repeat Column<R, each Value>
  ) {
    repeat declaration.add(each columns)
    let core = TableCore(
      name, in: schema, declaration, tupleSize: MemoryLayout<(repeat each Value)>.size,
      columns: { TableDeclaration.problem(of: R.columns, given: $0, $1) }
    ) { memory, body in
      let values = memory.assumingMemoryBound(to: (repeat each Value).self).move()
      withUnsafePointer(to: make(repeat each values)) { body($0) }
    }
    // This closure captures nothing but a constant, so that the compiler inlines the initializer.
    self.init(core) { row in
      try withUnsafeTemporaryAllocation(
        byteCount: max(1, MemoryLayout<(repeat each Value)>.size),
        alignment: MemoryLayout<(repeat each Value)>.alignment
      ) { memory in
        guard let memory = memory.baseAddress else { throw RecordLayout.noMemory() }
        try row.read(into: memory)
        // The layout has just put the values there, at the places of a tuple's elements.
        let values = memory.assumingMemoryBound(to: (repeat each Value).self).move()
        return make(repeat each values)
      }
    }
  }

  @usableFromInline
  init(_ core: TableCore, read: @escaping @Sendable (RecordRow) throws -> R) {
    self.core = core
    hooks = .ofType()
    needsTransaction = hooks != nil || core.mayNotTakeIntegers
    needsScope = needsTransaction || core.hasTimestamps
    // Not by map and ??, which would wrap the closure twice.
    if let hooks { self.read = hooks.afterFetching(read) } else { self.read = read }
  }

  /// The table's name.
  public var name: String { core.name }
  /// The schema of the declaration; nil if it names none.
  public var schema: String? { core.schema }
  /// The columns in order.
  public var columns: [ColumnDefinition] { core.columns }
  /// The names of the columns in order.
  public var columnNames: [String] { core.columns.map(\.name) }
  /// `INSERT INTO "city" ("id", "name") VALUES (:id, :name)`
  public var insertSQL: String { core.insert.text }
  /// `UPDATE "city" SET "name" = :name WHERE "id" = :id`
  public var updateSQL: String { core.update.text }
  /// The INSERT with `ON CONFLICT ("id") DO UPDATE SET "name" = excluded."name"`.
  public var upsertSQL: String { core.upsert.text }
  /// `DELETE FROM "city" WHERE "id" = :id`
  public var deleteSQL: String { core.delete.text }
  /// `SELECT "id", "name" FROM "city" WHERE "id" = :id`
  public var findSQL: String { core.find.text }
  /// `SELECT "id", "name" FROM "city"`
  public var selectSQL: String { core.select.text }

  /// The six statements above in another dialect: insert, update, upsert, delete, find and select.
  package func statements(in dialect: any Dialect) -> [String] {
    let sql = core.sql
    return [sql.insert(), sql.update(), sql.upsert(), sql.delete, sql.find, sql.select].map {
      $0.sql(in: dialect).text
    }
  }

  @inlinable @inline(__always)
  func record(_ cursor: QueryCursor, _ positions: UnsafePointer<Int32>) throws -> R {
    let row = RecordRow(cursor.handle, positions, core.layout, cursor.format)
    do {
      return try read(row)
    } catch {
      throw core.describe(error, reading: row, sql: cursor.statement.sql)
    }
  }

  @inlinable @inline(__always)
  func record(_ statement: PreparedStatement, _ positions: UnsafePointer<Int32>) throws -> R {
    let row = RecordRow(statement, positions, core.layout)
    do {
      return try read(row)
    } catch {
      throw core.describe(error, reading: row, sql: statement.sql)
    }
  }
}
