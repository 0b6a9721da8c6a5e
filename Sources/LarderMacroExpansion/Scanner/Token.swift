/// A token of Swift.
struct Token: Equatable {
  enum Kind: Equatable {
    /// A name or a keyword; its position decides which.
    case identifier
    case quotedIdentifier
    case number
    /// A string literal with its delimiters and interpolations.
    case string
    case regex
    case `operator`
    /// One of `( ) [ ] { } , ; : . @ # \`, or `::`.
    case punctuation
    case end
  }

  let kind: Kind
  /// The start, in UTF-8 bytes.
  let start: Int
  let end: Int
  let isFirstOnLine: Bool
  /// Whether the token directly follows another that is no opening bracket, comma, semicolon or colon.
  let isLeftBound: Bool

  var length: Int { end - start }
  var range: Range<Int> { start..<end }
}
