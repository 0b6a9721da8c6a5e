import LarderSQLite

// Conflicts of index names. Tables, views and indexes share a namespace, and indexes are compared regardless
// of their names. So an index that serves, or is another table's, may have the name of one to be created.

extension Schema {
  /// The steps that drop indexes whose names are needed, and the schema after these steps.
  func withoutNameConflicts(with declared: Schema) -> (steps: [SchemaStep], rest: Schema) {
    var steps: [SchemaStep] = []
    var rest = self
    // Dropping one index may make another one missing, whose name may be taken in turn.
    while case let names = declared.newNames(in: rest),
      rest.tables.contains(where: { $0.indexes.contains { names.contains($0.name.foldedName) } })
    {
      for index in rest.tables.indices {
        let table = rest.tables[index]
        let other = declared.table(like: table)
        let surplus = other.map { table.surplusIndexes(for: $0) } ?? table.indexes
        for index in table.indexes where names.contains(index.name.foldedName) {
          steps.append(
            SchemaStep(
              dropping: index, of: table,
              isDestructive: surplus.contains(index) || !index.isDeclarable))
        }
        rest.tables[index].indexes.removeAll { names.contains($0.name.foldedName) }
      }
    }
    return (steps, rest)
  }

  /// The names of the tables, views and indexes that are to be created.
  private func newNames(in found: Schema) -> Set<[UInt8]> {
    let indexes = tables.flatMap { table in
      found.table(like: table).map { newIndexes(of: table, found: $0) } ?? table.indexes
    }
    let others = others.filter { entry in
      entry.kind != .trigger && !found.others.contains(where: entry.isSame)
    }
    let new = tables.filter { found.table(like: $0) == nil }
    return Set((indexes.map(\.name) + others.map(\.name) + new.map(\.name)).map(\.foldedName))
  }

  private func newIndexes(of table: TableSchema, found: TableSchema) -> [IndexSchema] {
    guard additions(to: found, of: table) == nil else { return table.missingIndexes(in: found) }
    // A rebuild may lose what has served until now, such as a UNIQUE constraint; it frees its index names.
    let names = Set(found.indexes.map(\.name.foldedName))
    return table.indexes.filter { !names.contains($0.name.foldedName) }
  }
}
