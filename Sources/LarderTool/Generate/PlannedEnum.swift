import Larder

/// An enumeration to be generated for columns whose CHECK lists all texts that they may have.
struct PlannedEnum: Equatable {
  let name: String
  /// The texts, in the order of the CHECK.
  let texts: [String]
  /// The columns as `table.column`, for the comment.
  let columns: [String]

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

  var storage: PropertyStorage {
    PropertyStorage(type: SwiftName.written(name), columnType: .text, words: self)
  }

  /// The generated declaration.
  var source: String {
    let lines = cases.map { text, name in
      "  case \(SwiftName.written(name))" + (text == name ? "" : " = \(text.swiftLiteral)")
    }
    let names = columns.map { "“\($0)”" }.joined(separator: ", ").commented
    return """
      /// The texts that the CHECK of \(names) allows.
      enum \(SwiftName.written(name)): String, CaseIterable, DatabaseValueConvertible {
      \(lines.joined(separator: "\n"))
      }
      """
  }
}
