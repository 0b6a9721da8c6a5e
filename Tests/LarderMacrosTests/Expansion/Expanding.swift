import Foundation
import LarderMacroExpansion
import Testing

/// The expansion of a declaration that begins with the macro's attribute.
struct Expansion {
  let members: String
  let extensions: String

  static let protocols = ["Record", "SingleSource", "QuerySource"]

  init(
    _ declaration: String, of type: String = "T", in outer: String? = nil,
    protocols: [String] = protocols
  ) throws {
    let attribute = declaration.prefix { $0 != "\n" }
    let expansion = try RecordExpansion(
      declaration: declaration, attribute: String(attribute), outer: outer)
    members = expansion.members
    extensions = expansion.extensions(of: type, protocols: protocols)
  }
}

/// Expects that a structure with these members has columns for these properties, and no others.
func expectColumns(
  _ names: String..., in members: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let expansion = try Expansion(
    "@Record(options: .noPrimaryKey)\nstruct T {\n" + members + "\n}")
  // The parts that make deprecated columns are static.
  let columns = expansion.members.matches(
    of: /(static )?let (\S+) = (?:Larder::Column\(|Deprecated\d+\.used)/
  ).filter { $0.1 == nil }
  #expect(columns.map { String($0.2) } == names, sourceLocation: sourceLocation)
}

/// Expects an error for a declaration, at the position that the mark ⚠️ shows.
func expectProblem(
  _ message: String, in declaration: String, outer: String? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let parts = declaration.split(separator: "⚠️", maxSplits: 1, omittingEmptySubsequences: false)
  #expect(parts.count == 2, sourceLocation: sourceLocation)
  let error = #expect(throws: SourceProblem.self, sourceLocation: sourceLocation) {
    _ = try Expansion(parts.joined(), in: outer)
  }
  #expect(error?.offset == parts[0].utf8.count, sourceLocation: sourceLocation)
  #expect(error?.message == message, sourceLocation: sourceLocation)
}
