// A diagram as text for Mermaid and Graphviz, which draw it.

import LarderTerminal

extension Diagram {
  /// The diagram in [Mermaid's syntax](https://mermaid.js.org/syntax/entityRelationshipDiagram.html).
  var mermaid: String {
    var lines = ["erDiagram"]
    for table in tables {
      lines.append("  \(Self.entity(table.name)) {")
      for column in table.columns {
        let keys = [
          column.isPrimaryKey ? "PK" : nil, column.isForeignKey ? "FK" : nil,
          column.isUnique && !column.isPrimaryKey ? "UK" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
        let type = Self.word(column.type.isEmpty ? "ANY" : column.type)
        lines.append("    \(type) \(Self.word(column.name))" + (keys.isEmpty ? "" : " \(keys)"))
      }
      lines.append("  }")
    }
    for relation in relations {
      lines.append(
        "  \(Self.entity(relation.referencedTable)) \(relation.isOptional ? "|o" : "||")--"
          + "\(relation.isUnique ? "o|" : "o{") \(Self.entity(relation.table))"
          + " : \(Self.entity(relation.columns.joined(separator: ", ")))")
    }
    return lines.joined(separator: "\n")
  }

  /// A name in double quotes. Mermaid can't escape a quote inside them, so it becomes a single one.
  private static func entity(_ name: String) -> String {
    let text = name.printable.replacing("\"", with: "'")
    return "\"\(text.isEmpty ? " " : text)\""
  }

  /// A word that needs no quotes: letters, digits and a few signs, and a letter or underscore first. Other
  /// characters become underscores.
  private static func word(_ text: String) -> String {
    var word = ""
    for scalar in text.unicodeScalars {
      let isLetter =
        scalar.isASCII
        ? scalar.properties.isAlphabetic || scalar == "_"
        : (0xC0...0xFFFF).contains(scalar.value) && scalar.properties.isAlphabetic
      let isFurther = "0123456789-()".unicodeScalars.contains(scalar)
      if word.isEmpty, isFurther { word = "_" }
      word.unicodeScalars.append(isLetter || isFurther ? scalar : "_")
    }
    return word.isEmpty ? "_" : word
  }

  /// The diagram in [Graphviz's language](https://graphviz.org/doc/info/lang.html).
  var dot: String {
    var lines = [
      "digraph schema {", "  graph [rankdir=LR, fontname=\"Helvetica\"];",
      "  node [shape=plain, fontname=\"Helvetica\", fontsize=11];",
      "  edge [dir=both, color=\"#555555\"];",
    ]
    var numbers: [String: Int] = [:]
    for (number, table) in tables.enumerated() {
      numbers[table.name] = number
      let rows = table.columns.enumerated().map { index, column in
        let name = Self.escaped(column.name)
        return "<TR><TD PORT=\"c\(index)\" ALIGN=\"LEFT\">"
          + (column.isPrimaryKey ? "<U>\(name)</U>" : name)
          + "</TD><TD PORT=\"d\(index)\" ALIGN=\"LEFT\"><FONT COLOR=\"#777777\">\(Self.escaped(column.type))"
          + "</FONT></TD></TR>"
      }
      lines.append(
        "  t\(number) [label=<<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\">"
          + "<TR><TD COLSPAN=\"2\" BGCOLOR=\"#EEEEEE\"><B>\(Self.escaped(table.name))</B></TD></TR>"
          + rows.joined() + "</TABLE>>];")
    }
    for relation in relations {
      // A relation to a table that doesn't exist isn't drawn.
      guard let from = numbers[relation.table], let to = numbers[relation.referencedTable] else {
        continue
      }
      lines.append(
        "  t\(from)\(port("d", relation.columns.first, of: from, side: "e")) -> "
          + "t\(to)\(port("c", relation.referencedColumns.first, of: to, side: "w"))"
          + " [arrowtail=\(relation.isUnique ? "teeodot" : "crowodot"),"
          + " arrowhead=\(relation.isOptional ? "teeodot" : "teetee")];")
    }
    return (lines + ["}"]).joined(separator: "\n")
  }

  /// The port of a column's cell. Lines leave a table on the right, and enter on the left.
  private func port(_ cell: String, _ column: String?, of table: Int, side: String) -> String {
    let index = tables[table].columns.firstIndex { $0.name.lowercased() == column?.lowercased() }
    return index.map { ":\(cell)\($0):\(side)" } ?? ""
  }

  private static func escaped(_ text: String) -> String {
    // Graphviz rejects an element without text.
    text.isEmpty ? " " : text.escapedForXML
  }
}
