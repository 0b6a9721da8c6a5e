/// A table of text, with columns aligned by display width.
package struct TextTable {
  private let header: [String]
  private let rightAligned: Set<Int>
  private var rows: [[String]] = []

  /// - Parameters:
  ///   - header: the columns' titles.
  ///   - numbers: the positions of the columns that are aligned on the right.
  package init(_ header: String..., numbers: Set<Int> = []) {
    self.init(header: header, numbers: numbers)
  }

  /// Makes a table whose columns aren't known at compile time.
  package init(header: [String], numbers: Set<Int> = []) {
    self.header = header.map(\.printable)
    rightAligned = numbers
  }

  package mutating func add(_ cells: String...) { add(cells) }

  /// Adds a row, which has as many cells as the header.
  package mutating func add(_ cells: [String]) { rows.append(cells.map(\.printable)) }

  package var isEmpty: Bool { rows.isEmpty }

  /// Prints the lines, the header in bold on a terminal.
  package func show(indent: String = "") {
    for (index, line) in lines.enumerated() {
      print(indent + (index == 0 ? Style.bold(line) : line))
    }
  }

  /// The lines; the first is the header.
  package var lines: [String] {
    let all = [header] + rows
    let widths = header.indices.map { column in
      all.map { $0[column].displayWidth }.max() ?? 0
    }
    return all.map { cells in
      var line = ""
      for (column, cell) in cells.enumerated() {
        let isRight = rightAligned.contains(column)
        line += column > 0 ? "  " : ""
        line += cell.padded(to: widths[column], onTheLeft: isRight)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension BinaryInteger {
  /// The number with a comma before every three digits.
  package var grouped: String {
    let digits = String(magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return self < 0 ? "-" + text : text
  }
}

extension Double {
  /// The number with the given count of digits behind the point.
  package func fixed(_ digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    guard let scaled = Int64(exactly: (magnitude * scale).rounded()) else { return "\(self)" }
    let text = String(scaled)
    let padded = String(repeating: "0", count: Swift.max(0, digits + 1 - text.count)) + text
    let sign = self < 0 && scaled != 0 ? "-" : ""
    return sign + padded.dropLast(digits) + (digits > 0 ? "." + padded.suffix(digits) : "")
  }
}
