import Foundation
import Testing

/// Reads the options from the library's source, to find one that was added without its macro form, or
/// that the records by hand and by macro here don't use.
@Suite("The macro has every option of the library")
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
    // Types and extensions begin at the start of a line, or after two spaces if nested.
    let opening = try? Regex<(Substring, Substring)>(
      "(?m)^( *)(?:public struct|extension) \(type)\\b[^\\n]*\\{$")
    for head in opening.map({ source.matches(of: $0) }) ?? [] {
      // Extensions for tables without records name columns by text, and need no macro form.
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

  @Test("@Record has every column option and table constraint of the library")
  func sameMembers() throws {
    let library = try source(
      "Sources/Larder/Declaration/ColumnOption.swift", "Sources/Larder/Record/ForeignKeys.swift",
      "Sources/Larder/Declaration/ColumnTimestamp.swift",
      "Sources/Larder/Declaration/TableConstraints.swift",
      "Sources/Larder/Declaration/JSONInColumns.swift")
    let macros = try source("Sources/LarderMacros/RecordAttribute.swift")
    for (type, count) in [("ColumnOption", 16), ("TableConstraint", 5)] {
      let members = members(of: type, in: library)
      #expect(members == self.members(of: type, in: macros))
      #expect(members.count >= count, "\(members)")
    }
  }

  @Test("The records by hand and by macro use every option, constraint and label of the library")
  func allUsed() throws {
    let library = try source(
      "Sources/Larder/Declaration/ColumnOption.swift", "Sources/Larder/Record/ForeignKeys.swift",
      "Sources/Larder/Declaration/ColumnTimestamp.swift",
      "Sources/Larder/Declaration/TableConstraints.swift",
      "Sources/Larder/Declaration/JSONInColumns.swift")
    let tests = "Tests/LarderMacrosTests/Records/"
    for file in ["ByHand.swift", "ByMacro.swift"] {
      let records = try source(tests + file)
      for type in ["ColumnOption", "TableConstraint", "TableOptions"] {
        let members = members(of: type, in: library)
        #expect(!members.isEmpty, "\(type)")
        for member in members {
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
