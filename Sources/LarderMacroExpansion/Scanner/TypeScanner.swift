/// The source text of a type.
struct TypeText: Equatable {
  let range: Range<Int>
  /// Whether the type is a function type; a parameter of this type needs `@escaping`.
  let isFunction: Bool
  /// Whether a variable of this type starts as nil: if it is written with a mark, but not as `Optional<Int>`.
  let isOptional: Bool
}

// Types, by the grammar of
// <https://docs.swift.org/swift-book/documentation/the-swift-programming-language/types/>.
extension SourceScanner {
  mutating func type(depth: Int = 0) throws -> TypeText {
    let start = try peek().start
    guard depth < Self.greatestDepth else {
      throw SourceProblem("types are nested too deeply to be read", at: start)
    }
    try typeSpecifiers()
    var isOptional = false
    var isTuple = try typeBase(depth)
    while true {
      let token = try peek()
      if token.kind == .operator, token.isLeftBound, self.is(token, "?") || self.is(token, "!") {
        try next()
        (isOptional, isTuple) = (true, false)
      } else if self.is(token, "&") {
        try next()
        try typeSpecifiers()
        _ = try typeBase(depth)
        isTuple = false
      } else if self.is(token, ".") {
        try next()
        try typeName(depth)
        (isOptional, isTuple) = (false, false)
      } else if isTuple, isFunctionEffect(token) || self.is(token, "->") {
        while try isFunctionEffect(peek()) {
          try next()
          try skipArguments()
        }
        guard try skip("->") else {
          throw SourceProblem("this type can't be read", at: token.start)
        }
        _ = try type(depth: depth + 1)
        return TypeText(range: start..<position, isFunction: true, isOptional: false)
      } else {
        return TypeText(range: start..<position, isFunction: false, isOptional: isOptional)
      }
    }
  }

  private func isFunctionEffect(_ token: Token) -> Bool {
    isOne(token, of: " async throws rethrows reasync ")
  }

  /// Skips attributes and words such as `any`.
  private mutating func typeSpecifiers() throws {
    while true {
      let token = try peek()
      if self.is(token, "@") {
        try next()
        try next()
        // In `@escaping (Int) -> Void` the brackets are the type's: the attribute's have no space before
        // them.
        try skipArguments()
      } else if self.is(token, "~") || isOne(token, of: Keywords.typeSpecifiers) {
        try next()
        if self.is(token, "nonisolated") { try skipArguments() }
      } else {
        return
      }
    }
  }

  /// Skips a name or brackets; returns whether they are round brackets.
  private mutating func typeBase(_ depth: Int) throws -> Bool {
    let token = try peek()
    if self.is(token, "(") {
      try skipGroup()
      return true
    }
    if self.is(token, "[") { try skipGroup() } else { try typeName(depth) }
    return false
  }

  private mutating func typeName(_ depth: Int) throws {
    let token = try next()
    guard token.kind == .identifier || token.kind == .quotedIdentifier else {
      throw SourceProblem("this type can't be read", at: token.start)
    }
    if try skip("::") { return try typeName(depth) }
    let following = try peek()
    if following.kind == .operator, source[following.start] == .less { try genericArguments(depth) }
  }

  /// Skips generic arguments, `<…>`.
  mutating func genericArguments(_ depth: Int = 0) throws {
    let open = try next()
    if open.length > 1 { split(open) }
    while true {
      let token = try peek()
      if token.kind == .operator, source[token.start] == .greater {
        split(token)
        return
      }
      // The number is an argument in `InlineArray<3, Int>`.
      if token.kind == .number || self.is(token, "-") || self.is(token, ",") {
        try next()
      } else {
        _ = try type(depth: depth + 1)
      }
    }
  }

  /// Skips the generic parameters of a declaration, `<…>`.
  mutating func genericParameters() throws {
    var open = 0
    repeat {
      let token = try peek()
      if token.kind == .end {
        throw SourceProblem("this declaration can't be read", at: token.start)
      } else if token.kind == .operator, source[token.start] == .less {
        open += 1
        split(token)
      } else if token.kind == .operator, source[token.start] == .greater {
        open -= 1
        split(token)
      } else if self.is(token, "(") || self.is(token, "[") {
        try skipGroup()
      } else {
        try next()
      }
    } while open > 0
  }
}
