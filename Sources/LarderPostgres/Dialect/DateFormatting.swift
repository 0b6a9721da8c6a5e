import Larder
import LarderSQLite

/// Parts of dates and spans of time, by `to_char` and intervals.
///
/// See [Data Type Formatting](https://www.postgresql.org/docs/15/functions-formatting.html).
enum DateFormatting {
  /// What `strftime` makes of a date, in UTC.
  static func text(_ format: SQLFragment, _ date: SQLFragment) -> SQLFragment {
    guard format.kind == .value, case .text(let text)? = try? format.value.databaseValue,
      let pattern = pattern(of: text)
    else { return .unsupported("date format like that") }
    let moment: SQLFragment = "(\(date.grouped) AT TIME ZONE 'UTC')"
    switch text {
    // Sunday is 0, which only this tells.
    case "%w": return "CAST(extract(dow FROM \(moment)) AS TEXT)"
    case "%s": return "CAST(floor(extract(epoch FROM \(date.grouped))) AS TEXT)"
    default: return "to_char(\(moment), \(SQLFragment(text: pattern.quotedText)))"
    }
  }

  private static func pattern(of format: String) -> String? {
    if format == "%w" || format == "%s" { return format }
    var result = ""
    var rest = Substring(format)
    while let character = rest.popFirst() {
      guard character == "%" else {
        result += character.isLetter || character == "\"" ? "\"\(character)\"" : "\(character)"
        continue
      }
      guard let part = rest.popFirst().flatMap({ parts[$0] }) else { return nil }
      result += part
    }
    return result
  }

  private static let parts: [Character: String] = [
    "Y": "YYYY", "m": "MM", "d": "DD", "H": "HH24", "M": "MI", "S": "SS", "f": "SS.MS", "j": "DDD",
    "F": "YYYY-MM-DD", "T": "HH24:MI:SS", "R": "HH24:MI", "%": "%",
  ]

  /// A date and spans after it, such as `3 days`. Months are refused before: SQLite goes on into the next
  /// month where the day isn't there, PostgreSQL stays in the month.
  static func adding(_ operands: [SQLFragment]) -> SQLFragment? {
    guard let date = operands.first else { return nil }
    var sum = date.grouped
    for span in operands.dropFirst() {
      guard span.kind == .value, case .text(let text)? = try? span.value.databaseValue else {
        return .unsupported("span that isn't a value")
      }
      sum = "\(sum) + CAST(\(SQLFragment(text: text.quotedText)) AS INTERVAL)"
    }
    return "(\(sum))"
  }
}

extension String {
  /// A literal in single quotes.
  var quotedText: String { "'" + replacing("'", with: "''") + "'" }
}
