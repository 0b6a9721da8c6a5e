// Custom tokenizers for full-text search.

extension Database {
  /// Registers a tokenizer, which splits texts into the terms of a full-text index.
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
  /// ``Configuration/prepareDatabase``.
  ///
  /// - The closure returns terms in order and in the form in which they are compared (in one case, without
  ///   accents, or as stems), each with its range in the text in UTF-8 bytes, on character boundaries. No
  ///   term is empty or contains NUL; the closure sees a space for each NUL in the text.
  /// - A term with the same range as the previous one is a
  ///   [synonym](https://www.sqlite.org/fts5.html#synonym_support).
  /// - The closure's second argument is true for a text that is searched for.
  /// - A text must always have the same terms as long as an index uses the tokenizer. The closure can't use
  ///   the database.
  ///
  /// Errors of the closure become the statement's: a ``DatabaseError`` with its code and message, any other
  /// error with its description. The text is left out of both unless ``Configuration/showsArguments`` is on.
  /// A file can have the tokenizer called, by a table that names it. Registering one again replaces it, also
  /// for open tables. See [Custom Tokenizers](https://www.sqlite.org/fts5.html#custom_tokenizers).
  ///
  /// Throws `ResultCode.misuse` for a name that is empty, contains NUL or is that of a tokenizer of SQLite or
  /// Larder, and `ResultCode.error` if SQLite was built without FTS5.
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
        .misuse,
        "a tokenizer's name can't be empty, contain a NUL, or be that of a built-in tokenizer")
    }
    // The replaced tokenizer is released in this call, which may run any code.
    connection.callDepth += 1
    defer { connection.callDepth -= 1 }
    let tokenizers = connection.hooks.tokenizers ?? Tokenizers(connection)
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
