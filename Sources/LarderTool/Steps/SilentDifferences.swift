import Larder
import LarderTerminal

// Differences that no statement depends on, and that a comparison of schemas therefore leaves out: the order of
// columns, the names of indexes, and indexes that say the same as another one.

extension SchemaDifference {
  private static let order = "order of columns"
  private static let name = "name of index"
  private static let repeated = "index again"

  static func isSilent(_ difference: Difference) -> Bool {
    [order, name, repeated].contains(difference.kind)
  }

  /// The silent differences of the tables that both schemas have.
  static func silent(from old: Schema, to new: Schema) -> [Difference] {
    let oldTables = old.tablesByName
    return new.tables.flatMap { table -> [Difference] in
      guard let before = oldTables[table.name.foldedName], before.schema == table.schema else {
        return []
      }
      return columns(before, table) + indexes(before, table)
    }
  }

  private static func columns(_ old: TableSchema, _ new: TableSchema) -> [Difference] {
    func common(_ table: TableSchema, with other: TableSchema) -> [String] {
      let names = Set(other.columns.map { other.key($0.name) })
      return table.columns.map(\.name).filter { names.contains(table.key($0)) }
    }
    let (before, after) = (common(old, with: new), common(new, with: old))
    guard before.map(old.key) != after.map(new.key) else { return [] }
    return [
      Difference(
        kind: order, table: new.name, column: nil,
        before: before.joined(separator: ", "), after: after.joined(separator: ", "), isNote: true)
    ]
  }

  private static func indexes(_ old: TableSchema, _ new: TableSchema) -> [Difference] {
    let (before, after) = (old.namesOfIndexes, new.namesOfIndexes)
    return new.indexes.map(\.definition).withoutRepetitions.flatMap { definition -> [Difference] in
      guard let present = before[definition], let wanted = after[definition] else { return [] }
      // Names on both sides are left out. The others are paired, and those that remain are repetitions.
      let olds = present.filter { name in !wanted.contains { $0.isSameName(name) } }
      let news = wanted.filter { name in !present.contains { $0.isSameName(name) } }
      return (0..<max(olds.count, news.count)).map { index in
        let before = index < olds.count ? olds[index] : nil
        let after = index < news.count ? news[index] : nil
        return Difference(
          kind: before == nil || after == nil ? repeated : name, table: new.name,
          column: nil, before: before, after: after, isNote: true)
      }
    }
  }

  /// A statement for each equivalent index that the first schema has once more.
  static func removals(_ differences: [Difference]) -> [Step] {
    differences.compactMap { difference in
      guard difference.kind == repeated, let index = difference.before else { return nil }
      return Step(
        detail: "drop the index “\(index)” of “\(difference.table)”, which another one equals",
        isDestructive: false, sql: "DROP INDEX \(index.quotedIdentifier)")
    }
  }
}

extension IndexSchema {
  /// The index without its name: equal definitions serve the same statements.
  fileprivate var definition: [[String]] {
    [[isUnique ? "unique" : ""], condition?.normalizedSQL ?? []]
      + terms.map { term in
        let words = term.normalizedSQL
        return words.last == "asc" ? words.dropLast() : words
      }
  }
}

extension TableSchema {
  /// The names of the indexes by what these are, without those of constraints.
  fileprivate var namesOfIndexes: [[[String]]: [String]] {
    Dictionary(grouping: indexes.filter { !$0.name.isEmpty }, by: \.definition)
      .mapValues { $0.map(\.name) }
  }
}

extension [[[String]]] {
  fileprivate var withoutRepetitions: Self {
    var seen: Set<[[String]]> = []
    return filter { seen.insert($0).inserted }
  }
}
