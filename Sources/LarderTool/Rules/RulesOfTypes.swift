import Larder
import LarderTerminal

// Rules about values of another type than their column declares, which a STRICT table would reject.

extension Rule {
  static let ofTypes: [Rule] = [
    Rule(
      "text-in-number", .warning,
      "Text among numbers sorts after all of them, isn't added up, and fails in programs.",
      values: { checked in
        guard checked.column.declaresNumber, !checked.column.isBoolean,
          checked.values.count(.text) > 0
        else { return nil }
        return checked.wrongType([.text], "hold text", "text")
      }),
    Rule(
      "real-in-integer", .warning,
      "Programs cut off or refuse numbers with a fraction in a column of integers.",
      values: { checked in
        guard checked.column.declaresInteger, checked.values.count(.real) > 0 else { return nil }
        return checked.wrongType([.real], "aren't whole numbers", "real")
      }),
    Rule(
      "blob-in-text", .warning,
      "A blob among texts equals none of them, even if it looks the same.",
      values: { checked in
        guard ColumnAffinity(type: checked.column.type, isStrict: checked.table.isStrict) == .text,
          checked.values.count(.blob) > 0
        else { return nil }
        return checked.wrongType([.blob], "hold blobs", "blob")
      }),
    Rule(
      "mixed-types", .note,
      "Values of several types in a column without a type sort by type, and equal no value of another.",
      values: { checked in
        let isNumber = checked.values.count(.integer) + checked.values.count(.real) > 0
        let isText = checked.values.count(.text) > 0
        guard checked.column.type.isEmpty, checked.column.generatedSQL == nil, isNumber, isText
        else { return nil }
        return checked.evidence(
          [.text], "hold text, and others numbers",
          advice: "Declare a type; or ANY in a STRICT table, if that is intended.",
          sql: [checked.listing("typeof(\(checked.sqlName)) = 'text'")])
      }),
    Rule(
      "numbers-in-text", .note,
      "Numbers that are stored as text sort as text: 10 before 9.",
      values: { checked in
        let values = checked.values
        let name = checked.column.name.foldedName
        let isKey =
          checked.column.primaryKeyPosition > 0
          || checked.table.foreignKeys.contains { key in
            key.columns.contains { $0.foldedName == name }
          }
        // Codes and telephone numbers are texts; most kinds have a fixed length.
        guard ColumnAffinity(type: checked.column.type, isStrict: checked.table.isStrict) == .text,
          !isKey, !checked.column.nameWords.contains(where: codeWords.contains),
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
        table.columns.filter { !table.isStrict && $0.isMisread }.map { column in
          let isText = column.typeWords.contains("STRING")
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
        table.columns.filter { column in
          ColumnAffinity(type: column.type, isStrict: table.isStrict) == .real
            && column.nameWords.contains(where: moneyWords.contains)
        }.map { column in
          Evidence(
            table: table.name, columns: [column.name], found: "the column is \(column.type)",
            advice: "Store the smallest unit, such as cents, as INTEGER.")
        }
      }),
    Rule(
      "boolean-values", .warning,
      "A condition on a column takes every number but 0 for true, and text mostly for false.",
      values: { checked in
        guard checked.column.isBoolean, checked.values.count(.notBoolean) > 0 else { return nil }
        return checked.evidence(
          [.notBoolean], "are neither 0 nor 1",
          advice: "Store 0 and 1, and add a CHECK.",
          sql: [checked.listing("\(checked.sqlName) NOT IN (0, 1)")])
      }),
  ]

  private static let codeWords: Set<String> = [
    "code", "id", "isbn", "key", "no", "number", "phone", "postal", "reference", "serial", "sku",
    "version", "zip",
  ]

  private static let moneyWords: Set<String> = [
    "price", "amount", "cost", "balance", "salary", "fee", "revenue", "payment", "wage",
  ]
}

extension CheckedColumn {
  fileprivate func wrongType(_ forms: [ValueForm], _ what: String, _ type: String) -> Evidence {
    evidence(
      forms, "\(what), and the column is \(column.type)",
      advice: "Convert them, and make the table STRICT.",
      sql: [listing("typeof(\(sqlName)) = '\(type)'")])
  }
}

extension ColumnSchema {
  /// The words of the declared type, in upper case.
  var typeWords: [String] {
    type.uppercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  var declaresInteger: Bool {
    typeWords.contains { Self.integerWords.contains($0) }
  }

  var declaresNumber: Bool {
    declaresInteger || typeWords.contains { Self.numberWords.contains($0) }
  }

  /// Whether the column is Boolean, by its type or name.
  var isBoolean: Bool {
    typeWords.contains { ["BOOL", "BOOLEAN"].contains($0) }
      || declaresInteger && nameWords.count > 1 && ["is", "has"].contains(nameWords.first)
  }

  /// Whether SQLite interprets the declared type differently than people do.
  fileprivate var isMisread: Bool {
    typeWords.contains("STRING") || typeWords.contains("FLOATING")
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

  private static let integerWords: Set<String> = [
    "INTEGER", "INT", "BIGINT", "SMALLINT", "TINYINT", "MEDIUMINT", "INT2", "INT4", "INT8",
  ]
  private static let numberWords: Set<String> = [
    "REAL", "FLOAT", "DOUBLE", "NUMERIC", "DECIMAL", "NUMBER", "MONEY",
  ]
}
