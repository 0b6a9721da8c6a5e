import Larder

// Texts, and conditions on them. What Swift computes looks at Unicode scalars and bytes, as SQLite
// does: two texts that Swift calls equal may differ.

extension TreeGenerator {
  func text(_ leaves: TreeLeaves, _ depth: Int) -> Tree<String> {
    if depth == 0 || chance(3) {
      return chance(4) || leaves.texts.isEmpty ? .constant(word) : pick(leaves.texts)
    }
    let text = text(leaves, depth - 1)
    switch number(0..<9) {
    case 0:
      let other = self.text(leaves, depth - 1)
      return text.combined(other, text.sql + other.sql) { .text(try $0.scalars.joined($1.scalars)) }
    case 1:
      let word = word
      return text.map(text.sql + word) { .text(try $0.scalars.joined(Array(word.unicodeScalars))) }
    case 2: return text.map(text.sql.uppercased) { .text(try $0.folded(97...122, -32)) }
    case 3: return text.map(text.sql.lowercased) { .text(try $0.folded(65...90, 32)) }
    case 4:
      let (part, other) = (part, part)
      return text.map(text.sql.replacing(part, with: other)) {
        .text(String(scalars: try $0.scalars.replacing(part.unicodeScalars, with: other)))
      }
    case 5:
      let (start, count) = (number(0..<4), number(0..<4))
      return text.map(text.sql.substring(from: start, count: count)) {
        .text(String(scalars: try $0.scalars.dropFirst(start).prefix(count)))
      }
    case 6:
      let count = number(1..<4)
      return text.map(text.sql.substring(from: -count)) {
        .text(String(scalars: try $0.scalars.suffix(count)))
      }
    case 7:
      let optional = optionalText(leaves, depth - 1)
      return Tree(optional.sql.coalesce(text.sql)) {
        let known = try optional.value($0)
        return known.isNull ? try text.value($0) : known
      }
    default:
      return text.map(text.sql.trimmed) {
        let start = try $0.scalars.drop { $0 == " " }.reversed().drop { $0 == " " }
        return .text(String(scalars: start.reversed()))
      }
    }
  }

  func optionalText(_ leaves: TreeLeaves, _ depth: Int) -> Tree<String?> {
    if depth == 0 || chance(2) {
      if chance(6) || leaves.optionalTexts.isEmpty { return .constant(chance(2) ? nil : word) }
      return pick(leaves.optionalTexts)
    }
    let text = optionalText(leaves, depth - 1)
    if chance(2) { return text.map(text.sql.uppercased) { .text(try $0.folded(97...122, -32)) } }
    let condition = condition(leaves, depth - 1)
    let value = self.text(leaves, depth - 1)
    return Tree(when(condition.sql, then: value.sql).otherwiseNull) {
      try condition.value($0).truth == true ? try value.value($0) : .null
    }
  }

  func textCondition(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Bool> {
    if chance(2) { return matches(text(leaves, depth)) }
    return matches(optionalText(leaves, depth))
  }

  private func matches<Text: TextValue>(_ text: Tree<Text>) -> Tree<Bool> {
    let part = part
    switch number(0..<8) {
    case 0:
      return text.map(text.sql.hasPrefix(part)) {
        .truth(try $0.scalars.starts(with: part.unicodeScalars))
      }
    case 1:
      return text.map(text.sql.hasSuffix(part)) {
        .truth(try $0.scalars.reversed().starts(with: part.unicodeScalars.reversed()))
      }
    case 2:
      return text.map(text.sql.contains(part)) { .truth(!(try $0.position(of: part).isNull)) }
    case 3:
      let pattern = pick(["%", "", "_", "%o%", "O%", "%\u{301}", "北_", "100\\%", "%'%", "__%"])
      return text.map(text.sql.like(pattern)) {
        .truth(TextPattern.like.matches(try $0.scalars, Array(pattern.unicodeScalars)))
      }
    case 4:
      let pattern = pick(["100!%", "a!_b", "%!!%", "!%%", "_"])
      return text.map(text.sql.like(pattern, escape: "!")) {
        var like = TextPattern.like
        like.escape = "!"
        return .truth(like.matches(try $0.scalars, Array(pattern.unicodeScalars)))
      }
    case 5:
      let pattern = pick(["%", "", "_", "%O%", "o%", "%É%", "Å%", "!__", "%!", "北_", "%*%", "[%"])
      let caseSensitive = chance(2)
      return text.map(text.sql.like(pattern, escape: "!", caseSensitive: caseSensitive)) {
        func folded(_ scalars: some Sequence<Unicode.Scalar>) -> [Unicode.Scalar] {
          if caseSensitive { return Array(scalars) }
          return scalars.flatMap {
            $0 == "ς" ? ["σ"] : Array($0.properties.lowercaseMapping.unicodeScalars)
          }
        }
        var like = TextPattern.likeOfEqualCase
        like.escape = "!"
        return .truth(like.matches(folded(try $0.scalars), folded(pattern.unicodeScalars)))
      }
    case 6:
      let pattern = pick(["*", "", "?", "*o*", "O*", "北?", "*'*", "??*"])
      return text.map(text.sql.glob(pattern)) {
        .truth(TextPattern.glob.matches(try $0.scalars, Array(pattern.unicodeScalars)))
      }
    default:
      let name = pick(["NOCASE", "RTRIM", "BINARY"])
      return Tree(text.sql.collate(name) == text.sql.uppercased) {
        let known = try text.value($0)
        // But for NULL, which is NULL in capital letters too.
        if known.isNull || name == "NOCASE" { return .truth(true) }
        let (plain, capital) = (
          try known.scalars, Array(try known.folded(97...122, -32).unicodeScalars)
        )
        func end(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
          name == "RTRIM" ? scalars.reversed().drop { $0 == " " }.reversed() : scalars
        }
        return .truth(end(plain) == end(capital))
      }
    }
  }
}

/// What `%`, `_` and their like mean.
struct TextPattern {
  let any: Unicode.Scalar
  let one: Unicode.Scalar
  let ignoresCase: Bool
  var escape: Unicode.Scalar?

  static let like = TextPattern(any: "%", one: "_", ignoresCase: true)
  static let likeOfEqualCase = TextPattern(any: "%", one: "_", ignoresCase: false)
  static let glob = TextPattern(any: "*", one: "?", ignoresCase: false)

  func matches(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = Array(pattern.dropFirst())
    if first == escape {
      guard let literal = rest.first, let scalar = text.first else { return false }
      return literal == scalar && matches(Array(text.dropFirst()), Array(rest.dropFirst()))
    }
    if first == any {
      return (0...text.count).contains { matches(Array(text.dropFirst($0)), rest) }
    }
    guard let scalar = text.first else { return false }
    guard first == one || same(first, scalar) else { return false }
    return matches(Array(text.dropFirst()), rest)
  }

  private func same(_ left: Unicode.Scalar, _ right: Unicode.Scalar) -> Bool {
    guard ignoresCase, left.isASCII, right.isASCII else { return left == right }
    return left.properties.lowercaseMapping == right.properties.lowercaseMapping
  }
}

extension String {
  init(scalars: some Sequence<Unicode.Scalar>) {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars)
    self.init(text)
  }
}

extension [Unicode.Scalar] {
  func joined(_ other: [Unicode.Scalar]) -> String { String(scalars: self + other) }

  /// Nothing is in the place of nothing.
  fileprivate func replacing(
    _ part: some Collection<Unicode.Scalar>, with other: String
  ) -> [Unicode.Scalar] {
    if part.isEmpty { return self }
    var (result, rest): ([Unicode.Scalar], ArraySlice<Unicode.Scalar>) = ([], self[...])
    while let first = rest.first {
      if rest.starts(with: part) {
        result += other.unicodeScalars
        rest = rest.dropFirst(part.count)
      } else {
        result.append(first)
        rest.removeFirst()
      }
    }
    return result
  }
}

extension DatabaseValue {
  var scalars: [Unicode.Scalar] {
    get throws {
      guard let text else { throw UnknownValue() }
      return Array(text.unicodeScalars)
    }
  }

  /// With the letters of ASCII that are in a range moved.
  func folded(_ range: ClosedRange<UInt32>, _ distance: Int) throws -> String {
    String(
      scalars: try scalars.map {
        range.contains($0.value)
          ? Unicode.Scalar(UInt8(Int($0.value) + distance)) : $0
      })
  }

  /// Where a part begins; NULL where it isn't in the text.
  func position(of part: String) throws -> DatabaseValue {
    let (text, part) = (try scalars, Array(part.unicodeScalars))
    guard let start = (0...text.count).first(where: { text.dropFirst($0).starts(with: part) })
    else { return .null }
    return .integer(Int64(start))
  }
}
