import Larder
import LarderTerminal

// Rules about the contents of texts.

let rulesOfTexts: [Rule] = [
  Rule(
    "invalid-utf8", .error,
    "Text that isn't UTF-8 can't be read as a string: most programs fail, others change it.",
    values: {
      $0.evidence(
        [.invalidUTF8], "hold text that isn't UTF-8",
        advice: "Rewrite it in UTF-8, or as a blob if it isn't text.", sql: [$0.listingRows])
    }),
  Rule(
    "nul-in-text", .warning,
    "Text with a NUL in it ends there for many of SQLite's functions, and for programs in C.",
    values: {
      $0.evidence(
        [.nul], "hold text with a NUL", advice: "Store bytes as blobs; take the NUL out of text.",
        listing: "instr(CAST(\($0.sqlName) AS BLOB), x'00')")
    }),
  Rule(
    "invalid-json", .warning,
    "SQLite's JSON functions fail at the first text that isn't JSON.",
    values: {
      let (valid, others) = ($0.values.count(.json), $0.values.count(.notJSON))
      guard valid >= 2, valid >= others * 4 else { return nil }
      return $0.evidence(
        [.notJSON], "aren't JSON, unlike the others",
        advice: "Correct them, and add CHECK (json_valid(…)).",
        listing: "NOT json_valid(\($0.sqlName))")
    }),
  Rule(
    "text-too-long", .warning,
    "SQLite ignores the length in VARCHAR(20), but servers and programs cut longer text, or refuse it.",
    values: {
      $0.evidence(
        [.tooLong], "are longer than \($0.column.type) says",
        advice: "Shorten them and add CHECK (length(…) <= …), or declare the column TEXT.",
        listing: "length(\($0.sqlName)) > \($0.column.type.filter { $0.isASCII && $0.isNumber })")
    }),
  Rule(
    "mixed-case", .warning,
    "Words such as ‘Open’ and ‘open’ are two values for conditions and GROUP BY, but mostly mean one.",
    values: {
      guard ($0.column.collation ?? "BINARY").uppercased() == "BINARY", let words = $0.values.words,
        $0.values.count(.text) >= 3 * words.count
      else { return nil }
      // In short texts, such as units and abbreviations, case has a meaning.
      let others = $0.values.otherSpellings.filter { $0.text.count >= 3 }
      guard let first = others.first else { return nil }
      let example = "“\(first.text.printable)” beside “\(first.usual.printable)”"
      return $0.evidence(
        of: others.map(\.tally),
        "differ only in case from more frequent values, such as \(example)",
        advice: "Rewrite them, and add a CHECK or COLLATE NOCASE.",
        sql: [
          "SELECT \($0.sqlName), count(*) FROM \($0.sqlTable) GROUP BY \($0.sqlName)"
            + " ORDER BY lower(\($0.sqlName))"
        ])
    }),
  Rule(
    "mixed-uuids", .warning,
    "The same UUID in another form is another value: it isn't found, and can be stored twice.",
    values: { checked in
      // A blob in a column of texts is reported by another rule.
      let isText = checked.affinity == .text
      let forms = checked.values.uuidForms.filter { !isText || $0.name != .blob }
      let uuids = forms.reduce(0) { $0 + $1.count }
      let all = checked.values.count(.text) + (isText ? 0 : checked.values.count(.blob))
      guard let first = forms.first, uuids * 5 >= all * 4 else { return nil }
      let names = forms.map { "\($0.name.rawValue) (\($0.count.grouped))" }
      return checked.evidence(
        forms.dropFirst().map(\.form),
        "aren't written with \(first.name.rawValue): there are \(names.joined(separator: ", "))",
        advice: "Choose one form, and rewrite the others.",
        sql: first.name == .lowercase && forms.dropFirst().allSatisfy { $0.name == .uppercase }
          ? ["UPDATE \(checked.sqlTable) SET \(checked.sqlName) = lower(\(checked.sqlName))"] : [])
    }),
]

extension CheckedColumn {
  /// A query that lists the first rows with invalid UTF-8 by their rowids, since no SQL condition finds them.
  fileprivate var listingRows: String {
    guard let rowID = table.rowIDNames.first, let tally = values.tallies[.invalidUTF8] else {
      return listing("1")
    }
    let list = tally.rowIDs.map { "\($0)" }.joined(separator: ", ")
    return "SELECT \(rowID), hex(\(sqlName)) FROM \(sqlTable) WHERE \(rowID) IN (\(list))"
  }
}
