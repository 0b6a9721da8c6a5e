import FoundationEssentials
@preconcurrency import Glibc
import Larder
import LarderTerminal

/// The form in which rows are printed. They are streamed, however many there are.
enum RowOutput {
  case json
  case csv
  /// - Parameter width: the maximum width of a column; nil for none.
  case table(width: Int?)

  /// The number of rows that determine the columns' widths.
  private static let measuredRows = 1000

  func show(_ rows: ResultSet) throws {
    let names = rows.columnNames
    // A statement without columns has no rows to show.
    guard !names.isEmpty else {
      _ = try rows.next()
      if case .json = self { print("[]") }
      return
    }
    switch self {
    case .json: try showJSON(rows, Self.distinct(names))
    case .csv:
      print(names.map { DatabaseValue.text($0).csv }.joined(separator: ","))
      try forEach(rows) { print($0.map(\.csv).joined(separator: ",")) }
    case .table(let width): try showTable(rows, names, width)
    }
  }

  private func forEach(_ rows: ResultSet, _ body: ([DatabaseValue]) throws -> Void) throws {
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

  /// The names of columns, with a number appended to repeated ones.
  static func distinct(_ names: [String]) -> [String] {
    var taken = Set(names)
    var seen: Set<String> = []
    return names.map { name in
      if seen.insert(name).inserted { return name }
      var number = 2
      while !taken.insert("\(name):\(number)").inserted { number += 1 }
      return "\(name):\(number)"
    }
  }

  private func showJSON(_ rows: ResultSet, _ names: [String]) throws {
    let keys = names.map { JSONText.quoted($0) + ": " }
    var isFirst = true
    var line: [UInt8] = []
    try forEach(rows) { values in
      line.removeAll(keepingCapacity: true)
      line += (isFirst ? "[\n  {" : ",\n  {").utf8
      isFirst = false
      for (column, value) in values.enumerated() {
        if column > 0 { line += ", ".utf8 }
        line += keys[column].utf8
        line += value.json.utf8
      }
      line.append(UInt8(ascii: "}"))
      line.writeToOutput()
    }
    print(isFirst ? "[]" : "\n]")
  }

  private func showTable(_ rows: ResultSet, _ names: [String], _ limit: Int?) throws {
    var waiting: [[DatabaseValue]] = []
    var widths: [Int]?
    var numbers: Set<Int> = []
    var bytes: [UInt8] = []
    func line(_ cells: [String], _ widths: [Int]) {
      bytes.removeAll(keepingCapacity: true)
      for (column, cell) in cells.enumerated() {
        if column > 0 { bytes += "  ".utf8 }
        let shown = limit.map { cell.cut(to: $0) } ?? cell
        let spaces = repeatElement(
          UInt8(ascii: " "), count: max(0, widths[column] - shown.displayWidth))
        if numbers.contains(column) { bytes += spaces }
        bytes += shown.utf8
        if !numbers.contains(column) { bytes += spaces }
      }
      while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
    }
    func show(_ row: [DatabaseValue], _ widths: [Int]) {
      line(row.map(\.plain), widths)
      bytes.append(UInt8(ascii: "\n"))
      bytes.writeToOutput()
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
      line(header, widths)
      print(Style.bold(String(decoding: bytes, as: UTF8.self)))
      for row in waiting { show(row, widths) }
      waiting = []
      return widths
    }
    try forEach(rows) { values in
      if let widths { return show(values, widths) }
      waiting.append(values)
      if waiting.count == Self.measuredRows { widths = begin() }
    }
    if widths == nil { _ = begin() }
  }
}

extension [UInt8] {
  /// Writes the bytes to the standard output, in order with what is printed.
  fileprivate func writeToOutput() {
    withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, stdout) }
  }
}

extension ColumnAccess {
  /// A value for display. Invalid UTF-8 gets replacement characters.
  func shownValue(at index: Int) throws -> DatabaseValue {
    try value(at: index) { .text(String(decoding: $0, as: UTF8.self)) }
  }

  /// A value for comparison. A text that isn't UTF-8 becomes a blob.
  func storedValue(at index: Int) throws -> DatabaseValue {
    try value(at: index) { .blob(Array($0)) }
  }

  private func value(
    at index: Int, else convert: (UnsafeRawBufferPointer) -> DatabaseValue
  ) throws -> DatabaseValue {
    do {
      return try self[index]
    } catch is ConversionError {
      return try withUnsafeBytes(at: index, convert)
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
  var isNumber: Bool { storageClass == .integer || storageClass == .real }

  /// The value on one line, for a table.
  var plain: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value):
      // Most texts are ASCII.
      value.utf8.allSatisfy { 0x20...0x7E ~= $0 }
        ? value
        : value.replacing("\r\n", with: "⏎").replacing("\n", with: "⏎").replacing("\t", with: " ")
          .printable
    case .blob(let value):
      "x'\(Array(value.prefix(16)).hexadecimal.uppercased())'"
        + (value.count > 16 ? "… (\(value.count) bytes)" : "")
    }
  }

  /// The value as JSON; a blob is Base64.
  var json: String {
    switch self {
    case .null: "null"
    case .integer(let value): "\(value)"
    // JSON has no infinity, but parsers read a number beyond Double's range as one.
    case .real(let value): value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
    case .text(let value):
      // Most texts need no escapes.
      value.utf8.allSatisfy {
        0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      } ? "\"" + value + "\"" : JSONText.quoted(value)
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
    case .blob(let value): value.hexadecimal.uppercased()
    }
  }
}
