// Tokenizers of the program's own, for full-text search.

extension Database {
  /// Registers a tokenizer: what parts texts into the terms of a full-text index.
  ///
  /// ```swift
  /// try db.createTokenizer("lines") { text, _ in
  ///   var end = 0
  ///   return text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line in
  ///     let start = end
  ///     end += line.utf8.count + 1
  ///     return line.isEmpty ? nil : (line.lowercased(), start..<end - 1)
  ///   }
  /// }
  /// ```
  ///
  /// Each connection that reads or writes an index needs its tokenizer: register it in
  /// ``Configuration/prepareDatabase``. It returns terms as they are compared (in one case, without accents, or as
  /// stems), in order, with where they are in the text in bytes of UTF-8, as whole characters; none is empty or has a NUL, in the place
  /// of which the closure sees a space. A term with the same place as the one before it is a
  /// [synonym](https://www.sqlite.org/fts5.html#synonym_support). The closure's second argument is whether the text
  /// is one that is looked for. As long as an index is in use, a text has to have the same terms. It
  /// can't use the database.
  /// What it throws makes the statement throw: a ``DatabaseError`` with its code and message, any other error
  /// with its description, from which the text is left out unless ``Configuration/showsArguments`` is on. A file
  /// can have it called, by a table that names it. Registering one anew replaces it, also for tables that are
  /// open. See [Custom Tokenizers](https://www.sqlite.org/fts5.html#custom_tokenizers).
  ///
  /// Throws `ResultCode.misuse` for a name that is empty, has a NUL or is that of one of SQLite's tokenizers or
  /// Larder's, and `ResultCode.error` where SQLite was built without FTS5.
  public func createTokenizer(
    _ name: String,
    _ tokens: @escaping @Sendable (String, Bool) throws -> [(term: String, range: Range<Int>)]
  ) throws {
    let handle = try connection.sqlite()
    let folded = name.lowercased()
    guard !name.isEmpty, !name.utf8.contains(0),
      !["unicode61", "ascii", "porter", "trigram", BigramTokenizer.name].contains(folded)
    else {
      throw DatabaseError(
        .misuse, "a tokenizer's name isn't empty, has no NUL, and isn't that of another's")
    }
    // What it replaces is released in this call, and may do anything.
    connection.callDepth += 1
    defer { connection.callDepth -= 1 }
    let showsArguments = connection.reporting.showsArguments
    let tokenizers =
      connection.hooks.tokenizers
      ?? Tokenizers { [weak connection] isRunning in
        if isRunning { connection?.block(.hook) } else { connection?.unblock(.hook) }
      } describe: {
        let failure = FunctionFailure($0, arguments: showsArguments ? [] : [.text($1)])
        return (failure.code ?? .error, failure.message)
      }
    connection.hooks.tokenizers = tokenizers
    if let known = tokenizers.registered[folded] {
      known.tokens = tokens
      return
    }
    guard let fts5 = try FTS5(handle) else {
      throw DatabaseError(.error, "SQLite was built without FTS5")
    }
    let tokenizer = RegisteredTokenizer(tokenizers, handle, tokens)
    try fts5.register(name, tokenizer, RegisteredTokenizer.methods)
    tokenizers.registered[folded] = tokenizer
  }
}
