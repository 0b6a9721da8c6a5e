import CSQLite

/// The custom tokenizers of a connection, and the last error that one has thrown.
final class Tokenizers {
  var registered: [String: RegisteredTokenizer] = [:]
  fileprivate unowned let environment: any TableEnvironment
  fileprivate var failure: (code: ResultCode, message: String)?

  init(_ environment: any TableEnvironment) { self.environment = environment }

  /// Takes out the error of a tokenizer, if a failed call of SQLite's has its code.
  func takeFailure(_ code: Int32) -> (code: ResultCode, message: String)? {
    defer { failure = nil }
    guard let failure, failure.code.rawValue & 0xff == code & 0xff else { return nil }
    return failure
  }
}

/// A custom tokenizer. FTS5 gets this object as the tokenizer of each table, too.
final class RegisteredTokenizer {
  typealias Tokens = (String, Bool) throws -> [(term: String, range: Range<Int>)]

  var tokens: Tokens
  private unowned let tokenizers: Tokenizers
  private let handle: OpaquePointer

  init(
    _ tokenizers: Tokenizers, _ handle: OpaquePointer, _ tokens: @escaping Tokens
  ) {
    self.tokenizers = tokenizers
    self.handle = handle
    self.tokens = tokens
  }

  static let methods = fts5_tokenizer(
    xCreate: { data, _, count, result in
      guard let data, let result, count == 0 else { return SQLITE_ERROR }
      let tokenizer = Unmanaged<RegisteredTokenizer>.fromOpaque(data)
      larder_vtab_is_innocuous(tokenizer._withUnsafeGuaranteedRef { $0.handle })
      result.pointee = OpaquePointer(tokenizer.retain().toOpaque())
      return SQLITE_OK
    },
    xDelete: { tokenizer in
      tokenizer.map { Unmanaged<RegisteredTokenizer>.fromOpaque(UnsafeRawPointer($0)).release() }
    },
    xTokenize: { tokenizer, context, flags, text, count, emit in
      guard let tokenizer, let emit else { return SQLITE_ERROR }
      return Unmanaged<RegisteredTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer))
        .takeUnretainedValue()
        .run(
          UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(count)),
          isQuery: flags & FTS5_TOKENIZE_QUERY != 0
        ) { token, range, isSynonym in
          token.withUnsafeBytes {
            emit(
              context, isSynonym ? FTS5_TOKEN_COLOCATED : 0,
              $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count),
              Int32(range.lowerBound), Int32(range.upperBound))
          }
        }
    })

  private func run(
    _ bytes: UnsafeRawBufferPointer, isQuery: Bool,
    _ emit: ([UInt8], Range<Int>, _ isSynonym: Bool) -> Int32
  ) -> Int32 {
    // FTS5 cuts a term at a NUL when it writes the term, which would damage the index.
    let text = String(decoding: bytes, as: UTF8.self).replacingNUL
    do {
      var last: Range<Int>?
      // FTS5 doesn't support that the closure uses the connection.
      let terms = try tokenizers.environment.whileBlocked { try tokens(text, isQuery) }
      for (term, range) in terms {
        // A range outside of the text would be read beyond it when it is marked.
        guard !term.isEmpty, !term.utf8.contains(0), range.lowerBound >= last?.lowerBound ?? 0,
          range.upperBound <= bytes.count
        else {
          throw DatabaseError(
            .misuse,
            "a tokenizer's term is empty, contains a NUL, is out of order, or isn't in the text")
        }
        guard bytes.hasCharacters(at: range) else {
          throw DatabaseError(
            .misuse,
            """
            a tokenizer's term is at bytes \(range.lowerBound)..<\(range.upperBound): that range begins or \
            ends inside a character
            """)
        }
        let code = emit(Array(term.utf8), range, range == last)
        last = range
        if code != SQLITE_OK { return code }
      }
      return SQLITE_OK
    } catch {
      // SQLite passes on only the code of an error.
      let (code, message) = tokenizers.environment.describe(error, [.text(text)])
      tokenizers.failure = (code ?? .error, message)
      return (code ?? .error).rawValue
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a range begins and ends at characters. If it doesn't, marking it would split a character and
  /// make the result unreadable. In a text that isn't UTF-8 any range is accepted, since the closure has seen
  /// a repaired text.
  fileprivate func hasCharacters(at range: Range<Int>) -> Bool {
    let isWhole = [range.lowerBound, range.upperBound].allSatisfy {
      $0 == count || self[$0] & 0xc0 != 0x80
    }
    return isWhole || String(validating: self, as: UTF8.self) == nil
  }
}

extension String {
  /// The text with a space for each NUL, so that its length stays the same.
  fileprivate var replacingNUL: String {
    guard utf8.contains(0) else { return self }
    return String(decoding: utf8.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
  }
}
