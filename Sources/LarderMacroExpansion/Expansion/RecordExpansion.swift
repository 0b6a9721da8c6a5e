/// The code that `@Record` writes for a declaration: the lines that one would write by hand.
package struct RecordExpansion {
  private let record: RecordDeclaration
  private let isNestedPrivate: Bool

  /// - Parameters:
  ///   - declaration: the text of the type's declaration.
  ///   - attribute: the text of the attribute.
  ///   - isNested: whether the type is declared in another type.
  package init(declaration: String, attribute: String, isNested: Bool = false) throws {
    record = try RecordDeclaration(
      SourceScanner(SourceBytes(declaration)),
      attribute: SourceScanner(SourceBytes(attribute)))
    isNestedPrivate = isNested && record.type.prefix.access == .private
  }

  /// The members to add: columns, table, and an initializer if the type has others.
  package var members: String {
    let access = record.type.prefix.access.isPrivate ? "" : record.type.prefix.access.prefix
    var lines = ["\(access)struct Columns: Sendable {"]
    for column in record.columns {
      let property = column.property
      let visibility = property.prefix.access.prefix
      let arguments = [column.name, "\\\(record.type.name).\(property.name)"] + column.options
      lines.append(
        "  \(visibility)let \(property.name) = Larder.Column(\(arguments.joined(separator: ", ")))")
    }
    lines += [
      "}", "\(access)static let columns = Columns()",
      "\(access)static let table: Larder.Table<\(record.type.name)> = " + table,
    ]
    if case .written(let types, isMember: true) = record.initializer {
      lines.append(initializer(types, indent: ""))
    }
    return lines.joined(separator: "\n")
  }

  /// The extension to add: the conformance, and an initializer if the compiler's own has to be kept.
  package func extensions(of type: String, conforms: Bool) throws -> String {
    if isNestedPrivate, conforms {
      throw SourceProblem(
        "a private type in another can't be extended: make it fileprivate, or write its conformance, : Record",
        at: record.type.offset)
    }
    var head = "extension \(type)"
    // The inherited protocols are written too. In a file that names one of them before `Record` is looked up,
    // the compiler wouldn't find them in the expansion for another file's type.
    if conforms { head += ": Larder.Record, Larder.SingleSource, Larder.QuerySource" }
    if case .written(let types, isMember: false) = record.initializer {
      return "\(head) {\n\(initializer(types, indent: "  "))\n}"
    }
    return conforms ? head + " {}" : ""
  }

  private var table: String {
    let name = record.arguments.name ?? Identifier.tableName(record.type.name)
    let columns = record.columns.map { "columns.\($0.property.name)" }
    let labelled = record.arguments.labelled.map { "\($0.label): \($0.text)" }
    let arguments = [name, make] + columns + labelled + notStored
    return "Larder.Table(\n  \(wrapped(arguments)))"
  }

  /// The argument that lists the properties without columns; empty if there are none.
  private var notStored: [String] {
    if record.notStored.isEmpty { return [] }
    let paths = record.notStored.map { "\\\(record.type.name).\($0)" }
    return ["notStored: [\(paths.joined(separator: ", "))]"]
  }

  /// The arguments, wrapped at 100 characters unless one is longer.
  private func wrapped(_ arguments: [String]) -> String {
    var text = ""
    var column = 2
    for (index, argument) in arguments.enumerated() {
      if index > 0 {
        let isFull = column + argument.count + 3 > 100
        text += isFull ? ",\n  " : ", "
        column = isFull ? 2 : column + 2
      }
      text += argument
      column += argument.count
    }
    return text
  }

  /// The function that makes a record from the columns' values.
  private var make: String {
    let names = record.columns.map { Identifier.label($0.property.name) }
    switch record.initializer {
    case .memberwise: return "\(record.type.name).init(\(names.map { $0 + ":" }.joined()))"
    case .memberwiseWithDefaults:
      let arguments = names.enumerated().map { "\($1): $\($0)" }
      return "{ \(record.type.name)(\(arguments.joined(separator: ", "))) }"
    case .written:
      return "\(record.type.name).init(columns:\(names.dropFirst().map { $0 + ":" }.joined()))"
    }
  }

  private func initializer(_ types: [String], indent: String) -> String {
    let names = record.columns.map(\.property.name)
    // The label `columns` distinguishes this initializer from any other that the type has.
    let parameters = zip(names, types).enumerated().map { index, parameter in
      (index == 0 ? "columns " : "") + "\(parameter.0): \(parameter.1)"
    }
    let assignments = names.map { "\(indent)  self.\($0) = \($0)" }
    return
      (["\(indent)fileprivate init(\(parameters.joined(separator: ", "))) {"] + assignments
      + ["\(indent)}"]).joined(separator: "\n")
  }
}
