import Larder

/// Finds out whether a statement is known to leave nothing in its connection after the end of its
/// transaction: no setting, role, lock, temporary table, cursor or prepared statement.
///
/// This is an allowlist: plain SELECT, INSERT, UPDATE, DELETE and MERGE whose functions are the server's own
/// and harmless (``HarmlessFunctions``), and statements that concern only a transaction. A denylist would be
/// passed by quotes, by functions that run other SQL, and by whatever the next version of the server adds.
///
/// User-defined triggers, rules, views, operators and casts don't show in the text.
struct StatementEffects {
  private enum Token: Equatable {
    case none, word(String), name(String), symbol(UInt8), literal, cast

    /// The identifier's name, quoted or not.
    var identifier: String? {
      switch self {
      case .word(let name), .name(let name): name
      case .none, .symbol, .literal, .cast: nil
      }
    }

    static let dot = Token.symbol(UInt8(ascii: "."))
  }

  /// An open parenthesis, or the statement itself.
  private struct Level {
    var hasBegun = false
    /// Whether it begins with WITH.
    var isWith = false
    /// Whether the verb of its query has been read, or a query in parentheses that takes its place.
    var hasVerb = false
    /// Whether the verb is INSERT.
    var isInsert = false
    /// Whether the SET of its UPDATE is yet to come.
    var isBeforeSet = false
    /// Whether it has had a JOIN, so that ON may begin a condition.
    var hasJoined = false
  }

  /// The names of functions that the program knows to be harmless.
  private let harmless: Set<String>
  private var first = ""
  /// The number of tokens so far.
  private var count = 0
  /// The last three tokens, the very last first.
  private var last = [Token.none, .none, .none]
  /// Whether the last token is the verb of its level.
  private var isBehindVerb = false
  /// Whether the last token belongs to the name of the table after INTO.
  private var isTable = false
  private var levels = [Level()]
  private var changesRows = false
  private var namesSettings = false
  /// Whether it names a function that is called for its effect on the session.
  private(set) var namesSession = false
  private var setsForTransaction = false
  private var isSuspect = false
  /// Whether there is a DISTINCT ON, after whose parentheses an expression begins.
  private var isDistinctOn = false
  /// Whether there is a SELECT … INTO.
  private(set) var makesTable = false

  init(harmless: Set<String> = []) { self.harmless = harmless }

  /// Whether nothing is left behind, as far as the text tells.
  var leavesNothing: Bool {
    // `pg_settings`, the view of settings, has a rule that turns an UPDATE into a SET.
    guard !isSuspect, !(namesSettings && changesRows) else { return false }
    return first == "set" ? setsForTransaction : first.isEmpty || Self.verbs.contains(first)
  }

  private static let verbs: Set = [
    "select", "values", "table", "with", "insert", "update", "delete", "merge", "explain", "show",
    "declare",
    "fetch", "move", "close", "lock", "begin", "start", "commit", "end", "rollback", "abort",
    "savepoint",
    "release", "notify", "truncate",
  ]

  private static let closing = Token.symbol(UInt8(ascii: ")"))
  private static let sessionLocks = ["pg_advisory_lock", "pg_try_advisory_lock"]

  // MARK: Tokens

  mutating func take(word: String) {
    let isNumber = word.utf8.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isNumber == false else {
      // Older servers take letters that directly follow a number for a separate word.
      if !Self.isNumber(word) { isSuspect = true }
      return takeLiteral()
    }
    let isVerb = note(word)
    takeIdentifier(.word(word))
    isBehindVerb = isVerb
  }

  /// Whether a word that begins with a digit is a number: `12`, `1e6`, `1_000`, `0xff`.
  private static func isNumber(_ word: String) -> Bool {
    let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    let isPlain = { isDigit($0) || $0 == UInt8(ascii: "_") }
    if ["0x", "0o", "0b"].contains(where: word.hasPrefix) {
      let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
      return word.utf8.dropFirst(2).allSatisfy { isPlain($0) || letters.contains($0) }
    }
    let rest = word.utf8.drop(while: isPlain)
    return rest.isEmpty || rest.first == UInt8(ascii: "e") && rest.dropFirst().allSatisfy(isDigit)
  }

  mutating func take(quotedName name: String) {
    // U&"…" has escapes of its own.
    if last[0] == .symbol(UInt8(ascii: "&")), last[1] == .word("u") { isSuspect = true }
    takeIdentifier(.name(name))
  }

  mutating func takeLiteral() { take(.literal) }

  /// A cast's `::`, which a type follows.
  mutating func takeCast() { take(.cast) }

  mutating func take(symbol: UInt8) {
    switch symbol {
    case UInt8(ascii: "("):
      if !mayOpen { isSuspect = true }
      // The query of a WITH begins with a parenthesis itself.
      let level = levels.count - 1
      if levels[level].isWith, last[0] == Self.closing { levels[level].hasVerb = true }
      take(.symbol(symbol))
      levels.append(Level())
    case UInt8(ascii: ")"):
      if levels.count > 1 { levels.removeLast() }
      take(.symbol(symbol))
    default: take(.symbol(symbol))
    }
  }

  private mutating func takeIdentifier(_ token: Token) {
    guard let name = token.identifier else { return }
    if name == "pg_settings" { namesSettings = true }
    if name == "set_config" || Self.sessionLocks.contains(where: name.hasPrefix) {
      namesSession = true
    }
    // This setting changes where texts end, so that nothing here is known any
    // more, not even for a transaction.
    if name == "standard_conforming_strings" { isSuspect = true }
    if name.hasPrefix("pg_temp") { isSuspect = true }
    let isTable = last[0] == .word("into") || last[0] == .dot && self.isTable
    take(token)
    self.isTable = isTable
  }

  private mutating func take(_ token: Token) {
    if first == "set", count == 2 {
      // These words may also begin the name of a setting: another name has to follow them.
      let words = [Token.word("local"), .word("transaction"), .word("constraints")]
      setsForTransaction =
        words.contains(last[0]) && token.identifier != nil && token != .word("to")
    }
    count += 1
    if last[0] == .word("set") { levels[levels.count - 1].isBeforeSet = false }
    levels[levels.count - 1].hasBegun = true
    isBehindVerb = false
    if token != .dot { isTable = false }
    last = [token, last[0], last[1]]
  }

  /// Notes the effects of a word. Returns whether it is the verb of its level.
  private mutating func note(_ word: String) -> Bool {
    let level = levels.count - 1
    let isFirst = !levels[level].hasBegun
    if first.isEmpty { first = word }
    switch word {
    case "with": if isFirst { levels[level].isWith = true }
    case "join": levels[level].hasJoined = true
    case "on": if last[0] == .word("distinct") { isDistinctOn = true }
    case "insert", "update", "delete", "merge", "select", "values", "table":
      if !["select", "values", "table"].contains(word) { changesRows = true }
      let mayFollow = levels[level].isWith || level == 0 && ["explain", "declare"].contains(first)
      guard isFirst || mayFollow, !levels[level].hasVerb else { return false }
      levels[level].hasVerb = true
      if word == "update" { levels[level].isBeforeSet = true }
      if word == "insert" { levels[level].isInsert = true }
      return true
    case "into":
      // SELECT … INTO makes a table. The `insert` before INTO has to be a verb,
      // since a column may have that name.
      let isOfInsert = last[0] == .word("insert") || last[0] == .word("merge")
      if !(isBehindVerb && isOfInsert) {
        makesTable = true
        isSuspect = true
      }
    // A cursor that outlives its transaction.
    case "hold": if last[0] == .word("with") { isSuspect = true }
    case "create", "execute", "refresh": if first == "explain" { isSuspect = true }
    case "returning": levels[level].isBeforeSet = false
    default: break
    }
    return false
  }

  // MARK: Calls

  /// Whether a parenthesis may open here: not after a function's name, unless the function is harmless.
  private var mayOpen: Bool {
    guard let name = last[0].identifier else { return true }
    let level = levels[levels.count - 1]
    // The columns of a table, of an alias or of a common table, or a type's parameters.
    if isTable || last[1] == .word("as") || last[1] == .cast { return true }
    if level.isWith, !level.hasVerb {
      let mayPrecede = [Token.word("with"), .word("recursive"), .symbol(UInt8(ascii: ","))]
      if mayPrecede.contains(last[1]) { return true }
    }
    guard last[1] == .dot else {
      if case .word = last[0], isKeyword(name, level) { return true }
      return HarmlessFunctions.names.contains(name) || harmless.contains(name)
    }
    if harmless.contains(name) { return true }
    return last[2].identifier == "pg_catalog" && HarmlessFunctions.names.contains(name)
  }

  /// Whether a word is one of SQL's keywords here, after which a parenthesis is no call. Words that may also
  /// name functions are keywords only in their proper place.
  private func isKeyword(_ word: String, _ level: Level) -> Bool {
    if HarmlessFunctions.keywords.contains(word) { return true }
    switch word {
    case "by": return ["group", "order", "partition"].contains { last[1] == .word($0) }
    case "conflict": return last[1] == .word("on") && level.isInsert && !level.hasJoined
    case "cube", "rollup": return last[1] == .word("by") && last[2] == .word("group")
    case "explain": return count == 1
    case "filter", "over": return last[1] == Self.closing
    case "first", "next": return last[1] == .word("fetch")
    case "insert": return first == "merge" && last[1] == .word("then")
    case "join": return isBehindTable
    case "like", "ilike": return isBehindOperand
    case "materialized": return last[1] == .word("not") && last[2] == .word("as")
    case "set":
      let isOfAction = last[2] == .word("do") || last[2] == .word("then")
      return level.isBeforeSet || last[1] == .word("update") && isOfAction
    case "sets": return last[1] == .word("grouping")
    case "system", "bernoulli": return last[1] == .word("tablesample")
    case "varying": return ["character", "char", "bit"].contains { last[1] == .word($0) }
    default: return false
    }
  }
  /// Whether the last word follows an operand, as an operator does and a call doesn't, as far as the tokens
  /// before it tell for certain.
  private var isBehindOperand: Bool {
    switch last[1] {
    case .word("not"): return isEnd(last[2])
    case .word(let word) where !HarmlessFunctions.keywords.contains(word):
      return ["where", "and", "or", "on", "when"].contains { last[2] == .word($0) }
        || last[2] == .dot
    default: return isEnd(last[1])
    }
  }

  /// Whether the last word, a JOIN, follows a table, or a word that only a join has.
  private var isBehindTable: Bool {
    guard case .word(let word) = last[1] else { return isEnd(last[1]) }
    guard !HarmlessFunctions.keywords.contains(word) else { return false }
    return ["cross", "full", "inner", "left", "natural", "outer", "right"].contains(word)
      || ["as", "from", "join"].contains { last[2] == .word($0) } || last[2] == .dot
  }

  /// Whether a token that isn't a word ends an operand or a table for certain.
  private func isEnd(_ token: Token) -> Bool {
    switch token {
    case .literal, .name: true
    case Self.closing, .symbol(UInt8(ascii: "]")): !isDistinctOn
    default: false
    }
  }
}
