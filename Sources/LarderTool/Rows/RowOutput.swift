import FoundationEssentials
import Larder
import LarderTerminal

/// The form in which rows are printed. They are streamed, however many there are.
enum RowOutput {
  case json
  case csv
  /// - Parameter width: the maximum width of a column; nil for none.
  case table(width: Int?)

  /// The number of rows that determine the columns' widths.
  static let measuredRows = 1000

  /// Prints a query's rows, and returns their number.
  @discardableResult
  func show(_ rows: ResultSet, print: (String) -> Void) throws -> Int {
    let names = rows.columnNames
    // A statement without columns has no rows to show.
    guard !names.isEmpty else {
      _ = try rows.next()
      if case .json = self { print("[]") }
      return 0
    }
    switch self {
    case .json: return try showJSON(rows, Self.distinct(names), print)
    case .csv: return try showCSV(rows, names, print)
    case .table(let width): return try showTable(rows, names, width, print)
    }
  }

  private func forEach(_ rows: ResultSet, _ body: ([DatabaseValue]) throws -> Void) throws -> Int {
    var count = 0
    let columns = rows.columnCount
    while try rows.next() {
      try body((0..<columns).map { try value(rows, $0, row: count + 1) })
      count += 1
      if count % 256 == 0 {
        try Interruption.check()
        if Output.isLost { throw Failure("") }
      }
    }
    return count
  }

  /// A value to print. Invalid UTF-8 is an error, except in a table for people, which shows replacement
  /// characters: a program would take those for the text.
  private func value(_ rows: ResultSet, _ index: Int, row: Int) throws -> DatabaseValue {
    if case .table = self { return try rows.shownValue(at: index) }
    do {
      return try rows[index]
    } catch is ConversionError {
      throw Failure(
        """
        row \(row.grouped), column “\(rows.columnNames[index])”: the text isn't valid in its encoding; \
        CAST(… AS BLOB) prints its bytes
        """)
    }
  }

  // MARK: JSON

  /// The names of columns, with a number appended to repeated ones.
  static func distinct(_ names: [String]) -> [String] {
    var taken = Set(names)
    var seen: Set<String> = []
    return names.map { name in
      if seen.insert(name).inserted { return name }
      var number = 2
      while taken.contains("\(name):\(number)") { number += 1 }
      taken.insert("\(name):\(number)")
      return "\(name):\(number)"
    }
  }

  private func showJSON(_ rows: ResultSet, _ names: [String], _ print: (String) -> Void) throws
    -> Int
  {
    let keys = names.map { JSONText.quoted($0) + ": " }
    var last: String?
    let count = try forEach(rows) { values in
      if let last { print(last + ",") } else { print("[") }
      last = "  {" + zip(keys, values).map { $0 + $1.json }.joined(separator: ", ") + "}"
    }
    if let last { print(last + "\n]") } else { print("[]") }
    return count
  }

  // MARK: CSV

  private func showCSV(_ rows: ResultSet, _ names: [String], _ print: (String) -> Void) throws
    -> Int
  {
    print(names.map { DatabaseValue.text($0).csv }.joined(separator: ","))
    return try forEach(rows) { print($0.map(\.csv).joined(separator: ",")) }
  }

  // MARK: A table

  private func showTable(
    _ rows: ResultSet, _ names: [String], _ limit: Int?, _ print: (String) -> Void
  ) throws -> Int {
    var waiting: [[DatabaseValue]] = []
    var widths: [Int]?
    var numbers: Set<Int> = []
    func line(_ cells: [String], _ widths: [Int]) -> String {
      var line = ""
      for (column, cell) in cells.enumerated() {
        if column > 0 { line += "  " }
        let shown = limit.map { cell.cut(to: $0) } ?? cell
        line += shown.padded(to: widths[column], onTheLeft: numbers.contains(column))
      }
      while line.last == " " { line.removeLast() }
      return line
    }
    func begin() -> [Int] {
      numbers = Set(
        names.indices.filter { column in
          waiting.contains { $0[column].isNumber }
            && waiting.allSatisfy { $0[column].isNumber || $0[column].isNull }
        })
      let header = names.map(\.printable)
      let widths = names.indices.map { column in
        let widest = waiting.map { $0[column].plain.displayWidth }.max() ?? 0
        return min(limit ?? .max, max(header[column].displayWidth, widest))
      }
      print(Style.bold(line(header, widths)))
      for row in waiting { print(line(row.map(\.plain), widths)) }
      waiting = []
      return widths
    }
    let count = try forEach(rows) { values in
      if let widths { return print(line(values.map(\.plain), widths)) }
      waiting.append(values)
      if waiting.count == Self.measuredRows { widths = begin() }
    }
    if widths == nil { _ = begin() }
    return count
  }
}

extension ColumnAccess {
  /// A value for display. Invalid UTF-8 gets replacement characters.
  func shownValue(at index: Int) throws -> DatabaseValue {
    do {
      return try self[index]
    } catch is ConversionError {
      return .text(try withUnsafeBytes(at: index) { String(decoding: $0, as: UTF8.self) })
    }
  }

  /// A value for comparison. A text that isn't UTF-8 becomes a blob.
  func storedValue(at index: Int) throws -> DatabaseValue {
    do {
      return try self[index]
    } catch is ConversionError {
      return .blob(try withUnsafeBytes(at: index) { Array($0) })
    }
  }
}

extension String {
  /// The text, cut to a width in terminal columns, with “…” at its end if it is longer.
  func cut(to width: Int) -> String {
    guard displayWidth > width else { return self }
    var shown = ""
    var taken = 0
    for character in self {
      let wide = String(character).displayWidth
      guard taken + wide < width else { break }
      taken += wide
      shown.append(character)
    }
    return shown + "…"
  }
}

extension DatabaseValue {
  var isNumber: Bool {
    switch self {
    case .integer, .real: true
    case .null, .text, .blob: false
    }
  }

  /// The value on one line, for a table.
  var plain: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value):
      value.replacing("\r\n", with: "⏎").replacing("\n", with: "⏎").replacing("\t", with: " ")
        .printable
    case .blob(let value):
      "x'\(value.prefix(16).hexadecimal)'" + (value.count > 16 ? "… (\(value.count) bytes)" : "")
    }
  }

  /// The value as JSON; a blob is Base64.
  var json: String {
    switch self {
    case .null: "null"
    case .integer(let value): "\(value)"
    // JSON has no infinity, but parsers read a number beyond Double's range as one.
    case .real(let value): value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
    case .text(let value): JSONText.quoted(value)
    case .blob(let value): "\"\(Data(value).base64EncodedString())\""
    }
  }

  /// The value as a CSV field: nothing for NULL, quotes for an empty text, hexadecimal digits for a blob.
  var csv: String {
    switch self {
    case .null: ""
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value):
      value.isEmpty || value.utf8.contains { "\",\r\n ".utf8.contains($0) }
        ? value.quoted(by: UInt8(ascii: "\"")) : value
    case .blob(let value): Array(value)[...].hexadecimal
    }
  }
}

extension ArraySlice<UInt8> {
  var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
  }
}
