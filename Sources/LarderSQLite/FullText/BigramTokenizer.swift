import CSQLite

/// A tokenizer for Chinese, Japanese and Korean beside other languages: `bigram`.
///
/// Those languages write no spaces between words, and a run of such characters would be one term, of which only
/// the beginning could be looked for. Here each two neighbours are a term, and each character is one too, at the
/// same place as the pair that begins with it: 南山区 is 南山 (with 南), 山区 (with 山), 区. What is looked for
/// is parted into pairs alone, or is a single character; several terms are a phrase. So any part of a run is found,
/// of one character or many, by terms that few texts have.
///
/// All else is as SQLite's unicode61 has it, which removes diacritics.
///
/// What makes the unsafe pointers sound: FTS5 makes and deletes each tokenizer by the calls below, and texts are
/// looked at only while it calls.
final class BigramTokenizer {
  static let name = "bigram"

  private let methods: fts5_tokenizer
  private let base: OpaquePointer

  private init?(_ factory: Factory) {
    methods = factory.methods
    var base: OpaquePointer?
    let code = "remove_diacritics".withCString { key in
      "2".withCString { value in
        var arguments: [UnsafePointer<CChar>?] = [key, value]
        return factory.methods.xCreate?(factory.context, &arguments, 2, &base) ?? SQLITE_ERROR
      }
    }
    guard code == SQLITE_OK, let base else { return nil }
    self.base = base
  }

  deinit { methods.xDelete?(base) }

  /// What makes tokenizers: SQLite's own, which parts texts first.
  private final class Factory {
    let methods: fts5_tokenizer
    let context: UnsafeMutableRawPointer?
    /// The connection, where triggers may write to tables with this tokenizer.
    let handle: OpaquePointer?

    init(
      _ methods: fts5_tokenizer, _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?
    ) {
      self.methods = methods
      self.context = context
      self.handle = handle
    }
  }

  static func register(with fts5: FTS5, _ handle: OpaquePointer?) throws {
    guard let (methods, context) = fts5.tokenizer(named: "unicode61") else { return }
    try fts5.register(name, Factory(methods, context, handle), ownMethods)
  }

  private static let ownMethods = fts5_tokenizer(
    xCreate: { data, _, count, result in
      guard let data, let result, count == 0 else { return SQLITE_ERROR }
      let factory = Unmanaged<Factory>.fromOpaque(data).takeUnretainedValue()
      if let handle = factory.handle { larder_vtab_is_innocuous(handle) }
      guard let tokenizer = BigramTokenizer(factory) else { return SQLITE_NOMEM }
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

  /// One text that is parted.
  private struct Call {
    let tokenizer: BigramTokenizer
    let bytes: UnsafeRawBufferPointer
    let flags: Int32
    let context: UnsafeMutableRawPointer?
    let emit: FTS5.EmitToken
    /// Where the part is that unicode61 looks at, and whether it may hold what is parted further.
    var offset = 0
    var isMixed = true

    /// Has unicode61 part a part of the text.
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

    /// A term of unicode61's: letters and digits of any script.
    func take(
      _ flags: Int32, _ token: UnsafePointer<CChar>?, _ count: Int32, _ start: Int, _ end: Int
    ) -> Int32 {
      let range = offset + start..<offset + end
      // Nothing below 0xE0 begins such a character.
      if !isMixed || !bytes[range].contains(where: { $0 >= 0xe0 }) {
        return emit(
          context, flags, token, count, Int32(range.lowerBound), Int32(range.upperBound))
      }
      return take(mixed: range)
    }

    /// Parts a term into runs of characters of which pairs are made, and the rest.
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

    /// The pairs of a run, and its characters where it isn't looked for.
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

    /// The character at a place, and its length in bytes.
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

  /// Whether a character is of a script that has no spaces between words: Han, Kana, Bopomofo, Hangul.
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
