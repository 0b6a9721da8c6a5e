import Foundation

/// A public declaration.
struct Symbol {
  /// The product that declares it.
  let module: String
  /// The kind without the language, such as `method` or `type.property`.
  let kind: String
  /// The names of the enclosing types, and its own: `["Query", "filter(_:)"]`.
  let path: [String]
  /// The declaration's text, without attributes of availability.
  let declaration: String
  /// Conditions of the extension that it is in.
  let conditions: [String]
  /// Protocols that a type conforms to.
  let protocols: [String]
  let isDeprecated: Bool

  var fullName: String { path.joined(separator: ".") }
  var type: String { path.dropLast().joined(separator: ".") }
  var name: String { path.last ?? "" }
  /// The name without arguments' labels.
  var baseName: String { String(name.prefix { $0 != "(" || name.first == "(" }) }
  var isAsync: Bool { declaration.contains(" async") }

  /// Kinds that declare a type.
  static let types: Set = ["struct", "class", "enum", "protocol", "associatedtype", "typealias"]

  /// The symbol's lines in the digest.
  var digest: [String] {
    var line = (isDeprecated ? "deprecated " : "") + "\(fullName): \(declaration)"
    if !conditions.isEmpty { line += " [\(conditions.joined(separator: ", "))]" }
    return [line] + protocols.map { "\(fullName): conforms to \($0)" }
  }

  /// The symbols of all graphs in a folder. Throws if one can't be read.
  static func all(in folder: String) throws -> [Symbol] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      .filter { $0.hasSuffix(".symbols.json") }
      .flatMap { try symbols(inGraph: "\(folder)/\($0)") }
  }

  private static func symbols(inGraph path: String) throws -> [Symbol] {
    let graph = try JSONDecoder().decode(
      Graph.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    var protocols: [String: Set<String>] = [:]
    let names = Dictionary(
      graph.symbols.map { ($0.identifier.precise, $0.pathComponents.joined(separator: ".")) },
      uniquingKeysWith: { first, _ in first })
    for relation in graph.relationships where relation.kind == "conformsTo" {
      guard let name = names[relation.target] ?? relation.targetFallback,
        name != "Swift.SendableMetatype"
      else { continue }
      protocols[relation.source, default: []].insert(
        name.hasPrefix("Swift.") ? String(name.dropFirst(6)) : name)
    }
    let module = String(
      URL(fileURLWithPath: path).lastPathComponent.prefix { $0 != "." && $0 != "@" })
    return graph.symbols.map { symbol in
      Symbol(
        module: module,
        kind: String(symbol.kind.identifier.dropFirst("swift.".count)),
        path: symbol.pathComponents,
        declaration: symbol.declarationFragments.map(\.spelling).joined()
          .split(whereSeparator: \.isWhitespace).joined(separator: " "),
        conditions: (symbol.swiftExtension?.constraints ?? []).map(\.text).sorted(),
        protocols: (protocols[symbol.identifier.precise] ?? []).sorted(),
        isDeprecated: (symbol.availability ?? []).contains {
          $0.isUnconditionallyDeprecated == true
        })
    }
  }
}

/// What is read of a symbol graph.
private struct Graph: Decodable {
  struct Named: Decodable { let precise: String }
  struct Kind: Decodable { let identifier: String }
  struct Fragment: Decodable { let spelling: String }
  struct Availability: Decodable { let isUnconditionallyDeprecated: Bool? }
  struct Extension: Decodable { let constraints: [Constraint]? }
  struct Constraint: Decodable {
    let kind, lhs, rhs: String
    var text: String { lhs + (kind == "sameType" ? " == " : " : ") + rhs }
  }
  struct Entry: Decodable {
    let identifier: Named
    let kind: Kind
    let pathComponents: [String]
    let declarationFragments: [Fragment]
    let availability: [Availability]?
    let swiftExtension: Extension?
  }
  struct Relation: Decodable {
    let kind, source, target: String
    let targetFallback: String?
  }
  let symbols: [Entry]
  let relationships: [Relation]
}
