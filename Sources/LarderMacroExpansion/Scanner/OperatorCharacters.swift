/// The characters that operators consist of. Outside ASCII, all other characters belong to names.
enum OperatorCharacters {
  private static let ranges: [ClosedRange<UInt32>] = [
    0xA1...0xA7, 0xA9...0xA9, 0xAB...0xAC, 0xAE...0xAE, 0xB0...0xB1, 0xB6...0xB6, 0xBB...0xBB,
    0xBF...0xBF, 0xD7...0xD7, 0xF7...0xF7, 0x2016...0x2017, 0x2020...0x2027, 0x2030...0x203E,
    0x2041...0x2053, 0x2055...0x205E, 0x2190...0x23FF, 0x2500...0x2775, 0x2794...0x2BFF,
    0x2E00...0x2E7F, 0x3001...0x3003, 0x3008...0x3020, 0x3030...0x3030,
  ]

  /// Whether an ASCII character is one.
  static func isOne(_ byte: UInt8) -> Bool {
    switch byte {
    case .slash, .equals, .minus, .plus, .exclamation, .star, .percent, .less, .greater,
      .ampersand, .bar, .caret, .tilde, .question:
      true
    default: false
    }
  }

  /// The number of bytes of the non-ASCII character here; nil if it isn't an operator character.
  static func length(in source: SourceBytes, at index: Int) -> Int? {
    let first = source[index]
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0
    // No operator character takes four bytes.
    guard length == 2 || length == 3, index + length <= source.count else { return nil }
    var scalar = UInt32(first) & (length == 2 ? 0x1F : 0x0F)
    for place in (index + 1)..<(index + length) {
      scalar = scalar << 6 | UInt32(source[place] & 0x3F)
    }
    return ranges.contains { $0.contains(scalar) } ? length : nil
  }
}
