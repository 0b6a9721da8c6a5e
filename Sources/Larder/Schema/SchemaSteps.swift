import LarderSQLite

/// A step that changes a database's schema: of a comparison (``Schema/steps(from:)``), or written by names for
/// a ``Migration``.
///
/// ```swift
/// Migration("titles", .rename("name", of: "city", to: "title"), .add(.index("title"), to: "city"))
/// ```
///
/// A step by names needs no record, so it outlives the records of its time. It is the same on all engines,
/// looks at the schema that it meets, and throws ``SchemaError/step(_:problem:)`` if that isn't the expected one.
public struct SchemaStep: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    case execute(String)
    case create(SchemaEntry, in: String?)
    case addColumn(to: String, sql: String)
    case rebuild(TableSchema, losing: RebuildLosses)
    case named(NamedStep)
  }

  /// The step's description in words.
  public let detail: String
  /// Whether the step loses something: rows, the values of a column, row ids that a virtual table knows, or a
  /// view, trigger or index that isn't recreated.
  public let isDestructive: Bool
  let action: Action

  init(_ detail: String, isDestructive: Bool = false, _ action: Action) {
    self.detail = detail
    self.isDestructive = isDestructive
    self.action = action
  }

  /// A step that drops an object; `end` is appended to its detail.
  init(
    dropping kind: SchemaEntry.Kind, _ name: String, in schema: String?, isDestructive: Bool,
    _ end: String
  ) {
    self.init(
      "drop the \(kind.rawValue) “\(name)”\(end)", isDestructive: isDestructive,
      .execute(DDL.drop(kind, name, in: schema)))
  }

  init(dropping index: IndexSchema, of table: TableSchema, isDestructive: Bool) {
    self.init(
      dropping: .index, index.name, in: table.schema, isDestructive: isDestructive,
      " of “\(table.fullName)”")
  }

  /// The step's statement; nil for a rebuild, which is several (`TableSchema.rebuild`), and for a step by names,
  /// whose statements depend on the schema that it meets.
  public var sql: String? {
    switch action {
    case .execute(let sql), .addColumn(_, let sql): sql
    case .create(let entry, _): entry.sql
    case .rebuild, .named: nil
    }
  }

  /// Whether `Migrator.migrate(_:downTo:)` can undo the step.
  public var isReversible: Bool { named?.undo != nil }

  var named: NamedStep? { if case .named(let step) = action { step } else { nil } }

  /// Runs the step. Steps belong in one transaction with foreign keys off: in a migration.
  ///
  /// A rebuild copies columns of the same name, and loses no rows and no values except those that its detail
  /// names. It throws if the new table needs values that the old one doesn't have, or if its types would
  /// change values (see ``SchemaError/changesValues(table:column:count:rows:)``): such a rebuild has to be
  /// written by hand. Throws ``SchemaError`` and ``LarderSQLite/DatabaseError``.
  public func execute(_ db: Database) throws {
    switch action {
    case .execute(let sql): try db.executeUpdate(SQL(raw: sql))
    case .create(let entry, let schema): try entry.create(db, in: schema)
    case .addColumn(let table, let sql):
      try db.keepingDependents(of: table) { try $0.executeUpdate(SQL(raw: sql)) }
    case .rebuild(let table, let losing): try table.rebuild(db, losing: losing)
    case .named(let step): try step.run(db)
    }
  }
}

extension SchemaStep: CustomStringConvertible {
  /// One line with the statement, and a mark if it is destructive.
  public var description: String {
    (isDestructive ? "DESTRUCTIVE: " : "") + detail + (sql.map { ": \($0)" } ?? "")
  }
}

extension Schema {
  /// The steps that change another schema, usually a database's, into this one.
  ///
  /// They are a proposal to read and to put into a migration; nothing is changed here. Objects of a database
  /// that aren't declared are dropped by steps marked as ``SchemaStep/isDestructive``: leave these out if
  /// others own the objects. A renamed table or column looks like a lost and a new one: write it by hand.
  public func steps(from other: Schema) -> [SchemaStep] {
    let changed = others.filter { !other.others.contains(where: $0.isSame) }
    let surplus = other.others.filter { entry in
      let isDeclared = others.contains(where: entry.hasSameName)
      return !others.contains(where: entry.isSame)
        && (isDeclared || isWhole && !isRead(entry.name))
    }
    // A view's triggers are dropped with it.
    let droppedViews = surplus.filter { $0.kind == .view }
    let orphans = others.filter { trigger in
      trigger.kind == .trigger && !changed.contains(where: trigger.hasSameName)
        && droppedViews.contains { $0.name.foldedName == trigger.table.foldedName }
    }
    let surplusTables = other.surplusTables(for: self)
    let (conflicts, found) = other.withoutNameConflicts(with: self)
    // Triggers are dropped first, since they refer to the rest.
    return (surplus + orphans).reversed().map { drop($0) } + conflicts
      + tables.flatMap { table in
        let known = other.others.filter { $0.isVirtualTable && $0.names(table.name) }
        return steps(for: table, found: found.table(like: table), knownTo: known)
      } + tables.filter { found.table(like: $0) == nil }.flatMap { references(of: $0) }
      // The tables made last are dropped first, since they refer to the others.
      + surplusTables.reversed().map {
        SchemaStep(dropping: .table, $0.name, in: $0.schema, isDestructive: true, " with its rows")
      }
      + (changed + orphans).map {
        SchemaStep("create the \($0.differenceKind.rawValue) “\($0.name)”", .create($0, in: nil))
      }
  }

  /// Drops an entry. This loses a virtual table's contents, and an entry that isn't made anew.
  private func drop(_ entry: SchemaEntry) -> SchemaStep {
    let isMadeAnew = others.contains(where: entry.hasSameName)
    return SchemaStep(
      "drop the \(entry.differenceKind.rawValue) “\(entry.name)”",
      isDestructive: entry.isVirtualTable || !isMadeAnew, .execute(entry.dropStatement()))
  }

  private func steps(
    for table: TableSchema, found: TableSchema?, knownTo virtualTables: [SchemaEntry]
  ) -> [SchemaStep] {
    guard let found else { return creation(of: table) }
    // An exclusion constraint isn't dropped as an index is.
    let others = isWhole ? found.undeclarableIndexes(missingIn: table) : []
    let surplus =
      found.surplusIndexes(for: table) + others.filter { $0.sql.hasPrefix("CREATE") }
    let indexes = surplus.map {
      SchemaStep(dropping: $0, of: table, isDestructive: true)
    }
    return indexes
      + (additions(to: found, of: table) ?? [rebuild(of: found, as: table, knownTo: virtualTables)])
  }

  private func creation(of table: TableSchema) -> [SchemaStep] {
    let entry = SchemaEntry(
      kind: .table, name: table.name, table: table.name, sql: table.unreferencedSQL ?? table.sql)
    return [SchemaStep("create the table “\(table.fullName)”", .create(entry, in: table.schema))]
      + table.indexes.map { creation(of: $0, table) }
  }

  /// The steps that add a new table's foreign keys, after all tables have been created.
  private func references(of table: TableSchema) -> [SchemaStep] {
    guard table.unreferencedSQL != nil else { return [] }
    return table.foreignKeys.map { key in
      SchemaStep(
        "add the foreign key of “\(table.name)” to “\(key.referencedTable)”",
        .execute(DDL.alterTable(table, ["ADD FOREIGN KEY \(key.sql)"])))
    }
  }

  private func creation(of index: IndexSchema, _ table: TableSchema) -> SchemaStep {
    SchemaStep(
      "create the index “\(index.name)” of “\(table.name)”",
      .create(
        SchemaEntry(kind: .index, name: index.name, table: table.name, sql: index.sql),
        in: table.schema))
  }

  /// The steps that add columns and indexes, if nothing else differs; nil if something does.
  func additions(to found: TableSchema, of table: TableSchema) -> [SchemaStep]? {
    let columns = table.columns.filter { found.column($0.name) == nil }
    guard columns.allSatisfy({ table.blockedReason(adding: $0) == nil }),
      table.missingUniqueConstraints(in: found).isEmpty,
      found.missingUniqueConstraints(in: table).isEmpty
    else { return nil }
    let rest = table.differences(from: found).filter { difference in
      switch difference.kind {
      case .index: false
      case .column: !columns.contains { $0.name == difference.column }
      // The keys and checks of a column's own declaration are added with it.
      case .foreignKey: !columns.contains { $0.name == difference.column && $0.isReference }
      case .check: !columns.contains { $0.checks.map(DDL.check).contains(difference.declared) }
      default: true
      }
    }
    guard rest.isEmpty else { return nil }
    return columns.map {
      SchemaStep(
        "add the column “\($0.name)” to “\(table.name)”",
        .addColumn(to: table.name, sql: DDL.addColumn($0, to: table)))
    } + table.missingIndexes(in: found).map { creation(of: $0, table) }
  }

  private func rebuild(
    of found: TableSchema, as table: TableSchema, knownTo virtualTables: [SchemaEntry]
  ) -> SchemaStep {
    let lost = found.lostColumns(for: table)
    let losesRowIDs = !virtualTables.isEmpty && found.rowIDSource != nil && table.rowIDTarget == nil
    let needed = table.columnsWithoutValue(from: found)
    let losing: RebuildLosses = [lost.isEmpty ? [] : .columns, losesRowIDs ? .rowIDs : []]
    return SchemaStep(
      "rebuild the table “\(table.name)”"
        + (lost.isEmpty ? "" : ", losing \(lost.map(\.name).quotedList)")
        + (losesRowIDs
          ? ", losing row ids that \(virtualTables.map(\.name).quotedList) may know" : "")
        + (needed.isEmpty ? "" : ", with values for \(needed.map(\.name).quotedList)"),
      isDestructive: losing != [], .rebuild(table, losing: losing))
  }
}
