import Larder
import LarderTerminal

// Rules about dates, for which SQLite has no type.

let rulesOfDates: [Rule] = [
  Rule(
    "mixed-dates", .warning,
    "Dates in several formats neither sort nor compare correctly.",
    values: { checked in
      let forms = checked.values.dateForms
      // Some programs leave out fractions of zero, or zeros at their end: such texts sort all the same.
      let counts = Dictionary(
        forms.map { ($0.name.withoutFraction, $0.count) }, uniquingKeysWith: +)
      let usual = forms.map(\.name.withoutFraction).max { counts[$0] ?? 0 < counts[$1] ?? 0 }
      let alike = forms.filter { $0.name.withoutFraction == usual }
      let others = forms.filter { $0.name.withoutFraction != usual }
      guard let first = alike.first, checked.areMostlyDates else { return nil }
      // Text in a column of numbers is reported by another rule.
      let numbers =
        checked.column.declaresNumber || !checked.column.isDate
        ? 0 : checked.values.count(.integer) + checked.values.count(.real)
      let names =
        forms.map { "\($0.name) (\($0.count.grouped))" }
        + (numbers > 0 ? ["numbers (\(numbers.grouped))"] : [])
      return checked.evidence(
        others.map(\.form) + (numbers > 0 ? [.integer, .real] : []),
        "aren't written as \(first.name): there are \(names.joined(separator: ", "))",
        advice: "Choose one format, such as YYYY-MM-DD HH:MM:SS, and rewrite the others.",
        listing: alike.map { "\(checked.sqlName) NOT GLOB '\($0.name.globPattern)'" }
          .joined(separator: " AND "))
    }),
  Rule(
    "mixed-epochs", .warning,
    "Milliseconds that are read as seconds since 1970 are dates some 50,000 years from now.",
    values: {
      let (seconds, milliseconds) = ($0.values.count(.seconds), $0.values.count(.milliseconds))
      let isTime = $0.column.isDate || $0.column.nameWords.last == "time"
      guard isTime, seconds > 0, milliseconds > 0 else { return nil }
      let update = "UPDATE \($0.sqlTable) SET \($0.sqlName) = \($0.sqlName)"
      return seconds >= milliseconds
        ? $0.evidence(
          [.milliseconds], "are milliseconds, and others seconds", advice: "Divide them by 1000.",
          sql: ["\(update) / 1000 WHERE \($0.sqlName) >= 100000000000"])
        : $0.evidence(
          [.seconds], "are seconds, and others milliseconds", advice: "Multiply them by 1000.",
          sql: ["\(update) * 1000 WHERE \($0.sqlName) < 10000000000"])
    }),
  Rule(
    "epoch-unit", .warning,
    "Milliseconds in a column that is named for seconds are read as dates 50,000 years from now.",
    values: { checked in
      let (seconds, milliseconds) = (
        checked.values.count(.seconds), checked.values.count(.milliseconds)
      )
      let words = checked.column.nameWords
      // A column with both is reported by another rule.
      guard (seconds == 0) != (milliseconds == 0) else { return nil }
      if milliseconds > 0, words.contains(where: secondWords.contains) {
        return checked.evidence(
          [.milliseconds], "are milliseconds, as their size says",
          advice: "Divide them by 1000, or rename the column.",
          listing: "\(checked.sqlName) >= 100000000000")
      }
      let others = checked.rows.columns.filter { $0.column.isDate }
      guard milliseconds > 0, checked.column.isDate,
        let other = others.first(where: { $0.count(.seconds) > 0 && $0.count(.milliseconds) == 0 })
      else { return nil }
      return checked.evidence(
        [.milliseconds], "are milliseconds, and those of “\(other.column.name)” are seconds",
        advice: "Choose one unit, or say it in the column's name.",
        listing: "\(checked.sqlName) >= 100000000000")
    }),
  Rule(
    "ambiguous-dates", .warning,
    "A date such as 01/02/2024 is the first of February for some programs, January 2 for others.",
    values: {
      guard $0.hasAmbiguousDates else { return nil }
      return $0.evidence(
        [.eitherOrder], "may begin with the day or the month",
        advice: "Rewrite them as YYYY-MM-DD, while somebody knows which it is.")
    }),
  Rule(
    "date-format-unknown", .note,
    "Dates in a format that SQLite's functions can't read don't sort, and can't be computed with.",
    values: {
      guard $0.column.isDate, !$0.column.declaresNumber, !$0.hasAmbiguousDates else { return nil }
      let known = $0.values.dateForms.filter { DateText.isKnown($0.name) }
        .reduce(0) { $0 + $1.count }
      // A year alone sorts correctly too.
      let unknown = $0.values.count(.text) - known - $0.values.count(.wholeNumber)
      guard unknown > known else { return nil }
      let form = $0.values.dateForms.first.map { ", as \($0.name)" } ?? ""
      var evidence = $0.evidence(
        [.text], "aren't dates that SQLite can read\(form)",
        advice: "Rewrite them as YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS.",
        listing: "date(\($0.sqlName)) IS NULL")
      evidence?.rows = unknown
      return evidence
    }),
  Rule(
    "impossible-date", .warning,
    "Each program reads a day that doesn't exist differently: as another day, or as none.",
    values: {
      guard $0.column.isDate || $0.areMostlyDates else { return nil }
      // SQLite's functions turn February 30 into a day in March, but only once they compute with it.
      return $0.evidence(
        [.impossibleDate], "are days or times that don't exist",
        advice: "Correct them; use NULL if the date is unknown.",
        listing: "\($0.sqlName) NOT NULL AND (datetime(\($0.sqlName)) IS NULL"
          + " OR date(substr(\($0.sqlName), 1, 16), '+0 days') IS NOT substr(\($0.sqlName), 1, 10))"
      )
    }),
]

/// The words in a column's name that say that its numbers are seconds.
private let secondWords: Set<String> = ["s", "sec", "secs", "second", "seconds"]

extension CheckedColumn {
  /// Whether the values are dates whose order of day and month no value shows, or for which values differ.
  fileprivate var hasAmbiguousDates: Bool {
    let isDayFirst = values.count(.dayFirst) > 0
    return values.count(.eitherOrder) > 0 && areMostlyDates
      && isDayFirst == (values.count(.monthFirst) > 0)
  }

  /// Whether at least four of five texts are dates.
  fileprivate var areMostlyDates: Bool {
    values.dateForms.reduce(0) { $0 + $1.count } * 5 >= values.count(.text) * 4
  }
}

extension String {
  /// The format without a fraction of seconds, except before a Z, which sorts after all digits.
  fileprivate var withoutFraction: String {
    hasSuffix("Z") ? self : replacing(/\.S+/, with: "")
  }

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
