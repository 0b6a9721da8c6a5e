/// A property that is a column.
struct ColumnDeclaration {
  let property: PropertyDeclaration
  /// The source text of the column's name, a string literal.
  let name: String
  /// The source texts of the options and of the coding, in the attribute's order.
  let options: [String]

  var isKey: Bool { options.contains { $0 == ".primaryKey" || $0 == ".autoincrement" } }

  init(_ property: PropertyDeclaration, in scanner: SourceScanner) throws {
    self.property = property
    let arguments = property.prefix.attribute("Column")?.arguments ?? []
    var name: String?
    var options: [String] = []
    for (index, argument) in arguments.enumerated() {
      let text = scanner.text(argument.range)
      if let label = argument.label {
        options.append("\(label): \(text)")
      } else if scanner.is(argument.first, ".") {
        if text == ".version", !Self.mayBeVersion(property, in: scanner) {
          throw SourceProblem(
            "a version has to be an integer that is never nil", at: argument.range.lowerBound)
        }
        if text == ".createdAt" || text == ".updatedAt",
          !Self.mayBeTimestamp(property, in: scanner)
        {
          throw SourceProblem(
            "a timestamp has to be a Date or Date?", at: argument.range.lowerBound)
        }
        options.append(text)
      } else if index == 0, argument.first.kind == .string {
        name = text
      } else {
        throw SourceProblem(
          index == 0
            ? "write the column's name as a string literal, or an option with its dot: .unique"
            : "write the option with its dot: .unique", at: argument.range.lowerBound)
      }
    }
    self.name = name ?? Identifier.literal(property.name)
    self.options = options
  }

  /// The type of an initializer's parameter for this property; nil if the program has to write it.
  func parameterType(in scanner: SourceScanner) -> String? {
    Self.parameterType(of: property, in: scanner)
  }

  private static func parameterType(
    of property: PropertyDeclaration, in scanner: SourceScanner
  ) -> String? {
    if let type = property.type {
      return (type.isFunction ? "@escaping " : "") + scanner.text(type.range)
    }
    guard let value = property.value else { return nil }
    var inner = SourceScanner(scanner.source, at: value.lowerBound)
    guard let first = try? inner.next(), first.range == value else { return nil }
    switch first.kind {
    case .string: return "String"
    case .number:
      let text = scanner.text(first)
      let isReal = text.hasPrefix("0x") ? text.contains(".") : text.contains { ".eE".contains($0) }
      return isReal ? "Double" : "Int"
    case .identifier: return scanner.is(first, "true") || scanner.is(first, "false") ? "Bool" : nil
    default: return nil
    }
  }

  /// Whether the property can be an integer, as far as its declaration tells. The compiler checks the types of
  /// other names, but shows its error in the written code.
  private static func mayBeVersion(
    _ property: PropertyDeclaration, in scanner: SourceScanner
  ) -> Bool {
    guard let type = parameterType(of: property, in: scanner) else { return true }
    let isPlain = !type.contains { "?!<[(".contains($0) }
    return isPlain && !typesWithoutVersion.contains(String(type.split(separator: ".").last ?? ""))
  }

  /// Whether the property can be a date, as far as its declaration tells.
  private static func mayBeTimestamp(
    _ property: PropertyDeclaration, in scanner: SourceScanner
  ) -> Bool {
    guard var type = parameterType(of: property, in: scanner) else { return true }
    if type.hasSuffix("?") { type.removeLast() }
    let name = String(type.split(separator: ".").last ?? "")
    return name == "Date" || !typesWithoutVersion.contains(name) && !typesOfVersions.contains(name)
  }

  /// Common types that aren't integers, by their names without a module's.
  private static let typesWithoutVersion: Set<String> = [
    "Bool", "Character", "Data", "Date", "Decimal", "Double", "Float", "String", "UUID",
  ]
  /// Common integers.
  private static let typesOfVersions: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
  ]
}
