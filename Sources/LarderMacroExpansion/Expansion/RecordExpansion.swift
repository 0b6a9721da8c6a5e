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
    var parts = DeprecatedParts(record)
    var lines: [String] = []
    for column in record.columns {
      let property = column.property
      let name = record.arguments.whole.map { "\($0).columns.\(property.name)" } ?? column.name
      let arguments = [name, "\\\(record.type.name).\(property.name)"] + column.options
      let value = "Larder::Column(\(arguments.joined(separator: ", ")))"
      lines.append(
        "  \(property.prefix.access.prefix)let \(property.name) = "
          + (parts.isDeprecated(property) ? parts.add(value) : value))
    }
    let table = table(&parts)
    lines =
      ["\(access)struct Columns: Sendable {"] + lines + parts.lines + [
        "}", "\(access)static let columns = Columns()",
        "\(access)static let table: Larder::Table<\(record.type.name)> = " + table,
      ]
    if record.type.saysRecord { lines += queryTypes(of: record.type.name) }
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
    let saysElsewhere = !protocols.isEmpty && !protocols.contains("Record")
    var members: [String] = []
    if saysElsewhere, !record.type.saysRecord { members = queryTypes(of: type).map { "  " + $0 } }
    if case .written(let types, isMember: false) = record.initializer {
      members.append(initializer(types, indent: "  "))
    }
    if members.isEmpty { return protocols.isEmpty ? "" : head + " {}" }
    return ([head + " {"] + members + ["}"]).joined(separator: "\n")
  }

  /// The types that queries need of a record. The compiler only infers them together with the conformance to
  /// `Record`, and not if that is the program's.
  private func queryTypes(of type: String) -> [String] {
    let access = access.isPrivate ? "" : access.prefix
    return ["Fields = Larder::RecordFields<\(type)>", "Row = \(type)", "Nullable = \(type)?"]
      .map { "\(access)typealias Query\($0)" }
  }

  private func table(_ parts: inout DeprecatedParts) -> String {
    let name =
      record.arguments.whole.map { "of: \($0)" } ?? record.arguments.name
      ?? Identifier.tableName(record.type.name)
    let columns = record.columns.map { "columns.\($0.property.name)" }
    let labelled = record.arguments.labelled.map { "\($0.label): \($0.text)" }
    let arguments = [name, make(&parts)] + columns + labelled + notStored(&parts)
    return "Larder::Table(\n  \(wrapped(arguments)))"
  }

  /// The argument that lists the properties without columns; empty if there are none.
  private func notStored(_ parts: inout DeprecatedParts) -> [String] {
    if record.notStored.isEmpty { return [] }
    let type = record.type.name
    let paths = record.notStored.map { "\\\(type).\($0.name)" }
    let list = "[\(paths.joined(separator: ", "))]"
    guard record.notStored.contains(where: parts.isDeprecated) else {
      return ["notStored: \(list)"]
    }
    return ["notStored: Columns." + parts.add(list, type: "[PartialKeyPath<\(type)> & Sendable]")]
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

  /// The function that makes a record from the columns' values: a closure, since the mode of Swift 5 warns of
  /// an initializer in its place.
  private func make(_ parts: inout DeprecatedParts) -> String {
    let names = record.columns.map { Identifier.label($0.property.name) }
    guard case .written(let types, _) = record.initializer else { return make(names) }
    let closure = make(["columns"] + names.dropFirst())
    guard hasDeprecatedColumn else { return closure }
    let type = "@Sendable (\(types.joined(separator: ", "))) -> \(record.type.name)"
    return "Columns." + parts.add(closure, type: type)
  }

  private func make(_ labels: [String]) -> String {
    let arguments = labels.enumerated().map { "\($1): $\($0)" }
    return "{ \(record.type.name)(\(arguments.joined(separator: ", "))) }"
  }

  private var hasDeprecatedColumn: Bool {
    record.columns.contains { DeprecatedParts(record).isDeprecated($0.property) }
  }

  private func initializer(_ types: [String], indent: String) -> String {
    let names = record.columns.map(\.property.name)
    // The label `columns` distinguishes this initializer from any other that the type has.
    let parameters = zip(names, types).enumerated().map { index, parameter in
      (index == 0 ? "columns " : "") + "\(parameter.0): \(parameter.1)"
    }
    let assignments = names.map { "\(indent)  self.\($0) = \($0)" }
    let attribute = hasDeprecatedColumn ? ["\(indent)@available(*, deprecated)"] : []
    return
      (attribute + ["\(indent)fileprivate init(\(parameters.joined(separator: ", "))) {"]
      + assignments
      + ["\(indent)}"]).joined(separator: "\n")
  }
}
