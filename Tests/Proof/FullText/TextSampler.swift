import TestSupport

/// Random texts for rows and for what is looked for in them, so that much is found.
struct TextSampler {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func note(_ id: Int64) -> Note {
    let body = Int.random(in: 0..<6, using: &random) == 0 ? nil : text()
    return Note(id: id, title: text(), body: body)
  }

  mutating func text() -> String {
    let count = Int.random(in: 0...5, using: &random)
    var text = ""
    for _ in 0..<count { text += piece() + pick(Self.separators) }
    return text
  }

  private mutating func piece() -> String {
    switch Int.random(in: 0..<10, using: &random) {
    // The long ones would be in most rows soon.
    case 0: return String(pick(Payloads.all).prefix(60))
    case 1:
      return String(
        String.UnicodeScalarView((0..<Int.random(in: 1...4, using: &random)).map { _ in scalar() }))
    case 2, 3: return String(pick(Self.words).prefix(Int.random(in: 1...4, using: &random)))
    case 4:
      let word = pick(Self.words)
      return String(word.dropFirst(Int.random(in: 0...2, using: &random)).uppercased())
    default: return pick(Self.words)
    }
  }

  private mutating func scalar() -> Unicode.Scalar {
    let limit: UInt32 = pick([0x80, 0x250, 0x800, 0x3100, 0x1_0000, 0x11_0000])
    return Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) ?? "?"
  }

  private mutating func pick<T>(_ values: [T]) -> T {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  private static let separators = [" ", " ", " ", "", "-", "'", ", ", "\n", "\"", "\u{A0}", "\0"]

  private static let words = [
    "oslo", "Zürich", "zurich", "São", "ferry", "ferries", "what's", "new", "york", "york", "北京市",
    "南山区", "山", "深圳", "ソウル", "서울", "abc123", "running", "runs", "a", "e\u{301}t\u{E9}", "AND",
    "NEAR",
    "NOT", "İstanbul", "straße", "naïve", "x_y", "well-known",
  ]
}
