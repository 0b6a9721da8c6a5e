extension String {
  /// The number of terminal columns that the text takes: two for a Chinese character, none for a combining
  /// accent.
  package var displayWidth: Int {
    // Most names are ASCII.
    utf8.allSatisfy { $0 < 0x80 }
      ? utf8.count : unicodeScalars.reduce(0) { $0 + $1.displayWidth }
  }

  /// The text, padded with spaces to a display width.
  package func padded(to width: Int, onTheLeft: Bool = false) -> String {
    let spaces = String(repeating: " ", count: Swift.max(0, width - displayWidth))
    return onTheLeft ? spaces + self : self + spaces
  }

  /// The text with U+FFFD for each character that would move the cursor, change the terminal or reverse the
  /// text beside it.
  package var printable: String {
    guard unicodeScalars.contains(where: \.changesTerminal) else { return self }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: unicodeScalars.map { $0.changesTerminal ? "\u{FFFD}" : $0 })
    return String(text)
  }
}

extension Unicode.Scalar {
  /// Whether this is a control character, a line or paragraph separator, or sets the direction of text.
  package var changesTerminal: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The number of terminal columns that the character takes.
  package var displayWidth: Int {
    // Asking for the category takes longer than everything else, and isn't needed for most letters of
    // Europe, Chinese and Korean.
    switch value {
    case 0x20...0x7E, 0xA0...0xAC, 0xAE...0x2FF, 0x370...0x482, 0x48A...0x590: return 1
    case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: return 2
    default: return widthByCategory
    }
  }

  private var widthByCategory: Int {
    switch properties.generalCategory {
    case .control, .format, .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    // Conjoining vowels and final consonants of Hangul are drawn in the cell of the initial consonant.
    if (0x1160...0x11FF).contains(value) { return 0 }
    return Self.wide.contains { $0.contains(value) } ? 2 : 1
  }

  /// The blocks of Wide and Fullwidth characters of
  /// [Unicode's annex 11](https://www.unicode.org/reports/tr11/).
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
    0xA000...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
    0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1B000...0x1B2FF,
    0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
  ]
}
