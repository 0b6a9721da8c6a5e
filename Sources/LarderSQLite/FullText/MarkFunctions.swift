import CSQLite

/// Replacements of FTS5's functions `highlight` and `snippet`, which give the same, and
///
/// - take linear time: FTS5's `snippet` compares each match in a text with each other, which in a text of a megabyte
///   takes minutes, and nothing interrupts it;
/// - repeat no part of the text where terms overlap (pairs, trigrams, custom tokenizers), as FTS5's do (3.40);
/// - don't end a text at a NUL.
///
/// - `larder_highlight(table, column, start, end)`
/// - `larder_snippet(table, column, start, end, ellipsis, terms)`
///
/// Pointer safety: FTS5 makes the pointers for one call, and no copy outlives it.
enum MarkFunctions {
  static func install(with fts5: FTS5) throws {
    try fts5.register("larder_highlight") { api, match, context, count, values in
      MarkCall(api, match, FunctionCall(context, count, values))?.answer(3) { $0.highlighted() }
    }
    try fts5.register("larder_snippet") { api, match, context, count, values in
      MarkCall(api, match, FunctionCall(context, count, values))?.answer(5) { $0.snippet() }
    }
  }
}

/// A found phrase, by its number, and the numbers of its first and last term.
private struct PhraseInstance {
  let phrase: Int
  let terms: ClosedRange<Int>
}

/// One call of one of the functions.
private struct MarkCall {
  private struct Failure: Error {
    let code: Int32
  }

  private let api: Fts5ExtensionApi
  private let match: OpaquePointer
  private let call: FunctionCall
  private var text = LentBytes.none
  /// The range of each term in the text.
  private var terms: [Range<Int>] = []
  private var instances: [PhraseInstance] = []

  init?(
    _ api: UnsafePointer<Fts5ExtensionApi>?, _ match: OpaquePointer?, _ call: FunctionCall
  ) {
    guard let api, let match, call.count > 0 else { return nil }
    (self.api, self.match, self.call) = (api.pointee, match, call)
  }

  /// Passes the result or the error to SQLite. `count` is the number of arguments, the column included.
  func answer(_ count: Int, _ result: (MarkCall) -> [UInt8]) {
    guard call.count == count else { return call.fail(.misuse) }
    var read = self
    do {
      try read.read(column: Int32(truncatingIfNeeded: call[0].integer))
      call.setResult(text: result(read))
    } catch {
      call.fail(ResultCode(rawValue: (error as? Failure)?.code ?? SQLITE_ERROR))
    }
  }

  private func check(_ code: Int32?) throws {
    if code != SQLITE_OK { throw Failure(code: code ?? SQLITE_ERROR) }
  }

  private mutating func read(column: Int32) throws {
    var start: UnsafePointer<CChar>?
    var count: Int32 = 0
    try check(api.xColumnText?(match, column, &start, &count))
    guard let start, count > 0 else { return }
    text = LentBytes(
      start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: Int(count))
    var terms: [Range<Int>] = []
    try withUnsafeMutablePointer(to: &terms) { terms in
      try check(
        api.xTokenize?(match, start, count, terms) { terms, flags, _, _, start, end in
          guard flags & FTS5_TOKEN_COLOCATED == 0 else { return SQLITE_OK }
          guard start >= 0, end >= start else { return SQLITE_ERROR }
          terms?.assumingMemoryBound(to: [Range<Int>].self).pointee.append(Int(start)..<Int(end))
          return SQLITE_OK
        })
    }
    self.terms = terms.map { $0.clamped(to: text.indices) }
    try readInstances(column)
  }

  private mutating func readInstances(_ column: Int32) throws {
    var count: Int32 = 0
    try check(api.xInstCount?(match, &count))
    for index in 0..<max(0, count) {
      var (phrase, found, place): (Int32, Int32, Int32) = (0, 0, 0)
      try check(api.xInst?(match, index, &phrase, &found, &place))
      let last = Int(place) + max(1, Int(api.xPhraseSize?(match, phrase) ?? 1)) - 1
      // A table that was changed without its index may have fewer terms.
      guard found == column, phrase >= 0, place >= 0, last < terms.count else { continue }
      instances.append(PhraseInstance(phrase: Int(phrase), terms: Int(place)...last))
    }
    instances.sort { $0.terms.lowerBound < $1.terms.lowerBound }
  }

  func highlighted() -> [UInt8] { marked(text.indices) }

  /// A part of the text with the found phrases marked. Overlapping phrases are marked as one.
  private func marked(_ part: Range<Int>) -> [UInt8] {
    let (start, end) = (call[1].text ?? .none, call[2].text ?? .none)
    var result: [UInt8] = []
    var (done, open) = (part.lowerBound, Range(uncheckedBounds: (part.lowerBound, part.lowerBound)))
    func close() {
      guard !open.isEmpty else { return }
      result += text[done..<open.lowerBound] + Array(start) + text[open] + Array(end)
      done = open.upperBound
    }
    for instance in instances {
      let first = terms[instance.terms.lowerBound].lowerBound
      let range = (first..<max(first, terms[instance.terms.upperBound].upperBound)).clamped(
        to: part)
      if range.isEmpty { continue }
      if range.lowerBound < open.upperBound {
        open = open.lowerBound..<max(open.upperBound, range.upperBound)
      } else {
        close()
        open = range
      }
    }
    close()
    return result + text[done..<part.upperBound]
  }

  func snippet() -> [UInt8] {
    let length = min(max(Int(Int32(truncatingIfNeeded: call[4].integer)), 1), 64)
    guard terms.count > length else { return highlighted() }
    let window = window(length)
    let start = window.lowerBound == 0 ? 0 : terms[window.lowerBound].lowerBound
    let end =
      window.upperBound == terms.count ? text.count : terms[window.upperBound - 1].upperBound
    let ellipsis = Array(call[3].text ?? .none)
    return (window.lowerBound == 0 ? [] : ellipsis) + marked(start..<max(start, end))
      + (window.upperBound == terms.count ? [] : ellipsis)
  }

  /// The window of `length` terms with the most distinct phrases, then the most phrases in total, as FTS5 chooses
  /// it: the phrases are in its middle if possible, or it begins with their sentence, which counts for as much as
  /// a hundred repeated phrases.
  private func window(_ length: Int) -> Range<Int> {
    var best = (score: 0, start: 0)
    var (around, ahead) = (PhraseWindow(instances), PhraseWindow(instances))
    var (sentence, looked) = (0, 0)
    for first in instances.lazy.map(\.terms.lowerBound) {
      around.move(to: first..<first + length)
      if around.score > best.score {
        let last = min(instances[around.end - 1].terms.upperBound, first + length - 1)
        let start = first - (length - (last - first + 1)) / 2
        best = (around.score, min(max(0, start), terms.count - length))
      }
      while looked < first {
        looked += 1
        if beginsSentence(looked) { sentence = looked }
      }
      guard sentence < first else { continue }
      ahead.move(to: sentence..<sentence + length)
      let score = ahead.score + (sentence == 0 ? 120 : 100)
      if score > best.score { best = (score, sentence) }
    }
    return best.start..<min(best.start + length, terms.count)
  }

  /// Whether a full stop or a colon stands before a term.
  private func beginsSentence(_ term: Int) -> Bool {
    var place = terms[term].lowerBound
    while place > 0 {
      place -= 1
      switch text[place] {
      case UInt8(ascii: "."), UInt8(ascii: ":"): return true
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
      default: return false
      }
    }
    return false
  }
}

/// The found phrases that begin in a window of terms, which moves forward through the text.
private struct PhraseWindow {
  private let instances: [PhraseInstance]
  /// How many of the window's instances each phrase has.
  private var counts: [Int]
  private var distinct = 0
  private var first = 0
  private(set) var end = 0

  init(_ instances: [PhraseInstance]) {
    self.instances = instances
    counts = Array(repeating: 0, count: (instances.lazy.map(\.phrase).max() ?? -1) + 1)
  }

  /// FTS5's: a thousand for a phrase, one for each of its repetitions.
  var score: Int { distinct * 1000 + (end - first - distinct) }

  mutating func move(to terms: Range<Int>) {
    while end < instances.count, instances[end].terms.lowerBound < terms.upperBound {
      if counts[instances[end].phrase] == 0 { distinct += 1 }
      counts[instances[end].phrase] += 1
      end += 1
    }
    while first < end, instances[first].terms.lowerBound < terms.lowerBound {
      counts[instances[first].phrase] -= 1
      if counts[instances[first].phrase] == 0 { distinct -= 1 }
      first += 1
    }
  }
}
