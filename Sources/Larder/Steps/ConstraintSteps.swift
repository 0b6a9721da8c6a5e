import LarderSQLite

// Steps by names for indexes and constraints.

extension SchemaStep {
  /// Adds an index or a constraint: `.add(.index("feed", "published"), to: "entry")`. Undoing the step removes an
  /// index or a unique constraint; other constraints can't be undone.
  public static func add(_ constraint: TableConstraint<Never>, to table: String) -> SchemaStep {
    let detail = "add the \(constraint.definition.words) to “\(table)”"
    let isRemovable =
      switch constraint.definition {
      case .index, .unique: true
      case .check, .foreignKey, .expressionIndex: false
      }
    var step = NamedStep(["add", table.quotedIdentifier, constraint.checkedText]) { db in
      try AlteredTable(table, for: detail, in: db).add(constraint.definition)
    }
    if isRemovable { step.undo = { db in try remove(constraint, from: table).execute(db) } }
    return SchemaStep(detail, step)
  }

  /// Removes an index or a unique constraint, by its columns: `.remove(.index("feed"), from: "entry")`.
  /// Undoing the step adds it again.
  public static func remove(_ constraint: TableConstraint<Never>, from table: String) -> SchemaStep
  {
    let detail = "remove the \(constraint.definition.words) from “\(table)”"
    var step = NamedStep(["remove", table.quotedIdentifier, constraint.checkedText]) { db in
      try AlteredTable(table, for: detail, in: db).remove(constraint.definition)
    }
    step.undo = { db in try add(constraint, to: table).execute(db) }
    return SchemaStep(detail, step)
  }
}

extension AlteredTable {
  fileprivate func add(_ constraint: TableConstraintDefinition) throws {
    switch constraint {
    case .index(let columns, let isUnique, let condition, let name):
      let positions = try columns.map(position)
      let name = name ?? indexName(columns)
      if let other = found.indexes.first(where: { $0.name.foldedName == name.foldedName }) {
        throw problem("“\(found.name)” has an index of this name already: \(other.sql)")
      }
      let terms = positions.map { position in
        let column = found.columns[position]
        let term = column.name.quotedIdentifier
        return db.definitions?.indexTerm(term, isNullable: !column.isNotNull) ?? term
      }
      let sql = DDL.createIndex(
        name, on: found, terms, isUnique: isUnique, where: try condition.map(text))
      try db.executeUpdate(SQL(raw: sql).uncached)
    case .unique(let columns):
      for column in columns { _ = try position(of: column) }
      try add("UNIQUE (\(columns.identifierList))")
    case .check(let condition): try add(DDL.check(text(condition)))
    case .foreignKey(let key):
      for column in key().columns { _ = try position(of: column) }
      _ = try AlteredTable(key().referencedTable, for: constraint.words, in: db)
      try add("FOREIGN KEY \(key().sql)")
    case .expressionIndex: throw problem("an index on an expression takes SQL: use run")
    }
  }

  private func add(_ constraint: String) throws {
    guard db.engine == nil else { return try alter("ADD \(constraint)") }
    try changed { $0.constraints.append(constraint) }.rebuild(db)
  }

  private func indexName(_ columns: [String]) -> String {
    ([found.name] + columns + ["index"]).joined(separator: "_")
  }

  fileprivate func remove(_ constraint: TableConstraintDefinition) throws {
    switch constraint {
    case .index(let columns, _, _, let name):
      let name = name ?? indexName(columns)
      let index = found.indexes.first { $0.name.foldedName == name.foldedName }
      guard let index else {
        throw problem(
          found.indexes.isEmpty
            ? "“\(found.name)” has no index"
            : "“\(found.name)” has no such index, but \(found.indexes.map(\.name).quotedList)")
      }
      try db.executeUpdate(SQL(raw: DDL.drop(.index, index.name, in: found.schema)))
    case .unique(let columns): try removeUnique(columns)
    case .check, .foreignKey, .expressionIndex:
      throw problem("only indexes and unique constraints can be removed by a step: use run")
    }
  }

  private func removeUnique(_ columns: [String]) throws {
    let wanted = columns.map(\.foldedName)
    func isWanted(_ index: IndexSchema) -> Bool { index.columns.map { $0?.foldedName } == wanted }
    guard let index = found.uniqueIndexes.first(where: isWanted) else {
      throw problem("“\(found.name)” has no such constraint")
    }
    guard db.engine == nil else {
      return try alter("DROP CONSTRAINT \(index.name.quotedIdentifier)")
    }
    let position = columns.count == 1 ? try position(of: columns[0]) : nil
    try changed { table in
      table.uniqueIndexes.removeAll(where: isWanted)
      if let position, table.columns[position].hasOwn("unique") {
        table.columns[position].sql = Self.withoutUnique(table.columns[position].sql)
      } else {
        table.constraints.removeAll { constraint in
          let tokens = constraint.sqlTokens
          guard tokens.prefix(3).contains(where: { $0.isWord("unique") }) else { return false }
          // The names, without their collations and orders.
          let list = tokens.drop { !$0.isSymbol("(") }
          let names = zip(list, list.dropFirst()).compactMap { before, token in
            before.isSymbol("(") || before.isSymbol(",") ? token.identifier?.foldedName : nil
          }
          return names == wanted
        }
        guard table.constraints.count < found.constraints.count else {
          throw problem(
            "“\(found.name)” has the constraint \(index.sql), which isn't found in its statement")
        }
      }
    }.rebuild(db)
  }

  /// A column's definition without UNIQUE and the conflict clause behind it.
  private static func withoutUnique(_ definition: String) -> String {
    var pieces = SQL(raw: definition).pieces
    guard let start = pieces.firstIndex(where: { $0.isWord("unique") }) else { return definition }
    var end = start + 1
    let words = pieces.indices[end...].filter { !pieces[$0].isSpace }.prefix(3)
    if words.count == 3, pieces[words[words.startIndex]].isWord("on"),
      pieces[words[words.startIndex + 1]].isWord("conflict")
    {
      end = words[words.startIndex + 2] + 1
    }
    pieces.removeSubrange(start..<end)
    return pieces.map(\.text).joined()
  }
}
