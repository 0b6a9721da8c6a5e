/// A token of Swift.
struct Token: Equatable {
  enum Kind: Equatable {
    /// A name or a keyword: which of both, its place decides.
    case identifier
    /// A name between backticks.
    case quotedIdentifier
    case number
    /// A string literal with its delimiters and interpolations.
    case string
    case regex
    case `operator`
    /// One of `( ) [ ] { } , ; : . @ # \`, or `::`.
    case punctuation
    /// The end of the text.
    case end
  }

  let kind: Kind
  /// In UTF-8 bytes.
  let start: Int
  let end: Int
  /// Whether a line ends before it.
  let isFirstOnLine: Bool
  /// Whether it stands right behind another, which is no opening bracket, comma, semicolon or colon.
  let isLeftBound: Bool

  var length: Int { end - start }
  var range: Range<Int> { start..<end }
}
