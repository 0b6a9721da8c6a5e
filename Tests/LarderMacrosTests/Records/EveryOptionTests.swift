import Foundation
import Testing

/// The options that there are, read from the source of the library: one that is added without its form for macros, or
/// that the two forms of records here don't use, is found.
@Suite("Every option has a form for macros, and is compared")
struct EveryOptionTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func source(_ paths: String...) throws -> String {
    try paths.map { try String(contentsOf: Self.root.appendingPathComponent($0), encoding: .utf8) }
      .joined(separator: "\n")
  }

  /// The static members of a type and its extensions, with their labels: `default(_:)`.
  private func members(of type: String, in source: String) -> Set<String> {
    var members: Set<String> = []
    // Types and their extensions begin at the start of a line, or, nested in one, behind two spaces.
    let opening = try? Regex<(Substring, Substring)>(
      "(?m)^( *)(?:public struct|extension) \(type)\\b[^\\n]*\\{$")
    for head in opening.map({ source.matches(of: $0) }) ?? [] {
      // Those for tables without records name columns by texts.
      if head.0.contains("== Never") || head.0.contains("== DatabaseValue") { continue }
      let body = source[head.range.upperBound...]
      let end = body.firstRange(of: "\n\(head.1)}")?.lowerBound ?? body.endIndex
      for member in body[..<end].matches(
        of: /public static (?:var|let|func) `?(\w+)`?(?:<[^(]*>)?(\([^{]*\))?(?: ->|:| =)/)
      {
        let labels = (member.2 ?? "").matches(of: /[(,]\s*(\w+)[^,:]*:/).map { $0.1 + ":" }
        members.insert(member.1 + (member.2 == nil ? "" : "(\(labels.joined()))"))
      }
    }
    return members
  }

  @Test("An option of columns, constraints and tables that @Record can't say doesn't exist")
  func sameMembers() throws {
    let library = try source(
      "Sources/Larder/Record/ColumnOption.swift", "Sources/Larder/Record/ForeignKeys.swift",
      "Sources/Larder/Record/TableConstraints.swift", "Sources/Larder/Record/JSONInColumns.swift")
    let macros = try source("Sources/LarderMacros/RecordAttribute.swift")
    for (type, count) in [("ColumnOption", 14), ("TableConstraint", 5)] {
      let members = members(of: type, in: library)
      #expect(members == self.members(of: type, in: macros))
      #expect(members.count >= count, "\(members)")
    }
  }

  @Test("The records that are compared use each of them")
  func allUsed() throws {
    let library = try source(
      "Sources/Larder/Record/ColumnOption.swift", "Sources/Larder/Record/ForeignKeys.swift",
      "Sources/Larder/Record/TableConstraints.swift", "Sources/Larder/Record/JSONInColumns.swift")
    let tests = "Tests/LarderMacrosTests/Records/"
    for file in ["ByHand.swift", "ByMacro.swift"] {
      let records = try source(tests + file)
      for type in ["ColumnOption", "TableConstraint", "TableOptions"] {
        for member in members(of: type, in: library) {
          let name = member.prefix { $0 != "(" }
          let labels = member.matches(of: /(\w+):/).map(\.1).filter { $0 != "_" }
          let isUsed = records.contains(try Regex("\\.\(name)\\b"))
          #expect(isUsed, "\(file) lacks .\(member)")
          for label in labels {
            let isUsed = records.contains("\(label): ")
            #expect(isUsed, "\(file) lacks \(label): of .\(member)")
          }
        }
      }
    }
  }
}
