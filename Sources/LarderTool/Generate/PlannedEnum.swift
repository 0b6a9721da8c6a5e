import Larder

/// An enumeration to be generated for columns whose CHECK, or whose type on a server, lists all texts that they
/// may have.
struct PlannedEnum: Equatable {
  let name: String
  /// The texts, in the order of the CHECK or the type.
  let texts: [String]
  /// The columns as `table.column`, for the comment.
  let columns: [String]
  /// The enumeration type of a server; nil for a CHECK.
  var type: ServerEnum?
  /// Whether the values are also in arrays, which takes Codable.
  var isInArrays = false

  var values: Set<String> { Set(texts) }

  /// The texts with the names of their cases, without backticks.
  private var cases: [(text: String, name: String)] {
    var taken: Set<String> = []
    return texts.enumerated().map { place, text in
      let name = SwiftName.property(text).map {
        Self.taken.contains($0) ? $0 + "Value" : $0
      }
      return (text, name.distinct(from: &taken, or: text.isEmpty ? "empty" : "value\(place + 1)"))
    }
  }

  /// Names that an enumeration has already, and those of an Optional's cases, which would hide them.
  private static let taken: Set<String> = ["none", "some", "rawValue", "allCases", "hashValue"]

  /// The Swift expression of a text; nil if no case has it.
  func literal(of text: String) -> String? {
    cases.first { $0.text == text }.map {
      "\(SwiftName.written(name)).\(SwiftName.written($0.name))"
    }
  }

  /// The generated declaration.
  var source: String {
    let lines = cases.map { text, name in
      "  case \(SwiftName.written(name))" + (text == name ? "" : " = \(text.swiftLiteral)")
    }
    let names = columns.map { "“\($0)”" }.joined(separator: ", ").commented
    let codable = isInArrays ? "Codable, " : ""
    let comment = (type?.comment).map { $0.documented(indent: "") + "///\n" } ?? ""
    let origin =
      type.map { "/// The values of the type “\($0.name.commented)” of \(names)." }
      ?? "/// The texts that the CHECK of \(names) allows."
    return """
      \(comment)\(origin)
      enum \(SwiftName.written(name)): String, CaseIterable, \(codable)DatabaseValueConvertible {
      \(lines.joined(separator: "\n"))
      }
      """
  }
}

extension String {
  /// The text as lines of a documentation comment.
  func documented(indent: String) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let text = String(line.unicodeScalars.map { $0.isInvisible ? " " : Character($0) })
      return "\(indent)///\(text.isEmpty ? "" : " ")\(text)".trimmedEnd + "\n"
    }.joined()
  }

  private var trimmedEnd: String {
    var text = self
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
