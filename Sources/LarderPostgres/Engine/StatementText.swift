import Larder

/// The text of a statement for an engine that numbers placeholders: `$1`, `$2` …
///
/// SQLite's placeholders are accepted too: `?`, `?3`, `:name`, `@name` and `$name`, so that the same
/// statement runs on both. A repeated name is the same parameter. Strings, quoted names, comments and dollar
/// quotes stay as they are; see
/// [Lexical Structure](https://www.postgresql.org/docs/current/sql-syntax-lexical.html).
struct StatementText {
  private var text: [UInt8] = []
  /// The parameters by position: the name with its prefix, or nil.
  private(set) var names: [String?] = []
  /// The first word outside of quotes, in lower case.
  private var firstWord = ""
  private var changesRows = false
  private var returnsRows = false
  private(set) var leavings: StatementEffects
  private var changesSchema = false
  /// The first words. They tell whether this is a function's definition, in whose body statements end too.
  private(set) var words: [String] = []
  /// Whether a change of the schema says CONCURRENTLY.
  private(set) var isConcurrent = false
  /// The number of open parentheses, and of open blocks of a function's body.
  private var depth = 0

  private let source: [UInt8]
  private var position = 0
  private var keepsPlaceholders = false
  /// Where the last word begins in the text, if it is NOT.
  private var notStart: Int?

  /// - Parameter harmless: the names of functions that are known to leave
  ///   nothing in a connection, besides the server's own.
  init(_ sql: String, harmless: Set<String> = []) {
    source = Array(sql.utf8)
    leavings = StatementEffects(harmless: harmless)
    text.reserveCapacity(source.count + 16)
    while position < source.count { takeNext() }
  }

  /// The statement's effects besides reading and writing rows.
  var effects: EngineEffects {
    var effects: EngineEffects = leavings.leavesNothing ? [] : .session
    if changesSchema || leavings.makesTable { effects.insert(.schema) }
    return effects
  }

  /// The statements of a text, split at semicolons outside of quotes.
  static func statements(in sql: String) -> [String] {
    var rest = StatementText(parting: sql)
    var statements: [String] = []
    while rest.position < rest.source.count {
      rest.text = []
      rest.firstWord = ""
      rest.words = []
      rest.depth = 0
      while rest.position < rest.source.count, rest.depth > 0 || rest.byte() != UInt8(ascii: ";") {
        rest.takeNext()
      }
      rest.position += 1
      if !rest.firstWord.isEmpty {
        statements.append(String(decoding: rest.text.drop { $0 <= 0x20 }, as: UTF8.self))
      }
    }
    return statements
  }

  /// For splitting: placeholders stay as they are.
  private init(parting sql: String) {
    source = Array(sql.utf8)
    leavings = StatementEffects()
    keepsPlaceholders = true
  }

  private func byte(_ offset: Int = 0) -> UInt8 {
    position + offset < source.count ? source[position + offset] : 0
  }

  private mutating func takeNext() {
    let start = position
    switch byte() {
    case UInt8(ascii: "'"):
      // In E'…' a backslash escapes what follows.
      let prefix = start > 0 ? source[start - 1] | 0x20 : 0
      let isOwnWord = start < 2 || !source[start - 2].isWord
      let escapes = prefix == UInt8(ascii: "e") && isOwnWord
      takeQuoted(escapes: escapes)
      while escapes, let next = continuation {
        position = next
        takeQuoted(escapes: true)
      }
      leavings.takeLiteral()
    case UInt8(ascii: "\""):
      takeQuoted(escapes: false)
      let name = String(decoding: source[start..<position].dropFirst().dropLast(), as: UTF8.self)
      leavings.take(quotedName: name.replacing("\"\"", with: "\""))
    case UInt8(ascii: "-") where byte(1) == UInt8(ascii: "-"):
      while position < source.count, ![UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte()) {
        position += 1
      }
    case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): takeComment()
    case UInt8(ascii: "?"):
      position += 1
      return placeholder(numbered: takeDigits())
    case UInt8(ascii: ":") where byte(1) == UInt8(ascii: ":"):
      position += 2
      leavings.takeCast()
    case UInt8(ascii: ":"), UInt8(ascii: "@"):
      position += 1
      // There is no operator with a colon; @ is one, and part of others.
      let isOperator =
        source[start] != UInt8(ascii: ":") && start > 0 && source[start - 1].isOperator
      if byte().isWord, !isOperator {
        takeWord()
        // A colon before a number separates the bounds of a slice.
        if !source[(start + 1)..<position].allSatisfy(\.isDigit) {
          return placeholder(named: source[start..<position])
        }
      }
      leavings.take(symbol: source[start])
    case UInt8(ascii: "$"):
      position += 1
      if byte().isDigit { return placeholder(numbered: takeDigits()) }
      takeWord()
      if byte() == UInt8(ascii: "$") {
        position += 1
        takeDollarQuoted(source[start..<position])
        leavings.takeLiteral()
      } else if position > start + 1 {
        return placeholder(named: source[start..<position])
      }
    case let first where first.isWord:
      while byte().isWord || byte() == UInt8(ascii: "$") { position += 1 }
      // Only ASCII letters become small, as on the server.
      let word = source[start..<position].map {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
      }
      let name = String(decoding: word, as: UTF8.self)
      note(name)
      if name == "in", let end = endOfEmptyList() { return takeEmptyList(until: end) }
      notStart = name == "not" ? text.count : nil
    case UInt8(ascii: "("), UInt8(ascii: ")"):
      depth = max(0, depth + (byte() == UInt8(ascii: "(") ? 1 : -1))
      leavings.take(symbol: byte())
      position += 1
    default:
      if byte() > 0x20 { leavings.take(symbol: byte()) }
      position += 1
    }
    text += source[start..<position]
  }

  /// The end of an empty list that begins here, as an empty array in a statement makes one; nil if there is none.
  private func endOfEmptyList() -> Int? {
    var end = position
    for parenthesis in [UInt8(ascii: "("), UInt8(ascii: ")")] {
      while end < source.count, source[end] <= 0x20 { end += 1 }
      guard end < source.count, source[end] == parenthesis else { return nil }
      end += 1
    }
    return end
  }

  /// Writes what a server has in place of `IN ()`, which is a syntax error there: an empty array, of any type.
  private mutating func takeEmptyList(until end: Int) {
    for symbol in [UInt8(ascii: "("), UInt8(ascii: ")")] { leavings.take(symbol: symbol) }
    position = end
    let start = notStart.flatMap { start in
      text[start...].dropFirst(3).allSatisfy { $0 <= 0x20 } ? start : nil
    }
    if let start {
      text.removeSubrange(start...)
      text += "<> ALL ('{}')".utf8
    } else {
      text += "= ANY ('{}')".utf8
    }
  }

  private mutating func note(_ word: String) {
    leavings.take(word: word)
    if firstWord.isEmpty { firstWord = word }
    if ["insert", "update", "delete", "merge"].contains(word) { changesRows = true }
    if word == "returning" { returnsRows = true }
    if words.count < 4 { words.append(word) }
    if ["create", "alter", "drop", "do", "call"].contains(words[0]) { changesSchema = true }
    if changesSchema, word == "concurrently" { isConcurrent = true }
    guard keepsPlaceholders else { return }
    guard words[0] == "create", words.contains("function") || words.contains("procedure") else {
      return
    }
    // A function's body in SQL: BEGIN ATOMIC … END.
    if word == "begin" || word == "case" && depth > 0 { depth += 1 }
    if word == "end", depth > 0 { depth -= 1 }
  }

  private mutating func takeQuoted(escapes: Bool) {
    let quote = byte()
    position += 1
    while position < source.count {
      if escapes, byte() == UInt8(ascii: "\\") {
        position += 2
      } else if byte() != quote {
        position += 1
      } else if byte(1) == quote {
        position += 2
      } else {
        position += 1
        return
      }
    }
    position = min(position, source.count)
  }

  /// The position at which a string that has just ended goes on, after white space; nil if it doesn't.
  private var continuation: Int? {
    var next = position
    while next < source.count, source[next] <= 0x20 || source[next...].starts(with: "--".utf8) {
      if source[next] > 0x20 {
        while next < source.count, source[next] != UInt8(ascii: "\n"),
          source[next] != UInt8(ascii: "\r")
        { next += 1 }
      } else {
        next += 1
      }
    }
    return next > position && next < source.count && source[next] == UInt8(ascii: "'") ? next : nil
  }

  /// Skips a comment. Comments nest.
  private mutating func takeComment() {
    var depth = 0
    repeat {
      if byte() == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
        depth += 1
        position += 2
      } else if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
        depth -= 1
        position += 2
      } else {
        position += 1
      }
    } while depth > 0 && position < source.count
    position = min(position, source.count)
  }

  private mutating func takeDollarQuoted(_ tag: ArraySlice<UInt8>) {
    while position < source.count {
      if source[position...].starts(with: tag) {
        position += tag.count
        return
      }
      position += 1
    }
  }

  private mutating func takeWord() {
    while byte().isWord { position += 1 }
  }

  private mutating func takeDigits() -> Int? {
    let start = position
    while byte().isDigit { position += 1 }
    return Int(String(decoding: source[start..<position], as: UTF8.self))
  }

  private mutating func placeholder(numbered number: Int?) {
    // The server itself reports a number beyond its limit, which is kept just beyond it here.
    if keepsPlaceholders { return text += (number.map { "?\($0)" } ?? "?").utf8 }
    leavings.takeLiteral()
    let number = min(number ?? names.count + 1, Int(UInt16.max) + 1)
    while names.count < number { names.append(nil) }
    text += "$\(number)".utf8
  }

  private mutating func placeholder(named name: ArraySlice<UInt8>) {
    if keepsPlaceholders { return text += name }
    let name = String(decoding: name, as: UTF8.self)
    // Names are compared by their bytes: the same letters in other bytes are another name.
    if let known = names.firstIndex(where: { $0?.utf8.elementsEqual(name.utf8) == true }) {
      return placeholder(numbered: known + 1)
    }
    leavings.takeLiteral()
    names.append(name)
    text += "$\(names.count)".utf8
  }

  /// Whether the statement only reads, as far as its words tell. One that doesn't may return rows too.
  var isReadOnly: Bool {
    ["select", "values", "table", "show", "explain", "with"].contains(firstWord) && !changesRows
  }

  /// Whether the statement changes rows and returns some of them.
  var returnsChanges: Bool { changesRows && returnsRows }

  var string: String { String(decoding: text, as: UTF8.self) }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isWord: Bool {
    isDigit || self == UInt8(ascii: "_") || self >= 0x80
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }

  fileprivate var isOperator: Bool { "<>=!~@#%^&|`?+-*/:".utf8.contains(self) }
}
