import Larder
import LarderTerminal

extension Command {
  static let diagram = Command(
    name: "diagram", arguments: "FILE", argumentCount: 1...1,
    summary: "Draws the tables and their relations as a diagram: SVG, or for Mermaid or Graphviz.",
    details: """
      Every browser shows the picture of --svg, many Markdown viewers show Mermaid as a diagram, and Graphviz
      makes pictures of --dot.

      Example:
        larder diagram cities.db --svg > cities.svg
        larder diagram cities.db --mermaid > cities.mmd
        larder diagram cities.db --dot | dot -Tsvg > cities.svg
      """,
    options: [
      Option("svg", nil, "print a picture"),
      Option("mermaid", nil, "print an entity-relationship diagram for Mermaid (the default)"),
      Option("dot", nil, "print a graph for Graphviz"),
      .schema,
    ]
  ) { invocation in
    let format = try invocation.choice(of: ["json", "svg", "mermaid", "dot"])
    let diagram = Diagram(try Schema.read(invocation.arguments[0], invocation))
    switch format {
    case "json": try Output.showJSON(diagram)
    case "svg": print(diagram.svg)
    case "dot": print(diagram.dot)
    default: print(diagram.mermaid)
    }
  }
}

/// The tables of a schema, and their foreign keys.
struct Diagram: Encodable {
  struct Table: Encodable {
    let name: String
    let columns: [Column]
  }

  struct Column: Encodable {
    let name: String
    /// The declared type; empty for a column without one.
    let type: String
    let isPrimaryKey: Bool
    let isForeignKey: Bool
    let isUnique: Bool
    let isNotNull: Bool
  }

  struct Relation: Encodable {
    /// The table with the foreign key; `referencedTable` is the one that it refers to.
    let table: String
    let columns: [String]
    let referencedTable: String
    let referencedColumns: [String]
    /// Whether a row may refer to no other row (a nullable key).
    let isOptional: Bool
    /// Whether no two rows may refer to the same one.
    let isUnique: Bool
  }

  let tables: [Table]
  let relations: [Relation]

  init(_ schema: Schema) {
    tables = schema.tables.map { table in
      let keys = Set(table.foreignKeys.flatMap(\.columns).map { $0.lowercased() })
      let unique = table.uniqueSets
      return Table(
        name: table.name,
        columns: table.columns.map { column in
          Column(
            name: column.name, type: column.type, isPrimaryKey: column.primaryKeyPosition > 0,
            isForeignKey: keys.contains(column.name.lowercased()),
            isUnique: unique.contains([column.name.lowercased()]), isNotNull: column.isNotNull)
        })
    }
    let tablesByName = schema.tablesByName
    relations = schema.tables.flatMap { table in
      table.foreignKeys.map { key in
        // The table's name as its own declaration spells it, rather than the foreign key.
        let referenced = tablesByName[key.referencedTable.foldedName]
        let columns = key.columns.compactMap { name in
          table.columns.first { $0.name.lowercased() == name.lowercased() }
        }
        return Relation(
          table: table.name, columns: key.columns,
          referencedTable: referenced?.name ?? key.referencedTable,
          referencedColumns: key.referencedColumns.isEmpty
            ? referenced?.primaryKey ?? [] : key.referencedColumns,
          isOptional: !columns.allSatisfy { $0.isNotNull || $0.primaryKeyPosition > 0 },
          isUnique: table.uniqueSets.contains {
            $0.isSubset(of: key.columns.map { $0.lowercased() })
          }
        )
      }
    }
  }
}

extension Schema {
  var tablesByName: [[UInt8]: TableSchema] {
    Dictionary(tables.map { ($0.name.foldedName, $0) }) { first, _ in first }
  }
}

extension TableSchema {
  /// The sets of columns that are unique together, lower case.
  var uniqueSets: [Set<String>] {
    let indexes = indexes.filter { $0.isUnique && $0.condition == nil && !$0.columns.contains(nil) }
      .map { $0.columns.compactMap { $0 } }
    return ([primaryKey] + uniqueConstraints + indexes).filter { !$0.isEmpty }
      .map { Set($0.map { $0.lowercased() }) }
  }
}
