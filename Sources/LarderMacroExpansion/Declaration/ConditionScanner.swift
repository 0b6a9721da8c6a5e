// Conditional compilation between members, and between the attributes of a member.
extension SourceScanner {
  /// Reads `#if` with its branches. Their content must not affect the table.
  mutating func conditional(
    of declaration: inout TypeDeclaration, depth: Int = 0
  ) throws {
    let hash = try next()
    guard depth < Self.greatestDepth else {
      throw SourceProblem("conditions are nested too deeply to be read", at: hash.start)
    }
    let word = try next()
    switch text(word) {
    case "warning", "error", "sourceLocation":
      try skipGroup()
      return
    case "if": break
    default:
      throw SourceProblem(
        "@Record can't tell what this macro declares: write it in an extension", at: hash.start)
    }
    try skipCondition()
    var inner = declaration
    inner.initializerOffset = nil
    while true {
      if try skip(";") { continue }
      guard self.is(try peek(), "#"), try !beginsConditionalAttributes() else {
        let first = try peek().start
        try member(of: &inner)
        if inner.initializerOffset != nil
          || inner.properties.dropFirst(declaration.properties.count).contains(where: {
            $0.isStored
          })
        {
          throw SourceProblem(
            "@Record can't tell whether this is compiled: a table needs the same columns, and a type the same initializers, under all conditions",
            at: first)
        }
        continue
      }
      var directive = self
      try directive.next()
      switch directive.text(try directive.next()) {
      case "elseif":
        self = directive
        try skipCondition()
      case "else": self = directive
      case "endif":
        self = directive
        declaration.others = inner.others
        declaration.properties = inner.properties
        return
      default: try conditional(of: &inner, depth: depth + 1)
      }
    }
  }

  /// Skips the rest of the line; a condition continues after an operator.
  private mutating func skipCondition() throws {
    var last = try next()
    while true {
      let token = try peek()
      if token.kind == .end || token.isFirstOnLine && last.kind != .operator { return }
      if self.is(token, "(") {
        try skipGroup()
        last = token
      } else {
        last = try next()
      }
    }
  }

  /// Whether the `#if` holds nothing but attributes, which then belong to the next declaration.
  func beginsConditionalAttributes() throws -> Bool {
    var inner = self
    return try inner.conditionalAttributes() != nil
  }

  /// Reads the attributes in all branches of an `#if`; returns nil, and reads nothing, if it holds anything
  /// else.
  mutating func conditionalAttributes() throws -> [Attribute]? {
    var inner = self
    var attributes: [Attribute] = []
    var open = 0
    repeat {
      let token = try inner.peek()
      if inner.is(token, "@") {
        attributes.append(try inner.attribute())
        continue
      }
      guard open < Self.greatestDepth, try inner.skip("#") else { return nil }
      switch inner.text(try inner.next()) {
      case "if":
        open += 1
        try inner.skipCondition()
      case "elseif": try inner.skipCondition()
      case "else": break
      case "endif": open -= 1
      default: return nil
      }
    } while open > 0
    if attributes.isEmpty { return nil }
    self = inner
    return attributes
  }
}
