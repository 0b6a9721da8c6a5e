import Larder
import LarderTerminal

// The forms of rows that people read.

/// Aligned columns. The first rows determine the columns' widths.
struct TableRows: RowForm {
  /// A column of the table.
  private struct Column {
    var width: Int
    /// Whether the first rows have numbers in it, and nothing else but NULL.
    var isOfNumbers: Bool { hasNumber && !hasOther }
    var hasNumber = false
    var hasOther = false
  }

  /// The number of rows that determine the columns' widths.
  private static let measuredRows = 1000

  private let names: [String]
  private let limit: Int?
  private var columns: [Column]
  private var cell = TableCell()
  /// The cells of the rows that wait for the widths.
  private var waiting: [TableCell] = []
  private var isWaiting = true

  /// - Parameter width: the maximum width of a column; nil for none.
  init(_ names: [String], width: Int?) {
    self.names = names.map(\.printable)
    limit = width
    columns = self.names.map { Column(width: Swift.min(width ?? .max, $0.displayWidth)) }
  }

  mutating func begin(_ output: inout [UInt8]) {}

  mutating func write(_ rows: ResultSet, to output: inout [UInt8]) throws {
    guard isWaiting else {
      for index in columns.indices {
        try cell.read(rows.reader(at: index), limit)
        write(cell, index, to: &output)
      }
      return endLine(&output)
    }
    for index in columns.indices {
      let reader = try rows.reader(at: index)
      switch reader.storageClass {
      case .null: break
      case .integer, .real: columns[index].hasNumber = true
      case .text, .blob: columns[index].hasOther = true
      }
      var cell = TableCell()
      try cell.read(reader, limit)
      // A value that is cut before a wide character takes less than the limit.
      let width = cell.isCut ? limit ?? 0 : cell.width
      columns[index].width = max(columns[index].width, width)
      waiting.append(cell)
    }
    if waiting.count == Self.measuredRows * columns.count { writeFirst(&output) }
  }

  mutating func end(_ output: inout [UInt8]) {
    if isWaiting { writeFirst(&output) }
  }

  /// Writes the header, and the rows that wait.
  private mutating func writeFirst(_ output: inout [UInt8]) {
    isWaiting = false
    var header: [UInt8] = []
    for (index, name) in names.enumerated() {
      write(TableCell(limit.map { name.cut(to: $0) } ?? name), index, to: &header)
    }
    endLine(&header)
    header.removeLast()
    output += (Style.bold(String(decoding: header, as: UTF8.self)) + "\n").utf8
    for (index, cell) in waiting.enumerated() {
      let column = index % columns.count
      write(cell, column, to: &output)
      if column == columns.count - 1 { endLine(&output) }
    }
    waiting = []
  }

  private func write(_ cell: TableCell, _ index: Int, to output: inout [UInt8]) {
    if index > 0 { output.append(spaces: 2) }
    let column = columns[index]
    let padding = column.width - cell.width
    if column.isOfNumbers { output.append(spaces: padding) }
    output += cell.bytes
    // Spaces at the end of a line are removed anyway.
    if !column.isOfNumbers, index < columns.count - 1 { output.append(spaces: padding) }
  }

  private func endLine(_ output: inout [UInt8]) {
    var end = output.count
    while end > 0, output[end - 1] == UInt8(ascii: " ") { end -= 1 }
    output.removeLast(output.count - end)
    output.append(UInt8(ascii: "\n"))
  }
}

/// A line for each value, beside the name of its column.
struct VerticalRows: RowForm {
  /// The names with spaces behind them.
  private let names: [[UInt8]]
  private var cell = TableCell()
  private var isFirst = true

  init(_ names: [String]) {
    let names = names.map(\.printable)
    let width = names.map(\.displayWidth).max() ?? 0
    self.names = names.map { Array(Style.faint($0.padded(to: width + 2)).utf8) }
  }

  mutating func begin(_ output: inout [UInt8]) {}

  mutating func write(_ rows: ResultSet, to output: inout [UInt8]) throws {
    if !isFirst { output.append(UInt8(ascii: "\n")) }
    isFirst = false
    for index in names.indices {
      try cell.read(rows.reader(at: index), nil)
      output += names[index]
      output += cell.bytes
      output.append(UInt8(ascii: "\n"))
    }
  }

  mutating func end(_ output: inout [UInt8]) {}
}

extension [UInt8] {
  fileprivate mutating func append(spaces count: Int) {
    var rest = count
    while rest > 0 {
      let next = Swift.min(rest, Self.spaces.count)
      append(contentsOf: Self.spaces[..<next])
      rest -= next
    }
  }

  private static let spaces = [UInt8](repeating: UInt8(ascii: " "), count: 64)
}
