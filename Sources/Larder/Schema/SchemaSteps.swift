import LarderSQLite

extension Schema {
  /// The steps that make a schema, mostly that of a database, into this one.
  ///
  /// They are a proposal, to be read and put into a migration; nothing is changed here. Whatever a
  /// database has that isn't declared is dropped by steps that are marked as
  /// ``SchemaStep/isDestructive``: leave them out where others own it. A table or column that was
  /// renamed looks like one that is gone and one that is new: write the rename by hand.
  public func steps(from other: Schema) -> [SchemaStep] {
    let changed = others.filter { !other.others.contains(where: $0.isSame) }
    let surplus = other.others.filter { !others.contains(where: $0.isSame) }
    // The triggers of a view go with it.
    let droppedViews = surplus.filter { $0.kind == .view }
    let orphans = triggers.filter { trigger in
      !changed.contains(where: trigger.hasSameName)
        && droppedViews.contains { $0.name.foldedName == trigger.table.foldedName }
    }
    let surplusTables = other.surplusTables(for: self)
    let (inTheWay, found) = other.withoutIndexesInTheWay(of: self)
    // Triggers first: they refer to the rest.
    return (surplus + orphans).reversed().map { drop($0) }
      + inTheWay
      + tables.flatMap { table in
        let known = other.virtualTables.filter { $0.names(table.name) }
        return steps(for: table, found: found.table(table.name), knownTo: known)
      }
      // Those that were made last refer to the others.
      + surplusTables.reversed().map {
        SchemaStep(
          "drop the table “\($0.name)” with its rows", isDestructive: true,
          "DROP TABLE \($0.name.quotedIdentifier)")
      }
      + (changed + orphans).map {
        SchemaStep("create the \($0.differenceKind.rawValue) “\($0.name)”", .create($0))
      }
  }

  /// Something is lost unless another of its name is made; and in any case what a virtual table holds.
  private func drop(_ entry: SchemaEntry) -> SchemaStep {
    let isMadeAnew = others.contains(where: entry.hasSameName)
    return SchemaStep(
      "drop the \(entry.differenceKind.rawValue) “\(entry.name)”",
      isDestructive: entry.isVirtualTable || !isMadeAnew,
      "DROP \(entry.kind.rawValue.uppercased()) \(entry.name.quotedIdentifier)")
  }

  private func steps(
    for table: TableSchema, found: TableSchema?, knownTo virtualTables: [SchemaEntry]
  ) -> [SchemaStep] {
    guard let found else { return creation(of: table) }
    let indexes = found.surplusIndexes(for: table).map {
      SchemaStep(dropping: $0, of: table.name, isDestructive: true)
    }
    return indexes
      + (additions(to: found, of: table) ?? [rebuild(of: found, as: table, knownTo: virtualTables)])
  }

  private func creation(of table: TableSchema) -> [SchemaStep] {
    let entry = SchemaEntry(kind: .table, name: table.name, table: table.name, sql: table.sql)
    return [SchemaStep("create the table “\(table.name)”", .create(entry))]
      + table.indexes.map { creation(of: $0, table) }
  }

  private func creation(of index: IndexSchema, _ table: TableSchema) -> SchemaStep {
    SchemaStep(
      "create the index “\(index.name)” of “\(table.name)”",
      .create(
        SchemaEntry(kind: .index, name: index.name, table: table.name, sql: index.sql)))
  }

  /// The new columns and indexes, if they are all that differs; nil if it isn't.
  func additions(to found: TableSchema, of table: TableSchema) -> [SchemaStep]? {
    let columns = table.columns.filter { found.column($0.name) == nil }
    guard columns.allSatisfy({ table.obstacle(toAdding: $0) == nil }),
      table.missingUniqueConstraints(in: found).isEmpty,
      found.surplusUniqueConstraints(for: table).isEmpty
    else { return nil }
    let rest = table.differences(from: found).filter { difference in
      switch difference.kind {
      case .index: false
      case .column: !columns.contains { $0.name == difference.column }
      // They come with the column, where they are in its own declaration.
      case .foreignKey:
        !columns.contains { $0.name == difference.column && $0.sql.mentions("references") }
      case .check: !columns.contains { difference.declared.map($0.sql.contains) ?? false }
      default: true
      }
    }
    guard rest.isEmpty else { return nil }
    return columns.map {
      SchemaStep(
        "add the column “\($0.name)” to “\(table.name)”",
        .addColumn(to: table.name, sql: table.addColumnSQL($0)))
    } + table.missingIndexes(in: found).map { creation(of: $0, table) }
  }

  private func rebuild(
    of found: TableSchema, as table: TableSchema, knownTo virtualTables: [SchemaEntry]
  ) -> SchemaStep {
    let lost = found.lostColumns(for: table)
    let losesRowIDs =
      !virtualTables.isEmpty && found.rowIDSource != nil && table.rowIDTarget == nil
    let needed = table.columns.filter {
      $0.isNotNull && $0.defaultSQL == nil && $0.generatedSQL == nil
        && found.column($0.name) == nil
    }
    func list(_ names: [String]) -> String { names.map { "“\($0)”" }.joined(separator: ", ") }
    let losing: RebuildLosses = [lost.isEmpty ? [] : .columns, losesRowIDs ? .rowIDs : []]
    return SchemaStep(
      "rebuild the table “\(table.name)”"
        + (lost.isEmpty ? "" : ", losing \(list(lost.map(\.name)))")
        + (losesRowIDs ? ", losing row ids that \(list(virtualTables.map(\.name))) may know" : "")
        + (needed.isEmpty ? "" : ", with values for \(list(needed.map(\.name)))"),
      isDestructive: losing != [], .rebuild(table, losing: losing))
  }
}
