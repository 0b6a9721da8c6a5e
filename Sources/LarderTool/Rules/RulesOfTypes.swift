import Larder
import LarderTerminal

// Rules about values of another type than their column declares, which a STRICT table would reject.

let rulesOfTypes: [Rule] = [
  Rule(
    "text-in-number", .warning,
    "Text among numbers sorts after all of them, isn't added up, and fails in programs.",
    values: {
      guard $0.column.declaresNumber, !$0.column.isBoolean else { return nil }
      return $0.wrongType(.text, "hold text", "text")
    }),
  Rule(
    "real-in-integer", .warning,
    "Programs cut off or refuse numbers with a fraction in a column of integers.",
    values: {
      $0.column.declaresInteger ? $0.wrongType(.real, "aren't whole numbers", "real") : nil
    }),
  Rule(
    "blob-in-text", .warning,
    "A blob among texts equals none of them, even if it looks the same.",
    values: { $0.affinity == .text ? $0.wrongType(.blob, "hold blobs", "blob") : nil }),
  Rule(
    "mixed-types", .note,
    "Values of several types in a column without a type sort by type, and equal no value of another.",
    values: {
      guard $0.column.type.isEmpty, $0.column.generated == nil,
        $0.values.count(.integer) + $0.values.count(.real) > 0
      else { return nil }
      return $0.evidence(
        [.text], "hold text, and others numbers",
        advice: "Declare a type; or ANY in a STRICT table, if that is intended.",
        listing: "typeof(\($0.sqlName)) = 'text'")
    }),
  Rule(
    "numbers-in-text", .note,
    "Numbers that are stored as text sort as text: 10 before 9.",
    values: { checked in
      let values = checked.values
      let isKey =
        checked.column.primaryKeyPosition > 0
        || checked.table.foreignKeys.contains { key in
          key.columns.contains { $0.isSameName(checked.column.name) }
        }
      // Codes and telephone numbers are texts; most kinds have a fixed length.
      guard checked.affinity == .text, !isKey,
        !checked.column.nameWords.contains(where: codeWords.contains),
        values.count(.text) >= 20, values.count(.text) == values.count(.wholeNumber),
        values.lengths.count >= 3
      else { return nil }
      return checked.evidence(
        [.wholeNumber], "are whole numbers as text",
        advice: "Declare the column INTEGER, and rebuild the table.")
    }),
  Rule(
    "misread-type", .warning,
    "SQLite reads a type by parts of its name: STRING makes ‘007’ the number 7, FLOATING POINT an integer.",
    tables: { table, _ in
      guard !table.isStrict else { return [] }
      return table.columns.compactMap { column in
        let isText = column.typeWords.contains("STRING")
        guard isText || column.typeWords.contains("FLOATING") else { return nil }
        return Evidence(
          table: table.name, columns: [column.name],
          found: "“\(column.type)” has the affinity \(isText ? "NUMERIC" : "INTEGER")",
          advice: "Declare it \(isText ? "TEXT" : "REAL"), and rebuild the table.")
      }
    }),
  Rule(
    "float-money", .warning,
    "Sums of money in floating point are off by fractions of a cent, which add up.",
    tables: { table, _ in
      table.columns.filter {
        table.affinity(of: $0) == .real && $0.nameWords.contains(where: moneyWords.contains)
      }.map {
        Evidence(
          table: table.name, columns: [$0.name], found: "the column is \($0.type)",
          advice: "Store the smallest unit, such as cents, as INTEGER.")
      }
    }),
  Rule(
    "mixed-booleans", .warning,
    "The same answer in two spellings, such as 1 and true, is two values for a condition.",
    values: {
      let (digits, words) = ($0.values.count(.zeroOrOne), $0.values.count(.booleanWord))
      // Other rules report text among numbers.
      guard !$0.column.isBoolean, !$0.column.declaresNumber,
        digits + words == $0.values.count(.integer) + $0.values.count(.text),
        $0.values.count(.real) + $0.values.count(.blob) == 0, digits > 0, words > 0
      else { return nil }
      return digits >= words
        ? $0.evidence(
          [.booleanWord], "are words, and others 0 or 1", advice: "Rewrite them as 0 and 1.",
          listing: "\($0.sqlName) NOT IN (0, 1, '0', '1')")
        : $0.evidence(
          [.zeroOrOne], "are 0 or 1, and others words", advice: "Rewrite them as the others.",
          listing: "\($0.sqlName) IN (0, 1, '0', '1')")
    }),
  Rule(
    "boolean-values", .warning,
    "A condition on a column takes every number but 0 for true, and text mostly for false.",
    values: {
      guard $0.column.isBoolean else { return nil }
      return $0.evidence(
        [.notBoolean], "are neither 0 nor 1", advice: "Store 0 and 1, and add a CHECK.",
        listing: "\($0.sqlName) NOT IN (0, 1)")
    }),
]

private let integerWords: Set<String> = [
  "INTEGER", "INT", "BIGINT", "SMALLINT", "TINYINT", "MEDIUMINT", "INT2", "INT4", "INT8",
]

private let numberWords: Set<String> = [
  "REAL", "FLOAT", "DOUBLE", "NUMERIC", "DECIMAL", "NUMBER", "MONEY",
]

private let textWords: Set<String> = [
  "ANY", "CHAR", "CHARACTER", "CLOB", "STRING", "TEXT", "VARCHAR", "VARIANT",
]

private let codeWords: Set<String> = [
  "code", "id", "isbn", "key", "no", "number", "phone", "postal", "reference", "serial", "sku",
  "version", "zip",
]

private let moneyWords: Set<String> = [
  "price", "amount", "cost", "balance", "salary", "fee", "revenue", "payment", "wage",
]

extension CheckedColumn {
  fileprivate func wrongType(_ form: ValueForm, _ what: String, _ type: String) -> Evidence? {
    evidence(
      [form], "\(what), and the column is \(column.type)",
      advice: "Convert them, and make the table STRICT.",
      listing: "typeof(\(sqlName)) = '\(type)'")
  }
}

extension ColumnSchema {
  /// The words of the declared type, in upper case.
  var typeWords: [String] {
    type.uppercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// Whether the type says that the values are whole numbers, and nothing else: `INTEGER_OR_TEXT` doesn't.
  var declaresInteger: Bool {
    let words = typeWords
    return words.contains(where: integerWords.contains)
      && !words.contains(where: textWords.contains)
      && !words.contains(where: numberWords.contains)
  }

  var declaresNumber: Bool {
    let words = typeWords
    return words.contains { integerWords.contains($0) || numberWords.contains($0) }
      && !words.contains(where: textWords.contains)
  }

  /// Whether the column is Boolean, by its type or name.
  var isBoolean: Bool {
    typeWords.contains { ["BOOL", "BOOLEAN"].contains($0) }
      || declaresInteger && nameWords.count > 1 && ["is", "has"].contains(nameWords.first)
  }

  /// Whether the column's values are dates, by its type or name.
  var isDate: Bool {
    if typeWords.contains(where: { ["DATE", "DATETIME", "TIMESTAMP"].contains($0) }) {
      return true
    }
    let words = nameWords
    guard let last = words.last else { return false }
    return ["date", "datetime", "timestamp"].contains(last) || last == "at" && words.count > 1
      || words.starts(with: ["date", "of"])
  }

  /// The words of the column's name, in lower case: the same for `invoice_date` and `InvoiceDate`.
  var nameWords: [String] {
    var words: [String] = [""]
    var wasSmall = false
    for character in name {
      guard character.isLetter || character.isNumber else {
        words.append("")
        wasSmall = false
        continue
      }
      if character.isUppercase, wasSmall { words.append("") }
      words[words.count - 1] += character.lowercased()
      wasSmall = character.isLowercase || character.isNumber
    }
    return words.filter { !$0.isEmpty }
  }
}
