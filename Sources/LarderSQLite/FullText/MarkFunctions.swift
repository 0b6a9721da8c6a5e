import CSQLite

/// Replacements of FTS5's functions `highlight` and `snippet` for tokenizers whose terms overlap: pairs,
/// trigrams, custom ones. FTS5's own repeat a part of the text where overlapping terms are found (3.40), and
/// omit the text after a NUL.
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

/// One call of one of the functions.
private struct MarkCall {
  private struct Failure: Error {
    let code: Int32
  }

  /// A found phrase, and the numbers of its first and last term.
  private struct Instance {
    let phrase: Int32
    let terms: ClosedRange<Int>
  }

  private let api: Fts5ExtensionApi
  private let match: OpaquePointer
  private let call: FunctionCall
  private var text = LentBytes.none
  /// The range of each term in the text.
  private var terms: [Range<Int>] = []
  private var instances: [Instance] = []

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
      guard found == column, place >= 0, last < terms.count else { continue }
      instances.append(Instance(phrase: phrase, terms: Int(place)...last))
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

  /// The window of `length` terms with the most distinct phrases, then the most phrases in total. They are in
  /// its middle if possible.
  private func window(_ length: Int) -> Range<Int> {
    var best = (score: 0, found: 0..<0)
    // The phrases that begin in the sliding window, and how often.
    var counts: [Int32: Int] = [:]
    var end = 0
    for (index, first) in instances.enumerated() {
      let limit = first.terms.lowerBound + length
      while end < instances.count, instances[end].terms.lowerBound < limit {
        counts[instances[end].phrase, default: 0] += 1
        end += 1
      }
      let score = counts.count * 1000 + end - index
      if score > best.score {
        let last = min(instances[end - 1].terms.upperBound, limit - 1)
        best = (score, first.terms.lowerBound..<last + 1)
      }
      if let count = counts[first.phrase] { counts[first.phrase] = count > 1 ? count - 1 : nil }
    }
    let before = (length - best.found.count) / 2
    let start = min(max(0, best.found.lowerBound - before), terms.count - length)
    return start..<start + length
  }
}
