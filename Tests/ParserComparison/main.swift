import Foundation
import SwiftParser
import SwiftSyntax

// Compares what the macro's scanner reads with what the compiler's own parser reads: of all pairs of texts of members,
// and of the files that are named.

var compared = 0
var refused = 0
var skipped = 0
var wrong = 0

@MainActor
func tell(_ problem: String, _ text: String) {
  wrong += 1
  if wrong <= 60 { print("\(text.prefix(600))\n\(problem)\n") }
}

/// Compares the members of a type whose text is given, if it is Swift.
@MainActor
func compare(_ text: String, _ type: some DeclGroupSyntax) {
  let parsed = ParsedType(type.memberBlock.members)
  let source = SourceBytes(text)
  compared += 1
  do {
    var scanner = SourceScanner(source)
    let found = ParsedType(try scanner.typeDeclaration(), in: source)
    if parsed.isRefused {
      tell("read, where the macro can't know what is declared", text)
    } else if found != parsed {
      let pairs = zip(parsed.properties, found.properties).filter { $0 != $1 }
      tell(
        "parser and scanner: \(pairs.first.map { "\($0)" } ?? "\(parsed), \(found)")", text)
    }
  } catch {
    if parsed.isRefused { refused += 1 } else { tell("scanner: \(error)", text) }
  }
}

@MainActor
func compareTexts(oneOf step: Int) {
  let texts = MemberTexts.all
  var alone: [Bool] = []
  for text in texts {
    let tree = Parser.parse(source: "struct S {\n\(text)\n}")
    alone.append(!tree.hasError)
    if tree.hasError { tell("this isn't Swift", text) }
  }
  for (first, firstText) in texts.enumerated() where alone[first] {
    for (second, secondText) in texts.enumerated()
    where alone[second] && (first + second) % step == 0 {
      let text = "struct S {\n\(firstText)\n\(secondText)\n}"
      let tree = Parser.parse(source: text)
      guard !tree.hasError, tree.statements.count == 1,
        let type = tree.statements.first?.item.as(StructDeclSyntax.self)
      else {
        skipped += 1
        continue
      }
      compare(text, type)
    }
  }
  print("\(texts.count) texts, \(compared) pairs (\(refused) refused, \(skipped) aren't Swift)")
}

/// Finds the types of a file.
final class Types: SyntaxVisitor {
  var found: [any DeclGroupSyntax] = []

  override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { add(node) }
  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { add(node) }
  override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { add(node) }
  override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { add(node) }
  override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind { add(node) }

  private func add(_ node: some DeclGroupSyntax) -> SyntaxVisitorContinueKind {
    found.append(node)
    return .visitChildren
  }
}

@MainActor
func compareFile(_ path: String) {
  guard let data = FileManager.default.contents(atPath: path) else { return }
  let text = String(decoding: data, as: UTF8.self)
  let tree = Parser.parse(source: text)
  if tree.hasError {
    skipped += 1
    return
  }
  let parsed = ParsedPieces(tree).pieces
  do {
    let scanned = try scannedPieces(text)
    if scanned != parsed {
      let place = zip(scanned, parsed).first { $0 != $1 }
      tell(
        "\(path): scanner \(place.map { "\($0.0)" } ?? "ends"), parser \(place.map { "\($0.1)" } ?? "ends")",
        "")
    }
  } catch {
    tell("\(path): \(error)", "")
  }
  let types = Types(viewMode: .sourceAccurate)
  types.walk(tree)
  for type in types.found {
    // An enumeration's cases are no members of a record.
    let members = type.memberBlock.members.filter { !$0.decl.is(EnumCaseDeclSyntax.self) }
    let body = "struct S {\(members.map(\.description).joined())\n}"
    let alone = Parser.parse(source: body)
    guard !alone.hasError, let type = alone.statements.first?.item.as(StructDeclSyntax.self) else {
      skipped += 1
      continue
    }
    compare(body, type)
  }
}

let paths = CommandLine.arguments.dropFirst()
if paths.first == "--pairs", let step = paths.last.flatMap({ Int($0) }), step > 0 {
  compareTexts(oneOf: step)
} else {
  for path in paths { compareFile(path) }
  print("\(paths.count) files, \(compared) types (\(refused) refused, \(skipped) skipped)")
}
print("\(wrong) read otherwise")
exit(wrong == 0 ? 0 : 1)
