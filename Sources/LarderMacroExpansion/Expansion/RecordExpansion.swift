/// The code that `@Record` writes for a declaration: the lines that one would write by hand.
///
/// Names of the library have its module before them, which finds them beside types of any name.
package struct RecordExpansion {
  private let record: RecordDeclaration
  private let access: AccessLevel

  /// - Parameters:
  ///   - declaration: the text of the type's declaration.
  ///   - attribute: the text of the attribute.
  ///   - outer: the text of the declaration around it, which may lack the members; nil if there is none.
  package init(declaration: String, attribute: String, outer: String? = nil) throws {
    record = try RecordDeclaration(
      SourceScanner(SourceBytes(declaration)),
      attribute: SourceScanner(SourceBytes(attribute)))
    let prefix = record.type.prefix
    if outer != nil, prefix.access == .private {
      throw SourceProblem(
        "a private type in another can't be extended: make it fileprivate",
        at: record.type.offset)
    }
    access = try prefix.hasAccess ? prefix.access : Self.access(in: outer) ?? .internal
  }

  /// The access level that an extension gives to its members; nil if it gives none.
  private static func access(in outer: String?) throws -> AccessLevel? {
    guard let outer else { return nil }
    var scanner = SourceScanner(SourceBytes(outer))
    let prefix = try scanner.declarationPrefix()
    return scanner.is(try scanner.next(), "extension") ? prefix.access : nil
  }

  /// The members to add: columns, table, and an initializer if the type has others.
  package var members: String {
    let access = access.isPrivate ? "" : access.prefix
    var lines = ["\(access)struct Columns: Sendable {"]
    for column in record.columns {
      let property = column.property
      let visibility = property.prefix.access.prefix
      let arguments = [column.name, "\\\(record.type.name).\(property.name)"] + column.options
      lines.append(
        "  \(visibility)let \(property.name) = Larder::Column(\(arguments.joined(separator: ", ")))"
      )
    }
    lines += [
      "}", "\(access)static let columns = Columns()",
      "\(access)static let table: Larder::Table<\(record.type.name)> = " + table,
    ]
    if case .written(let types, isMember: true) = record.initializer {
      lines.append(initializer(types, indent: ""))
    }
    return lines.joined(separator: "\n")
  }

  /// The extension to add: the conformance, and an initializer if the compiler's own has to be kept.
  ///
  /// - `protocols`: those that the type doesn't say by itself that it conforms to.
  package func extensions(of type: String, protocols: [String]) -> String {
    var head = "extension \(type)"
    // The inherited protocols are written too. In a file that names one of them before `Record` is looked up,
    // the compiler wouldn't find them in the expansion for another file's type.
    if !protocols.isEmpty {
      head += ": " + protocols.map { "Larder::" + $0 }.joined(separator: ", ")
    }
    var members: [String] = []
    // The compiler only infers these types together with the conformance to `Record`.
    if !protocols.isEmpty, !protocols.contains("Record") {
      let access = access.isPrivate ? "" : access.prefix
      let name = record.type.name
      members = ["Fields = Larder::RecordFields<\(name)>", "Row = \(name)", "Nullable = \(name)?"]
        .map { "  \(access)typealias Query\($0)" }
    }
    if case .written(let types, isMember: false) = record.initializer {
      members.append(initializer(types, indent: "  "))
    }
    if members.isEmpty { return protocols.isEmpty ? "" : head + " {}" }
    return ([head + " {"] + members + ["}"]).joined(separator: "\n")
  }

  private var table: String {
    let name = record.arguments.name ?? Identifier.tableName(record.type.name)
    let columns = record.columns.map { "columns.\($0.property.name)" }
    let labelled = record.arguments.labelled.map { "\($0.label): \($0.text)" }
    let arguments = [name, make] + columns + labelled + notStored
    return "Larder::Table(\n  \(wrapped(arguments)))"
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
