import SwiftSyntax

/// A literal with what may hold brackets, or a bracket outside of these.
struct Piece: Equatable {
  let kind: String
  let range: Range<Int>
}

/// Those of a file, as the compiler's own parser sees them.
final class ParsedPieces: SyntaxVisitor {
  private(set) var pieces: [Piece] = []

  init(_ file: SourceFileSyntax) {
    super.init(viewMode: .sourceAccurate)
    walk(file)
    pieces.sort { $0.range.lowerBound < $1.range.lowerBound }
  }

  private func add(_ kind: String, _ node: some SyntaxProtocol) -> SyntaxVisitorContinueKind {
    let start = node.positionAfterSkippingLeadingTrivia.utf8Offset
    pieces.append(
      Piece(
        kind: kind, range: start..<node.endPositionBeforeTrailingTrivia.utf8Offset))
    return .skipChildren
  }

  override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    add("string", node)
  }

  override func visit(_ node: SimpleStringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    add("string", node)
  }

  override func visit(_ node: RegexLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    add("regex", node)
  }

  override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
    switch token.tokenKind {
    case .leftBrace, .rightBrace, .leftParen, .rightParen, .leftSquare, .rightSquare:
      return add("bracket", token)
    default: return .skipChildren
    }
  }
}

/// Those of a file, as the macro's scanner has them.
func scannedPieces(_ text: String) throws -> [Piece] {
  var scanner = SourceScanner(SourceBytes(text))
  var pieces: [Piece] = []
  while true {
    let token = try scanner.next()
    switch token.kind {
    case .end: return pieces
    case .string: pieces.append(Piece(kind: "string", range: token.range))
    case .regex: pieces.append(Piece(kind: "regex", range: token.range))
    case .punctuation where scanner.isOpening(token) || scanner.isClosing(token):
      pieces.append(Piece(kind: "bracket", range: token.range))
    default: break
    }
  }
}
