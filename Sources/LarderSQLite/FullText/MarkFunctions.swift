import CSQLite

/// Replacements of FTS5's functions [highlight](https://www.sqlite.org/fts5.html#the_highlight_function) and
/// [snippet](https://www.sqlite.org/fts5.html#the_snippet_function), under their names, so that the same SQL runs
/// elsewhere. They give the same, and
///
/// - take linear time: FTS5's `snippet` compares each match in a text with each other, which in a text of a megabyte
///   takes minutes, and nothing interrupts it;
/// - repeat no part of the text where terms overlap (pairs, trigrams, custom tokenizers), as FTS5's do (3.40);
/// - don't end a text at a NUL.
///
/// Pointer safety: FTS5 makes the pointers for one call, and no copy outlives it.
enum MarkFunctions {
  static func install(with fts5: FTS5) throws {
    try fts5.register("highlight") { api, match, context, count, values in
      MarkCall(api, match, FunctionCall(context, count, values))?.answer("highlight", 3) {
        try $0.highlight()
      }
    }
    try fts5.register("snippet") { api, match, context, count, values in
      MarkCall(api, match, FunctionCall(context, count, values))?.answer("snippet", 5) {
        try $0.snippet()
      }
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
  /// The text of a column; nil if it is NULL.
  private var text: LentBytes?
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
  func answer(_ name: String, _ count: Int, _ result: (MarkCall) throws -> [UInt8]?) {
    guard call.count == count else {
      return call.fail("wrong number of arguments to function \(name)()", nil)
    }
    do {
      if let text = try result(self) { call.setResult(text: text) }
    } catch {
      call.fail(ResultCode(rawValue: (error as? Failure)?.code ?? SQLITE_ERROR))
    }
  }

  private func check(_ code: Int32?) throws {
    if code != SQLITE_OK { throw Failure(code: code ?? SQLITE_ERROR) }
  }

  /// The call with what is in a column.
  private func reading(_ column: Int32) throws -> MarkCall {
    var call = self
    try call.read(column)
    return call
  }

  private mutating func read(_ column: Int32) throws {
    // SQLite 3.40 takes any number, and the rowid for a column.
    guard (0..<(api.xColumnCount?(match) ?? 0)).contains(column) else {
      throw Failure(code: SQLITE_RANGE)
    }
    var start: UnsafePointer<CChar>?
    var count: Int32 = 0
    try check(api.xColumnText?(match, column, &start, &count))
    guard let start else { return }
    let text = LentBytes(
      start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: Int(count))
    self.text = text
    guard count > 0 else { return }
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

  private var column: Int32 { Int32(truncatingIfNeeded: call[0].integer) }

  func highlight() throws -> [UInt8]? {
    let call = try reading(column)
    return call.text.map { call.marked($0, $0.indices) }
  }

  /// A part of the text with the found phrases marked. Overlapping phrases are marked as one.
  private func marked(_ text: LentBytes, _ part: Range<Int>) -> [UInt8] {
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

  func snippet() throws -> [UInt8]? {
    let length = max(Int(Int32(truncatingIfNeeded: call[4].integer)), 1)
    // A negative column is the one with the best window.
    var best = try reading(max(0, column))
    var window = best.window(length)
    if column < 0 {
      for other in 1..<max(1, api.xColumnCount?(match) ?? 1) {
        let read = try reading(other)
        let found = read.window(length)
        if found.score > window.score { (best, window) = (read, found) }
      }
    }
    return best.text.map { best.snippet($0, window.terms) }
  }

  private func snippet(_ text: LentBytes, _ window: Range<Int>) -> [UInt8] {
    let isFirst = window.lowerBound == 0
    let isLast = window.upperBound == terms.count
    let start = isFirst ? 0 : terms[window.lowerBound].lowerBound
    let end = isLast ? text.count : terms[window.upperBound - 1].upperBound
    let ellipsis = Array(call[3].text ?? .none)
    return (isFirst ? [] : ellipsis) + marked(text, start..<max(start, end))
      + (isLast ? [] : ellipsis)
  }

  /// The window of `length` terms with the most distinct phrases, then the most phrases in total, as FTS5 chooses
  /// it: the phrases are in its middle if possible, or it begins with their sentence, which counts for as much as
  /// a hundred repeated phrases.
  private func window(_ length: Int) -> (score: Int, terms: Range<Int>) {
    guard let text else { return (0, 0..<0) }
    let isWhole = terms.count <= length
    var best = (score: 0, start: 0)
    var (around, ahead) = (PhraseWindow(instances), PhraseWindow(instances))
    var (sentence, looked, place) = (0, 0, 0)
    // Whether a full stop or a colon stands before the place, with white space between or not. (Each byte is read once:
    // looking back from each term would take long where terms overlap in white space.)
    var (isAfterStop, isAfterSpace) = (false, false)
    for first in instances.lazy.map(\.terms.lowerBound) {
      around.move(to: first..<first + length)
      if around.score > best.score {
        let last = min(instances[around.end - 1].terms.upperBound, first + length - 1)
        let start = first - (length - (last - first + 1)) / 2
        best = (around.score, isWhole ? 0 : min(max(0, start), terms.count - length))
      }
      if isWhole { continue }
      while looked < first {
        looked += 1
        while place < terms[looked].lowerBound {
          switch text[place] {
          case UInt8(ascii: "."), UInt8(ascii: ":"): (isAfterStop, isAfterSpace) = (true, false)
          case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            isAfterSpace = true
          default: isAfterStop = false
          }
          place += 1
        }
        // The word behind the stop of “3.14” or “10:30” begins no sentence.
        if isAfterStop, isAfterSpace { sentence = looked }
      }
      guard sentence < first else { continue }
      ahead.move(to: sentence..<sentence + length)
      let score = ahead.score + (sentence == 0 ? 120 : 100)
      if score > best.score { best = (score, sentence) }
    }
    return (best.score, best.start..<min(best.start + length, terms.count))
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
