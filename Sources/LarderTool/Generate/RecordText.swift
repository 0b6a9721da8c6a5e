import Larder

/// Writes records as Swift, with the macro or without.
struct RecordText {
  let usesMacro: Bool
  /// The name of an enumeration around the records; nil for none.
  let space: String?
  private static let width = 100

  /// The text of the whole file.
  ///
  /// - Parameter command: the command line that generates the file.
  func file(_ plan: RecordsPlan, source: String, command: String) -> String {
    let properties = plan.records.flatMap(\.properties)
    let needsFoundation = properties.contains {
      ["Data", "Date", "Decimal", "UUID"].contains($0.elementType)
    }
    var text = Self.comment("The tables of \(source) as records, by:", indent: "")
    text += "//   \(command.commented)\n"
    if !plan.leftOut.isEmpty { text += "//\n" }
    for note in plan.leftOut { text += Self.comment(note, indent: "") }
    text += "\n" + (needsFoundation ? "import Foundation\n" : "")
    text += "import \(usesMacro ? "LarderMacros" : "Larder")\n"
    let indent = space == nil ? "" : "  "
    let bodies = plan.records.map { record($0, indent) }
    let needed = GeneratedTypes.texts(for: properties).map { Self.indented($0, indent) }
    let related = self.associations(plan)
    guard let space else { return ([text] + bodies + related + needed).joined(separator: "\n") }
    let inside = (bodies + needed).joined(separator: "\n")
    return ([text, "enum \(SwiftName.written(space)) {\n\(inside)}\n"] + related).joined(
      separator: "\n")
  }

  private static func indented(_ text: String, _ indent: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "\n" : "\(indent)\($0)\n" }.joined()
  }

  // MARK: Records

  private func record(_ record: RecordPlan, _ indent: String) -> String {
    let notes = record.notes.map { Self.comment($0, indent: indent) }.joined()
    let documentation = record.documentation?.documented(indent: indent) ?? ""
    return notes + documentation + (usesMacro ? withMacro(record, indent) : byHand(record, indent))
  }

  private func withMacro(_ record: RecordPlan, _ indent: String) -> String {
    var arguments: [String] = []
    if record.table.name != Self.usualTable(record.type) {
      arguments.append(record.table.name.swiftLiteral)
    }
    arguments += tableArguments(record, indent + "  ") { "\\.\(record.properties[$0].writtenName)" }
    var text =
      arguments.isEmpty ? "\(indent)@Record\n" : Self.call("@Record", arguments, indent) + "\n"
    text += "\(indent)struct \(record.writtenType): Equatable {\n"
    for property in record.properties {
      text += Self.notes(property, indent + "  ") + withMacro(property, indent + "  ")
    }
    return text + "\(indent)}\n"
  }

  private func withMacro(_ property: PropertyPlan, _ indent: String) -> String {
    let name = property.column.name
    let arguments =
      (name == property.name ? [] : [name.swiftLiteral]) + property.options.map(\.text)
      + coding(property)
    let declaration = declaration(property)
    if arguments.isEmpty { return indent + declaration + "\n" }
    let attribute = Self.call("@Column", arguments, indent)
    let isOneLine = !attribute.contains("\n") && attribute.count + declaration.count < Self.width
    return attribute + (isOneLine ? " " : "\n" + indent) + declaration + "\n"
  }

  private func byHand(_ record: RecordPlan, _ indent: String) -> String {
    let (type, inner) = (record.writtenType, indent + "  ")
    var text = "\(indent)struct \(type): Record, Equatable {\n"
    for property in record.properties {
      text += Self.notes(property, inner) + inner + declaration(property) + "\n"
    }
    text += "\n\(inner)struct Columns: Sendable {\n"
    for property in record.properties {
      let arguments =
        [property.column.name.swiftLiteral, "\\\(type).\(property.writtenName)"]
        + property.options.map(\.text) + coding(property)
      text += Self.call("let \(property.writtenName) = Column", arguments, inner + "  ") + "\n"
    }
    text += "\(inner)}\n\(inner)static let columns = Columns()\n"
    let column = { "columns.\(record.properties[$0].writtenName)" }
    let arguments =
      [record.table.name.swiftLiteral, "\(type).init"] + record.properties.indices.map(column)
      + tableArguments(record, inner + "  ", column)
    text += Self.filled("static let table = Table", arguments, inner) + "\n"
    return text + "\(indent)}\n"
  }

  /// The constraints, indexes and options of a table.
  private func tableArguments(
    _ record: RecordPlan, _ indent: String, _ column: (Int) -> String
  ) -> [String] {
    func list(_ label: String, _ parts: [PlannedConstraint]) -> [String] {
      let calls = parts.map { $0.call(column) }
      if parts.isEmpty { return [] }
      let line = "\(label): [\(Self.call(calls[0].name, calls[0].arguments, ""))]"
      if parts.count == 1, indent.count + line.count < Self.width { return [line] }
      let lines = calls.map { Self.call($0.name, $0.arguments, indent + "  ") }
      // swift-format takes a comma after the last of several elements, but not after a single one.
      let end = parts.count == 1 ? "\n" : ",\n"
      return ["\(label): [\n\(lines.joined(separator: ",\n"))\(end)\(indent)]"]
    }
    let options = record.options
    return (record.schema.map { ["schema: \($0.swiftLiteral)"] } ?? [])
      + list("constraints", record.constraints) + list("indexes", record.indexes)
      + (options.isEmpty
        ? []
        : ["options: " + (options.count == 1 ? options[0] : "[\(options.joined(separator: ", "))]")])
  }

  private func declaration(_ property: PropertyPlan) -> String {
    "var \(property.writtenName): \(property.type)" + (property.value.map { " = \($0)" } ?? "")
  }

  private func coding(_ property: PropertyPlan) -> [String] {
    property.storage.coding.map { ["as: \($0)"] } ?? []
  }

  // MARK: Associations

  private func associations(_ plan: RecordsPlan) -> [String] {
    plan.records.filter { !$0.associations.isEmpty }.map { associations($0, plan.records) }
  }

  private func associations(_ record: RecordPlan, _ records: [RecordPlan]) -> String {
    let prefix = space.map { SwiftName.written($0) + "." } ?? ""
    var text = "extension \(prefix)\(record.writtenType) {\n"
    for association in record.associations {
      let types = association.records.map { prefix + records[$0].writtenType }
      let type =
        association.isTyped ? ": \(association.kind)<\(types.joined(separator: ", "))>" : ""
      let name = "static let \(SwiftName.written(association.name))\(type) = \(association.kind)"
      text += Self.call(name, association.arguments(prefix), "  ") + "\n"
    }
    return text + "}\n"
  }

  /// The table's name that the macro derives from a type; nil unless that only lower-cases the first letter.
  private static func usualTable(_ type: String) -> String? {
    let capitals = type.prefix(while: \.isUppercase).count
    return capitals == 1 ? type.prefix(1).lowercased() + type.dropFirst() : nil
  }
}

// MARK: Lines

extension RecordText {
  private static func notes(_ property: PropertyPlan, _ indent: String) -> String {
    property.notes.map { comment($0, indent: indent) }.joined()
      + (property.documentation?.documented(indent: indent) ?? "")
  }

  /// The lines of a comment, wrapped at the width.
  private static func comment(_ text: String, indent: String) -> String {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, indent.count + last.count + word.count + 4 <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.map { "\(indent)// \($0)\n" }.joined()
  }

  /// A call on one line if it fits, or else with its arguments on the next line, or one on each line.
  private static func call(_ name: String, _ arguments: [String], _ indent: String) -> String {
    let line = arguments.joined(separator: ", ")
    if !line.contains("\n") {
      if indent.count + name.count + line.count + 2 <= width { return "\(indent)\(name)(\(line))" }
      if indent.count + line.count + 3 <= width { return "\(indent)\(name)(\n\(indent)  \(line))" }
    }
    let lines = arguments.map { "\n\(indent)  \($0)" }.joined(separator: ",")
    return "\(indent)\(name)(\(lines))"
  }

  /// A call whose arguments fill its lines.
  private static func filled(_ name: String, _ arguments: [String], _ indent: String) -> String {
    let line = call(name, arguments, indent)
    if line.split(separator: "\n").count <= 2 { return line }
    let inner = indent + "  "
    var lines = ["\(indent)\(name)("]
    for (index, argument) in arguments.enumerated() {
      let text = argument + (index + 1 < arguments.count ? "," : ")")
      let isFirst = index == 0 || lines[lines.count - 1].hasSuffix("\n")
      let first = text.prefix { $0 != "\n" }
      if !isFirst, !argument.contains("\n"), lines[lines.count - 1].count + first.count < width,
        !lines[lines.count - 1].contains("\n")
      {
        lines[lines.count - 1] += " " + text
      } else {
        lines.append(inner + text)
      }
    }
    return lines.joined(separator: "\n")
  }
}
