/// Reads Swift's tokens from source text, one after the other, as the language's lexical structure has
/// them: <https://docs.swift.org/swift-book/documentation/the-swift-programming-language/lexicalstructure/>.
struct SourceScanner {
  let source: [UInt8]
  private(set) var position = 0
  private var ahead: Token?
  /// Whether what was read last ends an operand, after which `/` divides.
  private var endsOperand = false
  /// How deep in interpolations it is.
  private var depth = 0

  /// No person nests deeper, and what a program has written must not exhaust the stack.
  static let greatestDepth = 50

  init(_ source: [UInt8], at position: Int = 0) {
    self.source = source
    self.position = position
  }

  // MARK: Tokens

  /// The next token, which stays the next.
  mutating func peek() throws -> Token {
    if let ahead { return ahead }
    let token = try scan()
    ahead = token
    return token
  }

  /// The next token, and goes on behind it.
  @discardableResult
  mutating func next() throws -> Token {
    let token = try peek()
    ahead = nil
    position = token.end
    switch token.kind {
    case .identifier: endsOperand = !Keywords.beforeOperand.contains(text(token))
    case .quotedIdentifier, .number, .string, .regex: endsOperand = true
    case .operator: endsOperand = token.isLeftBound && (self.is(token, "?") || self.is(token, "!"))
    case .punctuation, .end: endsOperand = [")", "]", "}"].contains { self.is(token, $0) }
    }
    return token
  }

  /// Goes on behind the first byte of an operator, of which types take one at a time: `>>`.
  mutating func split(_ token: Token) {
    ahead = nil
    position = token.start + 1
    endsOperand = true
  }

  /// The token's text.
  func text(_ token: Token) -> String { text(token.range) }

  func text(_ range: Range<Int>) -> String { String(decoding: source[range], as: UTF8.self) }

  /// Whether the token has this text; names between backticks are never keywords.
  func `is`(_ token: Token, _ text: StaticString) -> Bool {
    guard token.range.count == text.utf8CodeUnitCount, token.kind != .string else { return false }
    return text.withUTF8Buffer { source[token.range].elementsEqual($0) }
  }

  /// Goes on behind the next token if it has this text.
  mutating func skip(_ text: StaticString) throws -> Bool {
    guard self.is(try peek(), text) else { return false }
    try next()
    return true
  }

  /// Goes on behind a bracket, what is in it, and the closing bracket.
  mutating func skipGroup() throws {
    var open: [Token] = []
    repeat {
      let token = try next()
      switch token.kind {
      case .end:
        throw SourceProblem("there is no closing bracket", at: open.last?.start ?? token.start)
      case .punctuation:
        if ["(", "[", "{"].contains(where: { self.is(token, $0) }) {
          open.append(token)
        } else if [")", "]", "}"].contains(where: { self.is(token, $0) }) {
          guard let last = open.popLast(), closes(token, last) else {
            throw SourceProblem("a bracket closes what isn't open", at: token.start)
          }
        }
      default: break
      }
    } while !open.isEmpty
  }

  private func closes(_ token: Token, _ open: Token) -> Bool {
    // ( and ) are neighbours in ASCII; between the others is one character.
    source[token.start] == source[open.start] + (source[open.start] == UInt8(ascii: "(") ? 1 : 2)
  }

  // MARK: Bytes

  func byte(_ index: Int) -> UInt8 { source.indices.contains(index) ? source[index] : 0 }

  func has(_ text: StaticString, at index: Int) -> Bool {
    text.withUTF8Buffer { source[min(index, source.count)...].starts(with: $0) }
  }

  /// Whether what ends here has a word or an operand right behind it.
  func isRightBound(_ index: Int) -> Bool {
    guard index < source.count, !has("//", at: index), !has("/*", at: index) else { return false }
    return !isSpace(source[index]) && !")]},;:".utf8.contains(source[index])
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0 || byte == 32 || (9...13).contains(byte) }

  // MARK: Scanning

  /// Skips white space and comments; tells whether a line ended.
  private func trivia(_ index: inout Int) throws -> Bool {
    var isFirstOnLine = index == 0
    while index < source.count {
      if isSpace(source[index]) {
        if source[index] == 10 || source[index] == 13 { isFirstOnLine = true }
        index += 1
      } else if has("//", at: index) {
        while index < source.count, source[index] != 10, source[index] != 13 { index += 1 }
      } else if has("/*", at: index) {
        try comment(&index, &isFirstOnLine)
      } else {
        break
      }
    }
    return isFirstOnLine
  }

  /// Skips a comment, in which others may be nested.
  private func comment(_ index: inout Int, _ isFirstOnLine: inout Bool) throws {
    let start = index
    var open = 0
    repeat {
      if has("/*", at: index) {
        open += 1
        index += 2
      } else if has("*/", at: index) {
        open -= 1
        index += 2
      } else if index < source.count {
        if source[index] == 10 || source[index] == 13 { isFirstOnLine = true }
        index += 1
      } else {
        throw SourceProblem("the comment doesn't end", at: start)
      }
    } while open > 0
  }

  private func scan() throws -> Token {
    var start = position
    let isFirstOnLine = try trivia(&start)
    let isLeftBound =
      start == position && start > 0 && !"([{,;:".utf8.contains(byte(start - 1))
    func token(_ kind: Token.Kind, _ end: Int) -> Token {
      Token(
        kind: kind, range: start..<end, isFirstOnLine: isFirstOnLine, isLeftBound: isLeftBound)
    }
    guard start < source.count else { return token(.end, start) }
    switch source[start] {
    case UInt8(ascii: "`"):
      guard
        let end = source[(start + 1)...].firstIndex(where: { $0 == UInt8(ascii: "`") || $0 == 10 }),
        source[end] != 10, end > start + 1
      else { throw SourceProblem("the name has no closing backtick", at: start) }
      return token(.quotedIdentifier, end + 1)
    case UInt8(ascii: "\""): return token(.string, try string(start, hashes: 0))
    case UInt8(ascii: "#"):
      var end = start
      while byte(end) == UInt8(ascii: "#") { end += 1 }
      if byte(end) == UInt8(ascii: "\"") {
        return token(.string, try string(end, hashes: end - start))
      }
      if byte(end) == UInt8(ascii: "/") {
        return token(.regex, try RegexLiteral.end(of: self, from: end, hashes: end - start))
      }
      return token(.punctuation, start + 1)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return token(.number, number(start))
    case UInt8(ascii: ":") where byte(start + 1) == UInt8(ascii: ":"):
      return token(.punctuation, start + 2)
    case let byte where "()[]{},;:@\\".utf8.contains(byte): return token(.punctuation, start + 1)
    case UInt8(ascii: "."):
      guard byte(start + 1) == UInt8(ascii: ".") || isOperator(at: start + 1) != nil else {
        return token(.punctuation, start + 1)
      }
      return token(.operator, operatorEnd(start))
    case UInt8(ascii: "/"):
      if !endsOperand || (isFirstOnLine && previousIsBrace), isRightBound(start + 1),
        let end = RegexLiteral.end(of: self, from: start)
      {
        return token(.regex, end)
      }
      return token(.operator, operatorEnd(start))
    case UInt8(ascii: "?") where isLeftBound, UInt8(ascii: "!") where isLeftBound:
      return token(.operator, start + 1)
    default:
      if isOperator(at: start) != nil { return token(.operator, operatorEnd(start)) }
      let end = identifierEnd(start)
      guard end > start else { throw SourceProblem("this character isn't Swift's", at: start) }
      return token(.identifier, end)
    }
  }

  private var previousIsBrace: Bool { position > 0 && source[position - 1] == UInt8(ascii: "}") }

  private func identifierEnd(_ start: Int) -> Int {
    var end = start
    while end < source.count {
      let byte = source[end]
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 32)
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      if byte >= 0x80 {
        if isOperator(at: end) != nil { break }
        end += 1
        while byte >= 0xC0, self.byte(end) & 0xC0 == 0x80 { end += 1 }
      } else if isLetter || isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") {
        end += 1
      } else {
        break
      }
    }
    return end
  }

  private func number(_ start: Int) -> Int {
    var end = start
    let isHexadecimal = has("0x", at: start)
    while true {
      end = identifierEnd(end)
      let last = byte(end - 1) | 32
      let isExponent = last == UInt8(ascii: isHexadecimal ? "p" : "e")
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte(end + 1))
      if isExponent, byte(end) == UInt8(ascii: "+") || byte(end) == UInt8(ascii: "-"), isDigit {
        end += 1
      } else if byte(end) == UInt8(ascii: "."), isDigit, !source[start..<end].contains(46) {
        end += 1
      } else {
        return end
      }
    }
  }

  private func operatorEnd(_ start: Int) -> Int {
    var end = start
    let takesDots = byte(start) == UInt8(ascii: ".")
    while end < source.count {
      if end > start, has("//", at: end) || has("/*", at: end) { break }
      if byte(end) == UInt8(ascii: "."), takesDots {
        end += 1
      } else if let length = isOperator(at: end) {
        end += length
      } else {
        break
      }
    }
    return end
  }

  /// How many bytes the character takes if it is one of operators.
  private func isOperator(at index: Int) -> Int? {
    guard index < source.count else { return nil }
    if source[index] < 0x80 { return "/=-+!*%<>&|^~?".utf8.contains(source[index]) ? 1 : nil }
    return OperatorCharacters.length(in: source, at: index)
  }

  // MARK: Strings

  /// Where a string literal ends whose quotation mark is here.
  private func string(_ quote: Int, hashes: Int) throws -> Int {
    let isMultiline = has("\"\"\"", at: quote) && !endsOnLine(quote, hashes)
    let delimiter = (isMultiline ? 3 : 1)
    var index = quote + delimiter
    // An empty one: "" has no third mark behind it.
    while index < source.count {
      let byte = source[index]
      if byte == UInt8(ascii: "\""), !isMultiline || has("\"\"\"", at: index),
        hasHashes(hashes, at: index + delimiter)
      {
        return index + delimiter + hashes
      }
      if byte == UInt8(ascii: "\\"), hasHashes(hashes, at: index + 1) {
        let escaped = index + 1 + hashes
        if self.byte(escaped) == UInt8(ascii: "(") {
          index = try interpolation(escaped)
        } else {
          index = escaped + 1
        }
        continue
      }
      if !isMultiline, byte == 10 || byte == 13 { break }
      index += 1
    }
    throw SourceProblem("the string doesn't end", at: quote)
  }

  /// Whether a literal with hashes, such as `#"""#`, begins as those of several lines do, but ends on its own.
  private func endsOnLine(_ quote: Int, _ hashes: Int) -> Bool {
    guard hashes > 0 else { return false }
    let line = source[(quote + 1)...].prefix { $0 != 10 && $0 != 13 }
    return line.indices.contains {
      source[$0] == UInt8(ascii: "\"") && hasHashes(hashes, at: $0 + 1)
    }
  }

  func hasHashes(_ count: Int, at index: Int) -> Bool {
    index + count <= source.count
      && source[index..<(index + count)].allSatisfy { $0 == UInt8(ascii: "#") }
  }

  /// Where the brackets of an interpolation end.
  private func interpolation(_ bracket: Int) throws -> Int {
    guard depth < Self.greatestDepth else {
      throw SourceProblem("strings are nested too deep to be read", at: bracket)
    }
    var inner = self
    inner.ahead = nil
    inner.depth += 1
    inner.position = bracket
    inner.endsOperand = false
    try inner.skipGroup()
    return inner.position
  }
}
