import Foundation
import ProofSupport

/// The table of results on a page of the documentation, between two comments that mark its place.
enum ProofPage {
  private static let beginning = "<!-- results: begin -->"
  private static let end = "<!-- results: end -->"

  static func update(_ page: String, from results: String) throws {
    let lines = try String(contentsOfFile: results, encoding: .utf8).split(separator: "\n")
    let reports = try lines.map { line in
      try JSONDecoder().decode(ProofReport.self, from: Data(line.utf8))
    }
    let text = try String(contentsOfFile: page, encoding: .utf8)
    guard let from = text.range(of: beginning), let to = text.range(of: end),
      from.upperBound <= to.lowerBound
    else { throw ProofOptions.Failure(description: "\(page) has no place for the results") }
    let new =
      text[..<from.upperBound] + "\n" + table(reports) + "\n" + text[to.lowerBound...]
    try new.write(toFile: page, atomically: true, encoding: .utf8)
  }

  /// One line a row; the trials of its runs add up, but those from one seed are the same trials.
  private static func table(_ reports: [ProofReport]) -> String {
    let rows = Dictionary(grouping: reports.filter { $0.tried > 0 }, by: \.row).values.sorted {
      ($0[0].number, $0[0].row) < ($1[0].number, $1[0].row)
    }
    let latest = rows.compactMap { runs in runs.max { ($0.date ?? "") <= ($1.date ?? "") } }
    let machines = Dictionary(grouping: latest.map(machine)) { $0 }
    let usual = machines.max { ($0.value.count, $0.key) < ($1.value.count, $1.key) }?.key ?? ""
    var lines = [
      "The machine has \(usual), unless the details say otherwise. `Tests/Proof/results.jsonl` has"
        + " all details.", "",
      "| # | Proof | Tried | Failed | Runs | Last run | Commit | Last run's details |",
      "|--:|---|--:|--:|--:|---|---|---|",
    ]
    for (runs, last) in zip(rows, latest) {
      let tried = Dictionary(grouping: runs, by: \.seed).values.reduce(0) { sum, same in
        sum + (same.map(\.tried).max() ?? 0)
      }
      let failed = runs.reduce(0) { $0 + $1.failed }
      let all = last.details ?? []
      let other = machine(last) == usual ? [] : [machine(last)]
      let details = other + all.prefix(5) + (all.count > 5 ? ["…"] : [])
      lines.append(
        "| \(last.number) | \(last.row) | \(grouped(tried)) \(last.unit) | \(grouped(failed)) "
          + "| \(runs.count) | \(last.date ?? "") | `\(last.commit ?? "")` "
          + "| \(details.joined(separator: ", ")) |")
    }
    return lines.joined(separator: "\n")
  }

  private static func machine(_ report: ProofReport) -> String {
    "\(report.cores) \(report.cores == 1 ? "core" : "cores"), \(report.system), SQLite \(report.sqlite)"
  }

  private static func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
