import Foundation
import Larder
import ProofSupport
import TestSupport

/// Every public call in every situation that it isn't made for: a clear error or an answer, never a
/// crash or a hang.
///
/// The calls are made in a child, which says which one it is at. When it ends, or says nothing for
/// too long, that is a failure of the call, and another child goes on behind it.
enum MisuseMatrix: ProofRow {
  static let name = "misuse"
  static let number = 12
  static let unit = "uses"

  private static let patience = Duration.seconds(30)

  /// A call in a situation.
  struct Cell: Sendable {
    let name: String
    let make: @Sendable (_ folder: String) throws -> Void
  }

  static let cells =
    MisuseSituation.all.flatMap { situation in
      MisuseCall.all.map { call in
        Cell(name: "\(call.symbols[0]) \(situation.name)") { try situation.make(call, $0) }
      }
    } + AccessMisuse.cells

  /// What is called, by the names of the symbol graph.
  static var symbols: Set<String> {
    Set(MisuseCall.all.flatMap { $0.symbols } + AccessMisuse.calls.flatMap { $0.symbols })
  }

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if let first = options.rest.first.flatMap({ Int($0) }) {
      try work(from: first)
      exit(0)
    }
    var result = ProofResult()
    let count = min(options.count ?? cells.count, cells.count)
    while result.tried < count, options.goesOn(after: result.tried) {
      // One begins where the last one came to an end.
      let child = try ChildProcess.again(name, "--", String(result.tried))
      var isDone = false
      while !isDone, let line = child.line(before: .now + patience) {
        if line == "done" {
          result.tried += 1
          isDone = result.tried == count && count < cells.count
        } else if line == "end" {
          isDone = true
          _ = child.end()
        } else {
          result.failures.append(line)
        }
      }
      if isDone { continue }
      child.kill()
      let status = child.end()
      let place = result.tried < cells.count ? cells[result.tried].name : "the end"
      result.failures.append(
        "\(place): "
          + (status == 128 + SIGKILL ? "it hangs" : "it ends the process with \(status)"))
      result.tried += 1
    }
    return result
  }

  private static func work(from first: Int) throws {
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    let template = try ScratchFolder(inMemory: true)
    defer { template.remove() }
    try MisuseStage.makeFile(template.path)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: MisuseStage.path(template.path)))
    for cell in cells[first...] {
      try bytes.write(to: URL(fileURLWithPath: MisuseStage.path(folder)))
      do {
        try cell.make(folder)
      } catch {
        Parent.tell("\(cell.name): \(error)")
      }
      try ScratchFolder.empty(folder)
      Parent.tell("done")
    }
    Parent.tell("end")
  }
}
