/// Rows in columns that are aligned by display width.
struct TextTable {
  private let header: [String]
  private let rightAligned: Set<Int>
  private var rows: [[String]] = []

  /// - Parameters:
  ///   - header: the columns' titles.
  ///   - numbers: the positions of those that are aligned on the right.
  init(_ header: String..., numbers: Set<Int> = []) {
    self.header = header
    rightAligned = numbers
  }

  mutating func add(_ cells: String...) { rows.append(cells.map(\.printable)) }

  /// The lines, of which the first is the header.
  var lines: [String] {
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
  var grouped: String {
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
  /// The number with so many digits behind the point.
  func fixed(_ digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    guard let scaled = Int64(exactly: (magnitude * scale).rounded()) else { return "\(self)" }
    let text = String(scaled)
    let padded = String(repeating: "0", count: Swift.max(0, digits + 1 - text.count)) + text
    let sign = self < 0 && scaled != 0 ? "-" : ""
    return sign + padded.dropLast(digits) + (digits > 0 ? "." + padded.suffix(digits) : "")
  }
}
