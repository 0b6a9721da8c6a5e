// The characters that Swift's tokens and JSON begin and end with. They are constants because, without
// optimization, `UInt8(ascii:)` is a call that computes for each byte that is compared.
extension UInt8 {
  static var tab: UInt8 { 9 }
  static var lineFeed: UInt8 { 10 }
  static var carriageReturn: UInt8 { 13 }
  static var space: UInt8 { 32 }
  static var quote: UInt8 { 34 }
  static var hash: UInt8 { 35 }
  static var percent: UInt8 { 37 }
  static var ampersand: UInt8 { 38 }
  static var openRound: UInt8 { 40 }
  static var closeRound: UInt8 { 41 }
  static var dollar: UInt8 { 36 }
  static var star: UInt8 { 42 }
  static var plus: UInt8 { 43 }
  static var comma: UInt8 { 44 }
  static var minus: UInt8 { 45 }
  static var dot: UInt8 { 46 }
  static var slash: UInt8 { 47 }
  static var zero: UInt8 { 48 }
  static var nine: UInt8 { 57 }
  static var colon: UInt8 { 58 }
  static var semicolon: UInt8 { 59 }
  static var less: UInt8 { 60 }
  static var equals: UInt8 { 61 }
  static var greater: UInt8 { 62 }
  static var question: UInt8 { 63 }
  static var exclamation: UInt8 { 33 }
  static var at: UInt8 { 64 }
  static var largeE: UInt8 { 69 }
  static var openSquare: UInt8 { 91 }
  static var backslash: UInt8 { 92 }
  static var closeSquare: UInt8 { 93 }
  static var caret: UInt8 { 94 }
  static var underscore: UInt8 { 95 }
  static var smallE: UInt8 { 101 }
  static var smallP: UInt8 { 112 }
  static var backtick: UInt8 { 96 }
  static var openCurly: UInt8 { 123 }
  static var bar: UInt8 { 124 }
  static var closeCurly: UInt8 { 125 }
  static var tilde: UInt8 { 126 }

  var isLetter: Bool { self | 32 >= 97 && self | 32 <= 122 }
  var isDigit: Bool { self >= .zero && self <= .nine }
  var endsLine: Bool { self == .lineFeed || self == .carriageReturn }

  var isOpeningBracket: Bool { self == .openRound || self == .openSquare || self == .openCurly }
  var isClosingBracket: Bool { self == .closeRound || self == .closeSquare || self == .closeCurly }
  var isSeparator: Bool { self == .comma || self == .semicolon || self == .colon }

  /// The closing bracket for an opening one. In ASCII it follows at a distance of 1 for `(`, and of 2 for the
  /// others.
  var closingBracket: UInt8 { self == .openRound ? .closeRound : self + 2 }
}
