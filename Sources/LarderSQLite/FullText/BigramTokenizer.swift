import CSQLite

/// A tokenizer for Chinese, Japanese and Korean beside other languages: `bigram`.
///
/// These languages have no spaces between words, so a run of such characters would be one term, which could
/// only be searched for by its beginning. Here each pair of neighbours is a term, and so is each character,
/// at the same place as the pair that begins with it: 南山区 is 南山 (with 南), 山区 (with 山), 区. A search text is
/// split into pairs only, or is a single character; several terms form a phrase. So any part of a run is
/// found, whatever its length, by terms that few texts contain.
///
/// Other text is tokenized by SQLite's unicode61, which removes diacritics.
///
/// Pointer safety: FTS5 creates and deletes each tokenizer by the functions below, and texts are read only
/// during its calls.
final class BigramTokenizer {
  static let name = "bigram"

  private let methods: fts5_tokenizer
  private let base: OpaquePointer

  private init?(_ own: BuiltinTokenizer) {
    methods = own.methods
    var base: OpaquePointer?
    let code = "remove_diacritics".withCString { key in
      "2".withCString { value in
        var arguments: [UnsafePointer<CChar>?] = [key, value]
        return own.create(&arguments, 2, &base)
      }
    }
    guard code == SQLITE_OK, let base else { return nil }
    self.base = base
  }

  deinit { methods.xDelete?(base) }

  /// Registers the tokenizer with SQLite's own, which splits texts first.
  static func register(with fts5: FTS5, trustedOn handle: OpaquePointer?) throws {
    guard let own = fts5.tokenizer(named: "unicode61", trustedOn: handle) else { return }
    try fts5.register(name, own, ownMethods)
  }

  private static let ownMethods = fts5_tokenizer(
    xCreate: { data, _, count, result in
      guard let data, let result, count == 0 else { return SQLITE_ERROR }
      let own = Unmanaged<BuiltinTokenizer>.fromOpaque(data).takeUnretainedValue()
      guard let tokenizer = BigramTokenizer(own) else { return SQLITE_NOMEM }
      result.pointee = OpaquePointer(Unmanaged.passRetained(tokenizer).toOpaque())
      return SQLITE_OK
    },
    xDelete: { tokenizer in
      tokenizer.map { Unmanaged<BigramTokenizer>.fromOpaque(UnsafeRawPointer($0)).release() }
    },
    xTokenize: { tokenizer, context, flags, text, count, emit in
      guard let tokenizer, let emit else { return SQLITE_ERROR }
      return Unmanaged<BigramTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer))
        ._withUnsafeGuaranteedRef {
          var call = Call(
            tokenizer: $0, bytes: UnsafeRawBufferPointer(start: text, count: Int(max(0, count))),
            flags: flags, context: context, emit: emit)
          return call.run(0..<call.bytes.count)
        }
    })

  /// One call of the tokenizer, for one text.
  private struct Call {
    let tokenizer: BigramTokenizer
    let bytes: UnsafeRawBufferPointer
    let flags: Int32
    let context: UnsafeMutableRawPointer?
    let emit: FTS5.EmitToken
    /// The start of the part that unicode61 reads, and whether its terms may have to be split further.
    var offset = 0
    var isMixed = true

    /// Has unicode61 tokenize a part of the text.
    mutating func run(_ range: Range<Int>) -> Int32 {
      offset = range.lowerBound
      let start = (bytes.baseAddress.map { $0 + range.lowerBound })?
        .assumingMemoryBound(to: CChar.self)
      return withUnsafeMutablePointer(to: &self) { call in
        call.pointee.tokenizer.methods.xTokenize?(
          call.pointee.tokenizer.base, call, call.pointee.flags, start, Int32(range.count),
          { data, flags, token, count, start, end in
            guard let call = data?.assumingMemoryBound(to: Call.self) else { return SQLITE_ERROR }
            return call.pointee.take(flags, token, count, Int(start), Int(end))
          }) ?? SQLITE_ERROR
      }
    }

    /// Takes a term of unicode61's, which consists of letters and digits of any script.
    func take(
      _ flags: Int32, _ token: UnsafePointer<CChar>?, _ count: Int32, _ start: Int, _ end: Int
    ) -> Int32 {
      let range = offset + start..<offset + end
      // Characters that form pairs begin with a byte of at least 0xE0.
      if !isMixed || !bytes[range].contains(where: { $0 >= 0xe0 }) {
        return emit(
          context, flags, token, count, Int32(range.lowerBound), Int32(range.upperBound))
      }
      return take(mixed: range)
    }

    /// Splits a term into runs of characters that form pairs, and the rest.
    private func take(mixed range: Range<Int>) -> Int32 {
      var run: [Range<Int>] = []
      var others = range.lowerBound..<range.lowerBound
      var position = range.lowerBound
      func finishOthers() -> Int32 {
        guard !others.isEmpty else { return SQLITE_OK }
        var part = self
        part.isMixed = false
        return part.run(others)
      }
      while position < range.upperBound {
        let (scalar, length) = decode(position, before: range.upperBound)
        let end = position + length
        if BigramTokenizer.isPaired(scalar) {
          let code = finishOthers()
          if code != SQLITE_OK { return code }
          run.append(position..<end)
          others = end..<end
        } else {
          let code = take(run)
          if code != SQLITE_OK { return code }
          run = []
          others = (others.isEmpty ? position : others.lowerBound)..<end
        }
        position = end
      }
      let code = finishOthers()
      return code == SQLITE_OK ? take(run) : code
    }

    /// Emits the pairs of a run and, unless it is a search text, its single characters.
    private func take(_ run: [Range<Int>]) -> Int32 {
      let isQuery = flags & FTS5_TOKENIZE_QUERY != 0
      for (index, character) in run.enumerated() {
        var code = SQLITE_OK
        let isLast = index + 1 == run.count
        if !isLast { code = emit(character.lowerBound..<run[index + 1].upperBound, 0) }
        if code == SQLITE_OK, isLast ? !isQuery || run.count == 1 : !isQuery {
          code = emit(character, isLast ? 0 : FTS5_TOKEN_COLOCATED)
        }
        if code != SQLITE_OK { return code }
      }
      return SQLITE_OK
    }

    private func emit(_ range: Range<Int>, _ flags: Int32) -> Int32 {
      let start = (bytes.baseAddress.map { $0 + range.lowerBound })?
        .assumingMemoryBound(to: CChar.self)
      return emit(
        context, flags, start, Int32(range.count), Int32(range.lowerBound),
        Int32(range.upperBound))
    }

    /// The character at a position, and its length in bytes.
    private func decode(_ position: Int, before end: Int) -> (UInt32, Int) {
      let first = UInt32(bytes[position])
      let length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
      guard length > 1, position + length <= end else { return (first, 1) }
      var scalar = first & (0x7f >> UInt32(length))
      for byte in bytes[(position + 1)..<(position + length)] {
        guard byte & 0xc0 == 0x80 else { return (first, 1) }
        scalar = scalar << 6 | UInt32(byte & 0x3f)
      }
      return (scalar, length)
    }
  }

  /// Whether a character belongs to a script without spaces between words: Han, Kana, Bopomofo, Hangul.
  private static func isPaired(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303c, 0x3041...0x3096,
      0x309d...0x309f, 0x30a1...0x30fa, 0x30fc...0x312f, 0x3131...0x318e, 0x31a0...0x31bf,
      0x31f0...0x31ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa960...0xa97f, 0xac00...0xd7ff,
      0x1100...0x11ff, 0xf900...0xfaff, 0xff66...0xffdc, 0x1b000...0x1b16f, 0x20000...0x3fffd:
      true
    default: false
    }
  }
}
