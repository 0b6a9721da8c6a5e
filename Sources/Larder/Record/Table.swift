import LarderSQLite

/// A record's table: its name, its columns, and the SQL that is made of them.
///
/// ```swift
/// static let table = Table("city", City.init, columns.id, columns.name, columns.population)
/// ```
///
/// The columns stand in the order of the initializer's parameters, which is that of the stored
/// properties where the compiler makes it. That is checked, as far as it can be, when the table is
/// first used: an operation on a table that is declared wrongly throws
/// ``RecordError/declaration(table:problem:)``.
public struct Table<R: Record>: Sendable {
  @usableFromInline let core: TableCore
  /// Makes a record of the row that a statement stands on.
  @usableFromInline let read: @Sendable (RecordRow) throws -> R
  @usableFromInline let hooks: HookCalls<R>?
  /// Whether a single operation can fail after something was written.
  @usableFromInline let needsScope: Bool

  /// A table of these columns.
  ///
  /// - Parameters:
  ///   - name: anything but empty, without NUL.
  ///   - make: an initializer, mostly the one that the compiler makes.
  ///   - columns: as many as the initializer has parameters, in their order, which has to be that
  ///     of the stored properties.
  ///   - constraints: those that aren't a single column's.
  ///   - indexes: those that aren't a single column's.
  ///   - options: whether it has no row id, or no primary key, or isn't STRICT.
  @inlinable
  public init<each Value>(
    _ name: String, _ make: @escaping @Sendable (repeat consuming each Value) -> R,
    _ columns: repeat Column<R, each Value>, constraints: [TableConstraint<R>] = [],
    indexes: [TableIndexes<R>] = [], options: TableOptions = []
  ) {
    let builder = TableBuilder()
    repeat builder.add(each columns)
    let core = TableCore(
      name, builder, TableDeclaration(constraints, indexes, options),
      tupleSize: MemoryLayout<(repeat each Value)>.size)
    // Captures nothing but a constant, so that the compiler inlines the initializer.
    self.init(core) { row in
      try withUnsafeTemporaryAllocation(
        byteCount: max(1, MemoryLayout<(repeat each Value)>.size),
        alignment: MemoryLayout<(repeat each Value)>.alignment
      ) { memory in
        guard let memory = memory.baseAddress else { throw RecordLayout.noMemory }
        try row.layout.read(row, into: memory)
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
    needsScope = hooks != nil || core.mayNotTakeIntegers
    // Not by map and ??, which would wrap the closure twice.
    if let hooks {
      self.read = hooks.afterFetching(read)
    } else {
      self.read = read
    }
  }

  /// The table's name.
  public var name: String { core.name }
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
}

/// What a table has besides its columns.
@usableFromInline
struct TableDeclaration {
  let constraints: [TableConstraintDefinition]
  let indexes: [TableIndexDefinition]
  let options: TableOptions

  @usableFromInline
  init<R>(
    _ constraints: [TableConstraint<R>], _ indexes: [TableIndexes<R>], _ options: TableOptions
  ) {
    self.constraints = constraints.map(\.definition)
    self.indexes = indexes.map(\.definition)
    self.options = options
  }
}

/// Gathers the columns of a table, one after the other.
@usableFromInline
final class TableBuilder {
  private(set) var columns: [ColumnDefinition] = []
  private(set) var properties: [PropertyAccess] = []

  @usableFromInline
  init() {}

  @usableFromInline
  func add<R, Value>(_ column: Column<R, Value>) {
    columns.append(column.definition)
    properties.append(column.access)
  }

  /// What is wrong with the declaration, if anything.
  func problem(table name: String, _ options: TableOptions) -> String? {
    Self.problem(ofNames: name, columns) ?? orderProblem ?? versionProblem
      ?? Self.keyProblem(columns, options)
  }

  /// The same for a table without a record.
  static func problem(
    table name: String, _ columns: [ColumnDefinition], _ options: TableOptions
  ) -> String? {
    problem(ofNames: name, columns) ?? keyProblem(columns, options)
  }

  private static func problem(ofNames name: String, _ columns: [ColumnDefinition]) -> String? {
    if name.isEmpty || name.utf8.contains(0) { return "its name is empty or holds a NUL" }
    if columns.isEmpty { return "it has no columns" }
    var names: Set<[UInt8]> = []
    for column in columns {
      if column.name.isEmpty || column.name.utf8.contains(0) {
        return "the name of a column is empty or holds a NUL"
      }
      if !names.insert(column.name.foldedName).inserted {
        return "two columns are named “\(column.name)”"
      }
    }
    return nil
  }

  private var orderProblem: String? {
    // What has no size has no place of its own.
    let stored = columns.indices.filter { properties[$0].isStored && properties[$0].size > 0 }
    for (first, second) in zip(stored, stored.dropFirst())
    where properties[second].offset <= properties[first].offset {
      return """
        the columns “\(columns[first].name)” and “\(columns[second].name)” don't stand in the order \
        of the record's properties
        """
    }
    return nil
  }

  private var versionProblem: String? {
    if columns.filter(\.isVersion).count > 1 { return "it has two versions" }
    for (column, property) in zip(columns, properties) where column.isVersion {
      if column.isPrimaryKey { return "the version “\(column.name)” is a part of the key" }
      if !column.isWritten { return "the version “\(column.name)” isn't written" }
      if !property.isWritable { return "the version “\(column.name)” is a constant" }
    }
    return nil
  }

  private static func keyProblem(
    _ columns: [ColumnDefinition], _ options: TableOptions
  ) -> String? {
    let key = columns.filter(\.isPrimaryKey)
    if key.isEmpty {
      return options.contains(.noPrimaryKey)
        ? nil : "no column is its primary key; say .noPrimaryKey if it has none"
    }
    if options.contains(.noPrimaryKey) { return "it has a primary key, and says that it has none" }
    for column in key where column.isAutoincrement {
      if key.count > 1 || column.type.kind != .integer || options.contains(.withoutRowID) {
        return "“\(column.name)” can't be autoincremented: it isn't the row id"
      }
    }
    return nil
  }
}
