import Foundation
import LarderMacroExpansion
import ProofSupport
import TestSupport

/// Declarations made at random from what structures may hold: what `@Record` writes for each is what the
/// generator says, or the error that it says, in its place. The compiler's own parser says whether they are Swift.
enum Macros: ProofRow {
  static let name = "macros"
  static let number = 19
  static let unit = "declarations"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    var options = options
    if options.count == nil, options.seconds == nil { options.count = 300 }
    var seeds = SeededGenerator(seed: options.seed)
    var texts: [String] = []
    var problems = 0
    while options.goesOn(after: result.tried) {
      let seed = seeds.next()
      let declaration = RandomDeclaration(seed: seed)
      let written = written(declaration)
      if written != declaration.expected {
        result.failures.append(
          "declaration \(seed):\n\(declaration.text)\nexpected: \(declaration.expected)\nwritten: \(written)"
        )
      }
      if case .problem = written { problems += 1 }
      result.tried += 1
      if texts.count < 20_000 { texts.append(declaration.text) }
    }
    result.details = ["\(problems) of them errors"]
    try parse(texts, &result)
    return result
  }

  private static func written(_ declaration: RandomDeclaration) -> RandomDeclaration.Expected {
    do {
      let expansion = try RecordExpansion(
        declaration: declaration.text, attribute: declaration.attribute)
      return .expansion(
        members: inOneLine(expansion.members),
        extensions: inOneLine(
          expansion.extensions(of: "T", protocols: ["Record", "SingleSource", "QuerySource"])))
    } catch let problem as SourceProblem {
      return .problem(problem.message, offset: problem.offset)
    } catch {
      return .problem("\(error)", offset: -1)
    }
  }

  /// Lines are the macro's to choose.
  static func inOneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// Has the compiler parse the declarations, where there is one.
  private static func parse(_ texts: [String], _ result: inout ProofResult) throws {
    let folder = try ScratchFolder()
    let file = folder.file("declarations.swift")
    // Each begins on a line of its own, by which errors find it.
    try texts.joined(separator: "\n\n").write(toFile: file, atomically: true, encoding: .utf8)
    let compiler: ChildProcess
    do {
      compiler = try ChildProcess(
        "swiftc",
        [
          "-frontend", "-suppress-warnings", "-parse", "-swift-version", "6",
          "-enable-bare-slash-regex", file,
        ],
        input: .nothing, errors: .output)
    } catch {
      result.details.append("no compiler to parse them")
      return
    }
    let lines = compiler.remainingLines()
    if compiler.end() == 0 {
      result.details.append("\(texts.count) parsed by the compiler")
    } else {
      result.failures.append(
        "the compiler doesn't parse what was made:\n"
          + lines.filter { $0.contains(" error: ") }.prefix(20).joined(separator: "\n"))
    }
  }
}
