import Larder
import LarderTerminal

/// The differences of two schemas, and the steps that make the first like the second.
struct SchemaDifference: Encodable {
  struct Difference: Encodable {
    let kind: String
    let table: String
    let column: String?
    /// The SQL in the first schema and in the second (`after`); nil if it is absent there.
    let before: String?
    let after: String?
    /// Whether only the wording differs, and not the meaning.
    let isNote: Bool
  }

  struct Step: Encodable {
    let detail: String
    let isDestructive: Bool
    /// The statement; nil for a table rebuild, which takes several.
    let sql: String?
  }

  let differences: [Difference]
  /// The silent differences: the order of columns, names of indexes, and repeated indexes. If the comparison is
  /// strict, they are among `differences`.
  let silent: [Difference]
  let steps: [Step]

  init(from old: Schema, to new: Schema, strictly: Bool) {
    let found = new.differences(from: old, strictly: strictly).map {
      Difference(
        kind: $0.kind.rawValue, table: $0.table, column: $0.column, before: $0.found,
        after: $0.declared, isNote: $0.isNote)
    }
    let unseen = Self.silent(from: old, to: new)
    differences = strictly ? found + unseen : found
    silent = strictly ? [] : unseen
    steps =
      new.steps(from: old).map {
        Step(detail: $0.detail, isDestructive: $0.isDestructive, sql: $0.sql)
      } + Self.removals(unseen)
  }

  var isEmpty: Bool { differences.isEmpty }

  var lines: [String] {
    if isEmpty, silent.isEmpty { return ["The schemas are the same."] }
    let sides = "(− in the first, + in the second):"
    var lines: [String] = []
    if isEmpty {
      lines = ["The schemas are the same, apart from this \(sides)"]
    } else {
      lines = ["\(Style.bold("Differences")) \(sides)"]
    }
    lines += differences.flatMap(Self.lines)
    if !isEmpty, !silent.isEmpty { lines += ["", "No statement depends on this \(sides)"] }
    lines += silent.flatMap(Self.lines)
    if steps.isEmpty { return lines }
    lines += ["", Style.bold("Steps:")]
    for (index, step) in steps.enumerated() {
      let mark = step.isDestructive ? Style.red(" — loses something") : ""
      lines.append("  \(index + 1). \(step.detail.printable)\(mark)")
      if let sql = step.sql { lines += Self.marked(sql, " ") }
    }
    return lines
  }

  private static func lines(of difference: Difference) -> [String] {
    let column = difference.column.map { ".\($0)" } ?? ""
    let isWhole = ["table", "column"].contains(difference.kind)
    let what = isWhole ? "" : ", \(difference.kind)"
    let note = difference.isNote && !isSilent(difference) ? " (only in wording)" : ""
    return ["  \(difference.table)\(column)\(what)\(note)".printable]
      + (difference.before.map { marked($0, "−").map(Style.red) } ?? [])
      + (difference.after.map { marked($0, "+").map(Style.green) } ?? [])
  }

  private static func marked(_ sql: String, _ mark: String) -> [String] {
    let text = sql.isEmpty ? "(no type)" : sql
    return text.split(whereSeparator: \.isNewline).map { "     \(mark) \(String($0).printable)" }
  }
}
