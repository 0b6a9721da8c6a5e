import Larder
import LarderTerminal

/// Writes the steps by names from one schema to another as a migration in Swift.
struct MigrationDraft {
  private let steps: [NamedSteps.Part]
  /// Remarks on everything that the steps leave out.
  private let rest: [String]

  init(from old: Schema, to new: Schema) {
    steps = NamedSteps(from: old, to: new).parts
    rest = Self.rest(steps.map(\.step), from: old, to: new)
  }

  /// The differences that remain once the steps have run on an empty copy. A server's schema isn't tried.
  private static func rest(
    _ steps: [SchemaStep], from old: Schema, to new: Schema
  ) -> [String] {
    guard !(old.tables + new.tables).contains(where: { $0.engine != nil }) else {
      return ["These steps weren't tried: compare the databases with “larder diff” afterwards."]
    }
    do {
      let db = try Database()
      try db.executeUpdate("PRAGMA foreign_keys = OFF")
      for sql in old.tables.flatMap(\.statements) + old.others.compactMap(\.sql) {
        try db.executeUpdate(SQL(raw: sql).uncached)
      }
      for step in steps { try step.execute(db) }
      return try new.differences(from: Schema(db)).map { "To be written by hand: \($0)" }
    } catch {
      return ["These steps don't work as they are: \(error)"]
    }
  }

  /// - Parameter title: a line that says what the migration does.
  func text(name: String, title: String) -> String {
    let head = "// \(title.commented)\n"
    let remarks = rest.map { "// \($0.commented)\n" }.joined()
    guard !steps.isEmpty else {
      return head + (rest.isEmpty ? "// The schemas are the same.\n" : remarks)
    }
    let last = steps.count - 1
    let lines = steps.enumerated().map { number, part in
      (part.comments.map { "    // \($0.commented)" } + [
        "    \(part.text)\(number == last ? ")" : ",")"
      ])
      .joined(separator: "\n")
    }
    let property = SwiftName.written(SwiftName.property(name) ?? "migration")
    return """
      \(head)\(remarks)
      import Foundation
      import Larder

      extension Migration {
        static let \(property) = Migration(
          \(name.swiftLiteral),
      \(lines.joined(separator: "\n"))
      }

      """
  }
}
