import Larder

/// The steps by names that make one schema like another: the text of each in Swift, to be read by a person, and
/// the step itself, to be tried.
struct NamedSteps {
  struct Part {
    /// Lines above the step: what it loses, or what has to be decided.
    var comments: [String] = []
    let text: String
    let step: SchemaStep
  }

  private(set) var parts: [Part] = []
  private let old: Schema
  private let new: Schema

  init(from old: Schema, to new: Schema) {
    (self.old, self.new) = (old, new)
    for entry in changedEntries(of: old, missingIn: new).reversed() { drop(entry) }
    for table in new.tables {
      if let found = old.table(table.name) {
        change(found, to: table)
      } else {
        create(table)
      }
    }
    for table in old.tables.reversed() where new.table(table.name) == nil {
      parts.append(
        Part(
          comments: ["DESTRUCTIVE: the rows of “\(table.name)” are lost."],
          text: ".drop(\(table.name.swiftLiteral), losing: .rows)",
          step: .drop(table.name, losing: .rows)))
    }
    for entry in changedEntries(of: new, missingIn: old) { create(entry) }
  }

  // MARK: Tables

  private mutating func create(_ table: TableSchema) {
    let columns = table.columns.map { NamedColumn($0, of: table, in: new) }
    let constraints = NamedConstraint.all(of: table)
    var options: TableOptions = []
    if table.engine == nil, !table.isStrict { options.insert(.notStrict) }
    if table.isWithoutRowID { options.insert(.withoutRowID) }
    if table.primaryKey.isEmpty { options.insert(.noPrimaryKey) }
    let names = [
      (TableOptions.notStrict, ".notStrict"), (.withoutRowID, ".withoutRowID"),
      (.noPrimaryKey, ".noPrimaryKey"),
    ].filter { options.contains($0.0) }.map(\.1)
    var arguments = [table.name.swiftLiteral] + columns.map(\.text)
    if !constraints.isEmpty {
      arguments.append("constraints: [\(constraints.map(\.text).joined(separator: ", "))]")
    }
    if !names.isEmpty { arguments.append("options: [\(names.joined(separator: ", "))]") }
    parts.append(
      Part(
        text: ".create(\n" + arguments.map { "      \($0)" }.joined(separator: ",\n") + ")",
        step: .create(
          table.name, columns: columns.map(\.definition),
          constraints: constraints.map(\.constraint),
          options: options)))
  }

  private mutating func change(_ found: TableSchema, to table: TableSchema) {
    let name = table.name.swiftLiteral
    let added = table.columns.filter { found.column($0.name) == nil }
    let removed = found.columns.filter { table.column($0.name) == nil }
    let before = NamedConstraint.all(of: found)
    let after = NamedConstraint.all(of: table)
    let gone = removed.map(\.name.foldedName)
    for constraint in before where !after.contains(where: { $0.text == constraint.text }) {
      // An index goes with its column.
      guard constraint.isRemovable,
        !constraint.columns.contains(where: { gone.contains($0.foldedName) })
      else { continue }
      parts.append(
        Part(
          text: ".remove(\(constraint.text), from: \(name))",
          step: .remove(constraint.constraint, from: table.name)))
    }
    for column in added {
      let named = NamedColumn(column, of: table, in: new)
      let needsValue = column.isNotNull && column.default == nil && column.generated == nil
      var comments: [String] = []
      if needsValue {
        comments.append("To be decided: the value of “\(column.name)” in the rows that exist.")
      }
      if let former = removed.first(where: { $0.type == column.type }) {
        comments.append(
          "If this is “\(former.name)” renamed, write instead of adding and removing: "
            + ".rename(\(former.name.swiftLiteral), of: \(name), to: \(column.name.swiftLiteral))")
      }
      let filling = needsValue ? ", filling: \"NULL\"" : ""
      parts.append(
        Part(
          comments: comments, text: ".add(\(named.text), to: \(name)\(filling))",
          step: .add(named.definition, to: table.name, filling: needsValue ? "NULL" : nil)))
    }
    for column in table.columns {
      guard let former = found.column(column.name) else { continue }
      let named = NamedColumn(column, of: table, in: new)
      guard NamedColumn(former, of: found, in: old).changedText != named.changedText else {
        continue
      }
      let comments =
        column.isNotNull && !former.isNotNull && column.primaryKeyPosition == 0
        ? [
          "“\(column.name)” can't be NULL any more. To be decided: converting: \"coalesce(…)\", if rows have NULL."
        ] : []
      parts.append(
        Part(
          comments: comments, text: ".change(\(named.changedText), of: \(name))",
          step: .change(named.changedDefinition, of: table.name)))
    }
    for column in removed {
      parts.append(
        Part(
          comments: ["DESTRUCTIVE: the values of “\(column.name)” are lost."],
          text: ".remove(\(column.name.swiftLiteral), from: \(name), losing: .columns)",
          step: .remove(column.name, from: table.name, losing: .columns)))
    }
    for constraint in after where !before.contains(where: { $0.text == constraint.text }) {
      parts.append(
        Part(
          text: ".add(\(constraint.text), to: \(name))",
          step: .add(constraint.constraint, to: table.name)))
    }
    addColumnsOwn(found, table, added.map(\.name.foldedName))
  }

  /// Adds and removes the indexes that columns on both sides declare themselves.
  private mutating func addColumnsOwn(
    _ found: TableSchema, _ table: TableSchema, _ added: [[UInt8]]
  ) {
    let name = table.name.swiftLiteral
    for column in table.columns where !added.contains(column.name.foldedName) {
      guard let former = found.column(column.name) else { continue }
      let (isIndexed, wasIndexed) = (table.hasOwnIndex(column), found.hasOwnIndex(former))
      guard isIndexed != wasIndexed else { continue }
      let index = ".index(\(column.name.swiftLiteral))"
      parts.append(
        isIndexed
          ? Part(
            text: ".add(\(index), to: \(name))",
            step: .add(.index(column.name), to: table.name))
          : Part(
            text: ".remove(\(index), from: \(name))",
            step: .remove(.index(column.name), from: table.name)))
    }
  }

  // MARK: Views, triggers and virtual tables

  private func changedEntries(of schema: Schema, missingIn other: Schema) -> [SchemaEntry] {
    schema.others.filter { entry in
      !other.others.contains {
        $0.kind == entry.kind && $0.name.foldedName == entry.name.foldedName
          && ($0.sql ?? "").normalizedSQL == (entry.sql ?? "").normalizedSQL
      }
    }
  }

  private mutating func drop(_ entry: SchemaEntry) {
    guard entry.kind == .view else {
      let sql = "DROP \(entry.kind.rawValue.uppercased()) \(entry.name.quotedIdentifier)"
      return parts.append(Part(text: ".run(\(sql.swiftLiteral))", step: .run(SQL(raw: sql))))
    }
    parts.append(
      Part(text: ".drop(view: \(entry.name.swiftLiteral))", step: .drop(view: entry.name)))
  }

  private mutating func create(_ entry: SchemaEntry) {
    guard let sql = entry.sql else { return }
    parts.append(Part(text: ".run(\(sql.swiftLiteral))", step: .run(SQL(raw: sql))))
  }
}

extension TableSchema {
  /// Whether an index on this column alone has the name that `.indexed` gives it.
  func hasOwnIndex(_ column: ColumnSchema) -> Bool {
    indexes.contains { index in
      index.columns == [column.name] && !index.isUnique && index.condition == nil
        && index.name.foldedName == "\(name)_\(column.name)_index".foldedName
    }
  }
}
