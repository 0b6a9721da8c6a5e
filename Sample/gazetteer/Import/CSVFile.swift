import LarderTerminal

/// A file of records of one kind, whose first line names the columns.
struct CSVFile {
  let path: String
  let reader: CSVReader
  /// The names of the columns, by which a file is known.
  let header: [String]

  init(path: String) throws {
    self.path = path
    let reader = try CSVReader(path: path)
    self.reader = reader
    do {
      guard try reader.next() else { throw Failure("\(path): the file is empty") }
      header = try (0..<reader.fieldCount).map { try reader.text($0) }
    } catch let bad as BadLine {
      throw Self.failure(bad, path)
    }
  }

  /// The next record, whose fields are as many as the columns; nil at the end of the file. Throws
  /// ``BadLine``.
  func next() throws -> CSVFields? {
    guard try reader.next() else { return nil }
    guard reader.fieldCount == header.count else {
      throw BadLine(
        line: reader.line,
        problem: "it has \(reader.fieldCount) fields, and the header \(header.count)")
    }
    return CSVFields(reader: reader, header: header)
  }

  /// Which part of the file was read, from 0 to 1; 0 where its size isn't known.
  var partRead: Double { reader.partRead }

  func failure(_ bad: BadLine) -> Failure { Self.failure(bad, path) }

  private static func failure(_ bad: BadLine, _ path: String) -> Failure {
    Failure("\(path):\(bad.line): \(bad.problem)")
  }
}

/// The fields of a record, by their positions. What doesn't have the form of a column throws
/// ``BadLine``.
struct CSVFields {
  fileprivate let reader: CSVReader
  fileprivate let header: [String]

  func text(_ index: Int) throws -> String {
    let text = try reader.text(index)
    if text.isEmpty { throw bad("\(header[index]) is missing") }
    return text
  }

  func optionalText(_ index: Int) throws -> String? {
    let text = try reader.text(index)
    return text.isEmpty ? nil : text
  }

  func list(_ index: Int) throws -> [String] {
    try reader.text(index).split(separator: ",").map(String.init)
  }

  func integer<Number: FixedWidthInteger>(_ index: Int, in range: ClosedRange<Number>) throws
    -> Number
  {
    guard let number = Number(decimal: reader.bytes(index)) else {
      throw bad(index, "a whole number")
    }
    guard range.contains(number) else {
      throw bad("\(header[index]) is \(number), which is out of range")
    }
    return number
  }

  func real(_ index: Int, in range: ClosedRange<Double>) throws -> Double {
    guard let number = Double(decimal: reader.bytes(index)) else {
      throw bad(index, "a number")
    }
    guard range.contains(number) else {
      throw bad("\(header[index]) is \(number), which is out of range")
    }
    return number
  }

  func optionalReal(_ index: Int, in range: ClosedRange<Double>) throws -> Double? {
    try reader.bytes(index).isEmpty ? nil : real(index, in: range)
  }

  func bad(_ problem: String) -> BadLine { BadLine(line: reader.line, problem: problem) }

  private func bad(_ index: Int, _ form: String) -> BadLine {
    guard let text = try? reader.text(index) else {
      return bad("\(header[index]) is not valid UTF-8")
    }
    return bad("\(header[index]) is “\(text.prefix(40))”, which is not \(form)")
  }
}
