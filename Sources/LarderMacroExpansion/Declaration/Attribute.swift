/// An attribute with its arguments.
struct Attribute {
  /// The name without modules and generic arguments.
  let name: String
  /// The position of its `@`.
  let offset: Int
  /// The arguments; nil without brackets.
  let arguments: [Argument]?
  /// Whether it is `@available` and says that the declaration is deprecated.
  let isDeprecation: Bool
}

struct Argument {
  let label: String?
  /// The position of the value's text.
  let range: Range<Int>
  /// The value's first token.
  let first: Token
}

extension SourceScanner {
  /// Reads the attribute that begins here.
  mutating func attribute() throws -> Attribute {
    let offset = try next().start
    var name = ""
    repeat {
      name = text(try next())
      if source[position] == .less { try genericArguments() }
    } while try skip(".") || skip("::")
    // A space before brackets ends the attribute.
    guard self.is(try peek(), "("), try peek().isLeftBound else {
      return Attribute(name: name, offset: offset, arguments: nil, isDeprecation: false)
    }
    var end = self
    try end.skipGroup()
    let isOurs = name == "Record" || name == "Column" || name == "NotStored"
    let isDeprecation = try name == "available" && hasDeprecated(before: end.position)
    let arguments = isOurs ? try arguments() : []
    self = SourceScanner(source, at: end.position)
    return Attribute(
      name: name, offset: offset, arguments: arguments, isDeprecation: isDeprecation)
  }

  private func hasDeprecated(before end: Int) throws -> Bool {
    var inner = self
    while inner.position < end {
      if inner.is(try inner.next(), "deprecated") { return true }
    }
    return false
  }

  /// Reads the arguments in the brackets that begin here.
  private mutating func arguments() throws -> [Argument] {
    try next()
    var all: [Argument] = []
    while try !self.is(peek(), ")") {
      var label: String?
      var inner = self
      let word = try inner.next()
      if word.kind == .identifier, try inner.skip(":") {
        label = text(word)
        self = inner
      }
      let first = try peek()
      try expression()
      all.append(Argument(label: label, range: first.start..<position, first: first))
      if try !skip(",") { break }
    }
    guard self.is(try peek(), ")") else {
      throw SourceProblem("this argument can't be read", at: try peek().start)
    }
    return all
  }
}
