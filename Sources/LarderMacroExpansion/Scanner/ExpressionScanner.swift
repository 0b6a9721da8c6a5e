// Finds where an initial value's expression ends. In a type's body only a declaration can follow it. So the
// expression ends after a complete operand, if the next line begins with a token that can't continue it.
extension SourceScanner {
  mutating func expression() throws {
    var needsOperand = true
    var conditionals = 0
    while true {
      let token = try peek()
      if try endsExpression(token, needsOperand, conditionals) {
        if needsOperand { throw SourceProblem("this expression can't be read", at: token.start) }
        return
      }
      switch token.kind {
      case .end: return
      case .number, .string, .regex, .quotedIdentifier: try operand(&needsOperand)
      case .identifier where needsOperand: try word(&needsOperand)
      case .identifier: try wordAfterOperand(token)
      case .operator: try anOperator(token, &needsOperand, &conditionals)
      case .punctuation: try punctuation(token, &needsOperand, &conditionals)
      }
    }
  }

  private mutating func endsExpression(
    _ token: Token, _ needsOperand: Bool, _ conditionals: Int
  ) throws -> Bool {
    if token.kind == .end || isClosing(token) || self.is(token, ",") || self.is(token, ";") {
      return true
    }
    guard !needsOperand else { return false }
    if self.is(token, "{") { return try beginsObservers() }
    guard token.isFirstOnLine else { return false }
    switch token.kind {
    case .operator: return false
    case .punctuation: return !self.is(token, ".") && !(self.is(token, ":") && conditionals > 0)
    case .identifier:
      return try !self.is(token, "as") && !self.is(token, "is") && !beginsLabelledClosure()
    default: return true
    }
  }

  private mutating func operand(_ needsOperand: inout Bool) throws {
    let token = try next()
    guard needsOperand else {
      throw SourceProblem("this expression can't be read", at: token.start)
    }
    needsOperand = false
    try genericArgumentsOfOperand()
  }

  /// Skips a name, or a keyword before an operand.
  private mutating func word(_ needsOperand: inout Bool) throws {
    let token = try next()
    if self.is(token, "if") || self.is(token, "switch") {
      try branches()
      needsOperand = false
      return
    }
    if isOne(token, of: Keywords.operandSpecifiers) {
      if self.is(token, "try"), try self.is(peek(), "?") || self.is(peek(), "!") {
        try next()
        return
      }
      // `copy` may be a name, unless an operand follows.
      let following = try peek()
      let isOperand =
        following.kind == .operator || following.kind == .punctuation
        ? (isOpening(following) || self.is(following, "\\")) && !following.isLeftBound
        : following.kind != .end
      if self.is(token, "try") || self.is(token, "await") || isOperand && !following.isFirstOnLine {
        return
      }
    }
    needsOperand = false
    try genericArgumentsOfOperand()
  }

  /// Skips `as` or `is` with its type, or a further trailing closure with its label.
  private mutating func wordAfterOperand(_ token: Token) throws {
    if self.is(token, "as") || self.is(token, "is") {
      try next()
      if try self.is(peek(), "?") || self.is(peek(), "!") { try next() }
      _ = try type()
    } else if try beginsLabelledClosure() {
      try next()
      try next()
      try skipGroup()
    } else {
      throw SourceProblem("this expression can't be read", at: token.start)
    }
  }

  private mutating func anOperator(
    _ token: Token, _ needsOperand: inout Bool, _ conditionals: inout Int
  ) throws {
    try next()
    if needsOperand {
      // The operator is a prefix operator, or stands for a function.
      if !isRightBound(token.end) { needsOperand = false }
    } else if token.isLeftBound,
      self.is(token, "?") || self.is(token, "!") || !isRightBound(token.end)
    {
      // The operator is a postfix operator. A dot after it continues the expression.
    } else {
      if self.is(token, "?") { conditionals += 1 }
      needsOperand = true
    }
  }

  private mutating func punctuation(
    _ token: Token, _ needsOperand: inout Bool, _ conditionals: inout Int
  ) throws {
    switch source[token.start] {
    case .openRound, .openSquare, .openCurly:
      try skipGroup()
      needsOperand = false
    case .dot:
      try next()
      let member = try peek()
      if member.kind == .identifier || member.kind == .quotedIdentifier || member.kind == .number {
        try next()
        try genericArgumentsOfOperand()
      } else if !self.is(member, "["), !self.is(member, "?"), !self.is(member, "!") {
        throw SourceProblem("this expression can't be read", at: member.start)
      }
      needsOperand = false
    case .colon where conditionals > 0 && token.length == 1 && !needsOperand:
      try next()
      conditionals -= 1
      needsOperand = true
    case .colon where token.length == 2 && !needsOperand:
      try next()
      needsOperand = true
    case .backslash where needsOperand: try next()
    case .hash where needsOperand:
      try next()
      try operand(&needsOperand)
    default: throw SourceProblem("this expression can't be read", at: token.start)
    }
  }

  /// Skips the blocks of an `if` or `switch` that is used as an expression.
  private mutating func branches() throws {
    repeat {
      try skipToBrace(orThrow: "this expression can't be read")
      try skipGroup()
    } while try skip("else")
  }

  /// Skips `<…>` if it holds generic arguments; the token after it decides.
  private mutating func genericArgumentsOfOperand() throws {
    let token = try peek()
    guard token.kind == .operator, source[token.start] == .less else { return }
    var tried = self
    guard (try? tried.genericArguments()) != nil, let following = try? tried.peek() else { return }
    let isArguments: Bool
    switch following.kind {
    case .end: isArguments = true
    case .punctuation:
      let byte = source[following.start]
      isArguments = byte != .at && byte != .hash && byte != .backslash
    case .operator:
      isArguments = following.isLeftBound && (self.is(following, "?") || self.is(following, "!"))
    default: isArguments = following.isFirstOnLine
    }
    if isArguments { self = tried }
  }

  private func beginsLabelledClosure() throws -> Bool {
    var inner = self
    try inner.next()
    return try inner.skip(":") && self.is(inner.peek(), "{")
  }

  /// Whether the braces hold `willSet` or `didSet`. After an initial value, this alone tells them from a
  /// trailing closure, by Swift's own rule.
  func beginsObservers() throws -> Bool {
    var inner = self
    guard try inner.skip("{") else { return false }
    while try inner.skip("@") {
      try inner.next()
      try inner.skipArguments()
    }
    while inner.isOne(try inner.peek(), of: " mutating nonmutating ") { try inner.next() }
    let word = try inner.next()
    guard self.is(word, "willSet") || self.is(word, "didSet") else { return false }
    let following = try inner.peek()
    return self.is(following, "{") || self.is(following, "(")
  }

  /// Whether this opens the accessors of a property, with one that initializes: `{ init { … } get { … } }`.
  func beginsInitializingAccessors() throws -> Bool {
    var inner = self
    try inner.next()
    while true {
      _ = try inner.declarationPrefix()
      let word = try inner.next()
      guard inner.isOne(word, of: Keywords.accessors) else { return false }
      // The name of the new value.
      if inner.is(try inner.peek(), "(") { try inner.skipGroup() }
      while inner.isOne(try inner.peek(), of: " async throws ") {
        try inner.next()
        if inner.is(try inner.peek(), "(") { try inner.skipGroup() }
      }
      guard inner.is(try inner.peek(), "{") else { return false }
      if inner.is(word, "init") { return true }
      try inner.skipGroup()
    }
  }
}
