/// The lines of the page for the calls that one item names.
enum CallLines {
  /// A line for each method, initializer and macro; one for all properties, cases or operators of a type.
  static func lines(for symbols: [Symbol]) -> [String] {
    Dictionary(grouping: symbols, by: \.type).sorted { $0.key < $1.key }.flatMap { type, members in
      let named = Dictionary(grouping: members, by: \.name).sorted { $0.key < $1.key }
      var calls: [String] = []
      var values: [String] = []
      var operators: [String] = []
      for (_, forms) in named {
        let lengths = forms.map { brief($0).replacing("mutating ", with: "").count }
        guard let first = zip(forms, lengths).min(by: { $0.1 < $1.1 })?.0 else { continue }
        switch first.kind {
        case "property", "type.property", "enum.case": values.append(value(first))
        case "func.op": operators.append(String(first.name.prefix { $0 != "(" }))
        default: calls.append(line(for: first, of: forms))
        }
      }
      let prefix = type.isEmpty ? "" : "\(type): "
      if values.count == 1, let value = values.first {
        values = []
        calls.append(value.hasPrefix(".") ? "\(type)\(value)" : "\(type).\(value)")
      }
      return calls
        + (operators.isEmpty ? [] : ["\(prefix)operators " + operators.joined(separator: "  ")])
        + wrapped(values, after: prefix)
    }
  }

  private static func line(for symbol: Symbol, of forms: [Symbol]) -> String {
    var notes: [String] = []
    if !symbol.isAsync, forms.contains(where: \.isAsync) { notes.append("also async") }
    let others = forms.count - 1 - notes.count
    if others > 0 { notes.append(others == 1 ? "another form" : "\(others) more forms") }
    return brief(symbol) + (notes.isEmpty ? "" : "   // " + notes.joined(separator: ", "))
  }

  private static func value(_ symbol: Symbol) -> String {
    let text = String(symbol.declaration.split(separator: " {")[0])
    for keyword in ["case ", "static var ", "static let ", "var ", "let "] {
      guard let range = text.firstRange(of: keyword) else { continue }
      var rest = String(text[range.upperBound...])
      if rest.hasSuffix(": \(symbol.type)") { rest.removeLast(symbol.type.count + 2) }
      return keyword.hasPrefix("static") || keyword == "case " ? "." + rest : rest
    }
    return text
  }

  private static func wrapped(_ values: [String], after prefix: String) -> [String] {
    var lines: [String] = []
    var line = prefix
    for (index, value) in values.enumerated() {
      let piece = value + (index == values.count - 1 ? "" : ", ")
      if line.count > prefix.count, line.count + piece.count > 116 {
        lines.append(line)
        line = "    "
      }
      line += piece
    }
    return (values.isEmpty ? lines : lines + [line]).map {
      String($0.trimmingSuffix(while: { $0 == " " }))
    }
  }

  /// The declaration without what doesn't matter to a caller. The digest has all of it.
  private static func brief(_ symbol: Symbol) -> String {
    var text = symbol.declaration
    for noise in [
      "@escaping ", "@Sendable ", "sending ", "@discardableResult ", "@SQLCondition ", "@SQLGroup ",
      "@SQLOrder ", "`", ", line: UInt = #line", " { get }",
    ] {
      text = text.replacing(noise, with: "")
    }
    text = text.replacing(/any (KeyPath<[^>]*>) & Sendable/) { "\($0.output.1)" }
    if let start = text.ranges(of: " where ").last {
      let kept = text[start.upperBound...].split(separator: ", ").filter {
        !$0.hasSuffix(" : Sendable") && !$0.hasSuffix(" : DatabaseValueConvertible")
          && !$0.hasSuffix(" : Record")
      }
      text =
        text[..<start.lowerBound]
        + (kept.isEmpty ? "" : " where " + kept.joined(separator: ", "))
    }
    let type = symbol.type
    if symbol.kind == "init" {
      guard let range = text.firstRange(of: "init") else { return text }
      return type + text[range.upperBound...]
    }
    let dot = type.isEmpty ? "" : "\(type)."
    for (keyword, mark) in [
      ("static func ", "static "), ("mutating func ", "mutating "), ("func ", ""),
    ] {
      if let range = text.firstRange(of: keyword) { return mark + dot + text[range.upperBound...] }
    }
    if let range = text.firstRange(of: "subscript") {
      return type + " " + text[range.lowerBound...]
    }
    if let range = text.firstRange(of: "macro ") { return "@" + text[range.upperBound...] }
    return dot + text
  }
}

extension String {
  /// The string without the last characters that meet a condition.
  fileprivate func trimmingSuffix(while condition: (Character) -> Bool) -> Substring {
    var end = endIndex
    while end > startIndex, condition(self[index(before: end)]) { end = index(before: end) }
    return self[..<end]
  }
}
