/// The message `expandAttachedMacro`: which macro to expand, in which role, at which declaration.
struct ExpansionRequest {
  private let macro: String
  private let role: String
  private let attribute: SourceText
  private let declaration: SourceText
  /// The type to extend, and the protocols to which it has yet to conform.
  private let extendedType: String?
  private let protocols: [String]
  /// The declarations around it, from the innermost outwards; nil from compilers that don't send them.
  private let context: [String]?

  init?(_ content: JSONValue) {
    guard let macro = content["macro"]?["typeName"]?.string,
      let role = content["macroRole"]?.string,
      let attribute = SourceText(content["attributeSyntax"]),
      let declaration = SourceText(content["declSyntax"])
    else { return nil }
    self.macro = macro
    self.role = role
    self.attribute = attribute
    self.declaration = declaration
    extendedType = content["extendedTypeSyntax"]?["source"]?.string
    protocols = Self.protocols(in: content["conformanceListSyntax"]?["source"]?.string ?? "")
    context = content["lexicalContext"]?.array?.compactMap { $0["source"]?.string }
  }

  /// The code that the macro writes.
  func expansion(_ known: inout KnownDeclarations) throws -> String {
    switch (macro, role) {
    case ("RecordMacro", "member"):
      return try record(&known).members
    case ("RecordMacro", "extension"):
      // Problems of the declaration are reported by the expansion of the members.
      guard let extendedType, let record = try? record(&known) else { return "" }
      return record.extensions(of: extendedType, protocols: protocols)
    case ("PropertyMacro", "peer"):
      if let type = context?.first, try !known.isRecord(type) {
        throw AttributeProblem(
          problem: SourceProblem(
            "this attribute can only be on a property of a @Record type", at: 0))
      }
      return ""
    default:
      throw SourceProblem("Larder has no macro \(macro) that is a \(role)", at: 0)
    }
  }

  private func record(_ known: inout KnownDeclarations) throws -> RecordExpansion {
    guard try isFirst else {
      throw AttributeProblem(problem: SourceProblem("a type can only have one @Record", at: 0))
    }
    for type in context ?? [] where try Self.isGeneric(type) {
      throw SourceProblem(
        "a type in a generic type can't be a record, since it can't have static stored properties",
        at: 0)
    }
    return try known.record(
      declaration.text, attribute: attribute.text, outer: context?.first)
  }

  /// The protocols in a declaration of no meaning, `struct Placeholder: SingleSource, QuerySource {}`.
  private static func protocols(in placeholder: String) -> [String] {
    let words = placeholder.split { !$0.isLetter }
    return ["Record", "SingleSource", "QuerySource"].filter { words.contains(Substring($0)) }
  }

  /// Whether the declaration has no such attribute before this one.
  private var isFirst: Bool {
    get throws {
      var scanner = SourceScanner(SourceBytes(declaration.text))
      guard let first = try scanner.declarationPrefix().attribute("Record") else { return true }
      return declaration.location(first.offset).offset >= attribute.location(0).offset
    }
  }

  private static func isGeneric(_ type: String) throws -> Bool {
    var scanner = SourceScanner(SourceBytes(type))
    _ = try scanner.declarationPrefix()
    guard scanner.isOne(try scanner.next(), of: Keywords.types) else { return false }
    try scanner.next()
    return scanner.source[scanner.position] == .less
  }

  /// The error as a diagnostic, at its place in the program's file.
  func diagnostic(_ error: any Error) -> JSONValue {
    let attributeProblem = (error as? AttributeProblem)?.problem
    let place = attributeProblem == nil ? declaration : attribute
    guard let problem = attributeProblem ?? error as? SourceProblem else {
      return place.location(0).diagnostic("\(error)")
    }
    return place.location(problem.offset).diagnostic(problem.message)
  }
}

/// A part of a file of the program.
struct SourceText {
  let text: String
  private let file: String
  private let offset: Int

  init?(_ syntax: JSONValue?) {
    guard let text = syntax?["source"]?.string, let file = syntax?["location"]?["fileName"]?.string,
      let offset = syntax?["location"]?["offset"]?.integer
    else { return nil }
    self.text = text
    self.file = file
    self.offset = offset
  }

  /// A place in this text, but not before the first token.
  func location(_ offset: Int) -> SourceLocation {
    var scanner = SourceScanner(SourceBytes(text))
    let first = (try? scanner.peek().start) ?? 0
    return SourceLocation(file: file, offset: self.offset &+ max(offset, first))
  }
}
