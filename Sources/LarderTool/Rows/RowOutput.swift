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
  /// A line for each value, and an empty one between rows.
  case vertical

  func show(_ rows: ResultSet) throws {
    let names = rows.columnNames
    // A statement without columns has no rows to show.
    guard !names.isEmpty else {
      _ = try rows.next()
      if case .json = self { print("[]") }
      return
    }
    switch self {
    case .json: try PrintedRows.print(rows, names, JSONRows(Self.distinct(names)))
    case .csv: try PrintedRows.print(rows, names, CSVRows(names))
    case .table(let width): try PrintedRows.print(rows, names, TableRows(names, width: width))
    case .vertical: try PrintedRows.print(rows, names, VerticalRows(names))
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
}

/// Writes rows as bytes, in one of the forms of ``RowOutput``.
protocol RowForm {
  /// Writes what precedes the rows, if it is known before them.
  mutating func begin(_ output: inout [UInt8])

  /// Writes the row that the result set stands on. What it has written of a row is dropped if it throws.
  mutating func write(_ rows: ResultSet, to output: inout [UInt8]) throws

  /// Writes what follows the last row.
  mutating func end(_ output: inout [UInt8])
}

/// Prints rows in large pieces: a call for each row takes longer than what it writes.
private enum PrintedRows {
  private static let piece = 1 << 15

  static func print(_ rows: ResultSet, _ names: [String], _ form: some RowForm) throws {
    var form = form
    var bytes: [UInt8] = []
    // The rows before an error are printed.
    defer { bytes.print() }
    // Somebody who watches sees each row as soon as it is found.
    let piece = isatty(STDOUT_FILENO) == 1 ? 1 : piece
    form.begin(&bytes)
    var count = 0
    while try rows.next() {
      count += 1
      let start = bytes.count
      do {
        try form.write(rows, to: &bytes)
      } catch {
        bytes.removeSubrange(start...)
        guard let unreadable = error as? UnreadableText else { throw error }
        throw Failure(
          """
          row \(count.grouped), column “\(names[unreadable.column])”: the text isn't valid in its encoding; \
          CAST(… AS BLOB) prints its bytes
          """)
      }
      if bytes.count >= piece { bytes.print() }
      if count % 256 == 0 {
        try Interruption.check()
        if Output.isLost { throw Failure("") }
      }
    }
    form.end(&bytes)
  }
}

extension [UInt8] {
  /// Prints the bytes, in order with everything else that is printed, and empties the array.
  fileprivate mutating func print() {
    withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, stdout) }
    removeAll(keepingCapacity: true)
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

extension DatabaseValue {
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
    case .text(let value): JSONText.quoted(value)
    case .blob(let value): "\"\(Data(value).base64EncodedString())\""
    }
  }
}
