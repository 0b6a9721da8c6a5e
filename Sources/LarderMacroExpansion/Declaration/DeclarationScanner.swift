// Reads declarations: those of a type, and of its members as far as its table depends on them.
extension SourceScanner {
  /// Reads the declaration of a type with its members.
  mutating func typeDeclaration() throws -> TypeDeclaration {
    let prefix = try declarationPrefix()
    let keyword = try next()
    guard isOne(keyword, of: Keywords.types) else {
      throw SourceProblem("this declaration can't be read", at: keyword.start)
    }
    let name = try next()
    guard name.kind == .identifier || name.kind == .quotedIdentifier else {
      throw SourceProblem("this declaration can't be read", at: name.start)
    }
    let following = try peek()
    let isGeneric = following.kind == .operator && source[following.start] == .less
    var declaration = TypeDeclaration(
      prefix: prefix, keyword: text(keyword), name: text(name), offset: keyword.start,
      genericOffset: isGeneric ? following.start : nil)
    guard declaration.keyword == "struct" || declaration.keyword == "class", !isGeneric else {
      return declaration
    }
    declaration.saysRecord = try saysRecord()
    try skipToBrace(orThrow: "this declaration has no body")
    try next()
    try members(of: &declaration)
    guard try peek().kind == .end else {
      throw SourceProblem("this can't be read", at: try peek().start)
    }
    return declaration
  }

  /// Whether the protocols before the body have the record's among them.
  private func saysRecord() throws -> Bool {
    var inner = self
    while true {
      let token = try inner.next()
      if inner.is(token, "Record") { return true }
      if inner.is(token, "{") || inner.is(token, "where") || token.kind == .end { return false }
    }
  }

  /// Reads attributes and modifiers.
  mutating func declarationPrefix() throws -> DeclarationPrefix {
    var prefix = DeclarationPrefix()
    while true {
      let token = try peek()
      if self.is(token, "@") {
        prefix.attributes.append(try attribute())
        continue
      }
      if self.is(token, "#"), let conditional = try conditionalAttributes() {
        prefix.conditionalAttributes += conditional
        continue
      }
      if self.is(token, "class") {
        // The word is a modifier, as in `class func`, or declares a class.
        var inner = self
        try inner.next()
        let following = try inner.peek()
        guard
          inner.isOne(following, of: Keywords.modifiers)
            || inner.isOne(following, of: Keywords.membersOfClasses)
        else { return prefix }
      } else if !isOne(token, of: Keywords.modifiers) {
        return prefix
      }
      let word = text(token)
      try next()
      if self.is(try peek(), "(") {
        try skipGroup()
        if word == "nonisolated" || word == "unowned" { prefix.modifiers.insert(word) }
      } else {
        prefix.modifiers.insert(word)
        if let access = AccessLevel(rawValue: word) {
          (prefix.access, prefix.hasAccess) = (access, true)
        }
      }
    }
  }

  private mutating func members(of declaration: inout TypeDeclaration) throws {
    while try !skip("}") {
      if try skip(";") { continue }
      if self.is(try peek(), "#"), try !beginsConditionalAttributes() {
        try conditional(of: &declaration)
      } else {
        try member(of: &declaration)
      }
    }
  }

  mutating func member(of declaration: inout TypeDeclaration) throws {
    let prefix = try declarationPrefix()
    let keyword = try next()
    if isOne(keyword, of: " var let ") {
      try properties(prefix, isConstant: self.is(keyword, "let"), of: &declaration)
    } else if isOne(keyword, of: Keywords.functions) {
      if self.is(keyword, "init"), declaration.initializerOffset == nil {
        declaration.initializerOffset = keyword.start
      }
      try skipFunction()
    } else if isOne(keyword, of: " typealias ") {
      let name = try next()
      declaration.others.append((text(name), name.start))
      try skipAlias()
    } else if isOne(keyword, of: Keywords.types) {
      let name = try next()
      declaration.others.append((text(name), name.start))
      while !self.is(try peek(), "{") {
        guard try next().kind != .end else {
          throw SourceProblem("this declaration has no body", at: keyword.start)
        }
      }
      try skipGroup()
    } else {
      throw SourceProblem("@Record can't read this", at: keyword.start)
    }
  }

  /// Skips the parameters, result and body of a function, as far as it has them.
  private mutating func skipFunction() throws {
    var isComplete = true
    while true {
      let token = try peek()
      if self.is(token, "{") { return try skipGroup() }
      if self.is(token, "}") || self.is(token, ";") || token.kind == .end { return }
      if self.is(token, "(") || self.is(token, "[") {
        try skipGroup()
      } else if isComplete, token.isFirstOnLine, try beginsDeclaration() {
        return
      } else {
        // A postfix operator may end a type: `Int?`, `Set<Int>`.
        let token = try next()
        isComplete = token.kind != .operator || token.isLeftBound && !isRightBound(token.end)
      }
    }
  }

  /// Skips the type of a `typealias`, after its name.
  private mutating func skipAlias() throws {
    let following = try peek()
    if following.kind == .operator, source[following.start] == .less { try genericParameters() }
    guard try skip("=") else {
      throw SourceProblem("this declaration can't be read", at: try peek().start)
    }
    _ = try type()
    guard try skip("where") else { return }
    while true {
      let token = try peek()
      if self.is(token, "}") || self.is(token, ";") || token.kind == .end { return }
      if token.isFirstOnLine, try beginsDeclaration() { return }
      try next()
    }
  }

  /// Whether the next word can only begin a declaration.
  private func beginsDeclaration() throws -> Bool {
    var inner = self
    let token = try inner.next()
    if inner.is(token, "@") || inner.is(token, "#") { return true }
    return inner.isOne(token, of: " var let typealias case ")
      || inner.isOne(token, of: Keywords.functions) || inner.isOne(token, of: Keywords.types)
      || inner.isOne(token, of: Keywords.modifiers)
  }

  // MARK: Properties

  /// Reads the properties after `var` or `let`.
  private mutating func properties(
    _ prefix: DeclarationPrefix, isConstant: Bool, of declaration: inout TypeDeclaration
  ) throws {
    let first = declaration.properties.count
    repeat {
      let name = try next()
      if self.is(name, "("), prefix.isStatic {
        self = SourceScanner(source, at: name.start)
        try skipGroup()
      } else if name.kind != .identifier && name.kind != .quotedIdentifier {
        throw SourceProblem(
          self.is(name, "(")
            ? "@Record needs a declaration for each property, not a tuple of names"
            : "this declaration can't be read", at: name.start)
      }
      let type = try skip(":") ? try self.type() : nil
      var value: Range<Int>?
      if try skip("=") {
        let start = try peek().start
        try expression()
        value = start..<position
      }
      var storage: PropertyDeclaration.Storage =
        prefix.isStatic ? .ofType : prefix.modifiers.contains("lazy") ? .lazy : .stored
      var initializes = false
      if self.is(try peek(), "{") {
        if try !beginsObservers(), storage == .stored {
          storage = .computed
          initializes = try beginsInitializingAccessors()
        }
        try skipGroup()
      }
      declaration.properties.append(
        PropertyDeclaration(
          prefix: prefix, isConstant: isConstant, name: text(name), offset: name.start,
          storage: storage, hasInitializingAccessor: initializes, type: type, value: value))
    } while try skip(",")
    // In `var latitude, longitude: Double`, names take the type of the name after them.
    var index = declaration.properties.count - 2
    while index >= first {
      let property = declaration.properties[index]
      if property.type == nil, property.value == nil {
        declaration.properties[index].type = declaration.properties[index + 1].type
      }
      index -= 1
    }
  }
}
