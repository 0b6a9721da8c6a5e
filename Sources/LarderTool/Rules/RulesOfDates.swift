import Larder
import LarderTerminal

// Rules about dates, for which SQLite has no type.

extension Rule {
  static let ofDates: [Rule] = [
    Rule(
      "mixed-dates", .warning,
      "Dates in several formats neither sort nor compare correctly.",
      values: { checked in
        let forms = checked.values.dateForms
        let dates = forms.reduce(0) { $0 + $1.count }
        let texts = checked.values.count(.text)
        guard let first = forms.first, dates * 5 >= texts * 4 else { return nil }
        // Text in a column of numbers is reported by another rule.
        let numbers =
          checked.column.declaresNumber || !checked.column.isDate
          ? 0 : checked.values.count(.integer) + checked.values.count(.real)
        guard forms.count > 1 || numbers > 0 else { return nil }
        let names =
          forms.map { "\($0.name) (\($0.count.grouped))" }
          + (numbers > 0 ? ["numbers (\(numbers.grouped))"] : [])
        return checked.evidence(
          forms.dropFirst().map(\.form) + (numbers > 0 ? [.integer, .real] : []),
          "aren't written as \(first.name): there are \(names.joined(separator: ", "))",
          advice: "Choose one format, such as YYYY-MM-DD HH:MM:SS, and rewrite the others.",
          sql: [checked.listing("\(checked.sqlName) NOT GLOB '\(first.name.globPattern)'")])
      }),
    Rule(
      "mixed-epochs", .warning,
      "Milliseconds that are read as seconds since 1970 are dates some 50,000 years from now.",
      values: { checked in
        let (seconds, milliseconds) = (
          checked.values.count(.seconds), checked.values.count(.milliseconds)
        )
        let isTime = checked.column.isDate || checked.column.nameWords.last == "time"
        guard isTime, seconds > 0, milliseconds > 0 else { return nil }
        let name = checked.sqlName
        return seconds >= milliseconds
          ? checked.evidence(
            [.milliseconds], "are milliseconds, and others seconds",
            advice: "Divide them by 1000.",
            sql: [
              "UPDATE \(checked.sqlTable) SET \(name) = \(name) / 1000 WHERE \(name) >= 100000000000"
            ])
          : checked.evidence(
            [.seconds], "are seconds, and others milliseconds",
            advice: "Multiply them by 1000.",
            sql: [
              "UPDATE \(checked.sqlTable) SET \(name) = \(name) * 1000 WHERE \(name) < 10000000000"
            ])
      }),
    Rule(
      "date-format-unknown", .note,
      "Dates in a format that SQLite's functions can't read don't sort, and can't be computed with.",
      values: { checked in
        guard checked.column.isDate, !checked.column.declaresNumber else { return nil }
        let texts = checked.values.count(.text)
        let known = checked.values.dateForms.filter { DateText.isKnown($0.name) }
          .reduce(0) { $0 + $1.count }
        // A year alone sorts correctly too.
        let unknown = texts - known - checked.values.count(.wholeNumber)
        guard unknown > 0, unknown > known else { return nil }
        let form = checked.values.dateForms.first.map { ", as \($0.name)" } ?? ""
        var evidence = checked.evidence(
          [.text], "aren't dates that SQLite can read\(form)",
          advice: "Rewrite them as YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS.",
          sql: [checked.listing("date(\(checked.sqlName)) IS NULL")])
        evidence.rows = unknown
        return evidence
      }),
    Rule(
      "impossible-date", .warning,
      "Each program reads a day that doesn't exist differently: as another day, or as none.",
      values: { checked in
        let dates = checked.values.dateForms.reduce(0) { $0 + $1.count }
        guard checked.values.count(.impossibleDate) > 0,
          checked.column.isDate || dates * 5 >= checked.values.count(.text) * 4
        else { return nil }
        return checked.evidence(
          [.impossibleDate], "are days or times that don't exist",
          advice: "Correct them; use NULL if the date is unknown.",
          sql: [checked.listing(impossible(checked.sqlName))])
      }),
  ]
}

/// The condition for days and times that don't exist. SQLite's functions turn February 30 into a day in
/// March, but only once they compute with it.
private func impossible(_ name: String) -> String {
  "\(name) NOT NULL AND (datetime(\(name)) IS NULL"
    + " OR date(substr(\(name), 1, 16), '+0 days') IS NOT substr(\(name), 1, 10))"
}

extension String {
  /// The GLOB pattern for dates of this format. A single letter stands for one digit or two.
  fileprivate var globPattern: String {
    let letters = Array(self)
    return letters.indices.map { index in
      let letter = letters[index]
      guard letter.isLetter, letter != "T", letter != "Z" else { return String(letter) }
      let neighbours = [index - 1, index + 1].filter(letters.indices.contains)
      let isAlone = !neighbours.contains { letters[$0] == letter }
      return isAlone ? "[0-9]*" : "[0-9]"
    }.joined()
  }
}
