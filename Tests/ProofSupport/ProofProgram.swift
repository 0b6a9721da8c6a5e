import Foundation

/// A program that runs one proof, which its first argument names: `ROW [--count N] [--seconds S] [--seed X] [--json]`.
package struct ProofProgram {
  private let name: String
  private let rows: [any ProofRow.Type]

  package init(_ name: String, _ rows: [any ProofRow.Type]) {
    self.name = name
    self.rows = rows
  }

  /// Runs the proof. Ends the process with 1 where something failed, and says how to see it again.
  package func run(_ arguments: some Collection<String>) throws -> Never {
    guard let row = rows.first(where: { $0.name == arguments.first }) else {
      complain("usage: \(name) ROW [--count N] [--seconds S] [--seed X] [--json], with ROW one of:")
      complain(rows.map { "  \($0.name)" }.joined(separator: "\n"))
      exit(64)
    }
    exit(try prove(row, ProofOptions(arguments.dropFirst())) ? 0 : 1)
  }

  private func prove(_ row: any ProofRow.Type, _ options: ProofOptions) throws -> Bool {
    let start = ContinuousClock.now
    let result = try row.run(options)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let report = ProofReport(row, result, options, seconds: seconds)
    let details = (result.details + [result.skipped.map { "skipped: \($0)" }].compactMap { $0 })
    let line =
      ([
        "\(row.name): \(result.tried) \(row.unit) tried, \(result.failures.count) failed",
        "seed \(options.seed)", "\(report.seconds) s",
      ] + details).joined(separator: ", ")
    if options.json {
      complain(line)
      print(try report.json)
    } else {
      print(line)
    }
    for failure in result.failures.prefix(20) { complain("\(row.name): \(failure)") }
    return result.failures.isEmpty
  }
}

/// Writes a line to the standard error.
package func complain(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}
