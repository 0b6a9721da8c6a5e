import Larder
import LarderTerminal

/// The type of a new column, guessed from a file's first records.
struct ColumnGuess {
  let name: String
  private var kinds: Set<Kind> = []
  /// Whether there is an integer that a real number can't represent exactly.
  private var isTooLongForReal = false

  private enum Kind { case integer, real, text, blob }

  /// The number of records that are examined.
  private static let most = 1000

  /// Whether the file is JSON, whose quotes distinguish texts from numbers: each can then keep its own type.
  private var isOfJSON = false

  init(name: String) { self.name = name }

  /// Guesses the types of a file's columns, and rewinds the file, so that the import reads the records again.
  static func guesses(_ source: RowSource, _ names: [String]?) throws -> [ColumnGuess] {
    source.setMark()
    defer { source.rewind() }
    var guesses = (names ?? []).map { ColumnGuess(name: $0) }
    let places = (names ?? []).places
    for _ in 0..<most {
      do {
        guard try source.next() else { break }
        try see(source, &guesses, places)
      } catch is BadLine, is FieldProblem {
        // The import reads the record again, and reports the problem then.
      }
    }
    return guesses
  }

  private static func see(
    _ source: RowSource, _ guesses: inout [ColumnGuess], _ places: [[UInt8]: Int]
  ) throws {
    switch source {
    case .csv(let reader, let null):
      if guesses.isEmpty {
        guesses = (0..<reader.fieldCount).map { ColumnGuess(name: "column\($0 + 1)") }
      }
      for index in guesses.indices where index < reader.fieldCount {
        reader.withBytes(index) { bytes in
          if reader.isQuoted(index) { return guesses[index].see(.text(bytes)) }
          if !bytes.elementsEqual(null) { guesses[index].see(.bare(bytes)) }
        }
      }
    case .jsonLines(let reader):
      try reader.withBytes { bytes in
        let object = try JSONLine(bytes, line: reader.line)
        for (member, name) in zip(object.members, try object.names()) {
          guard let index = places[name.foldedName] else { continue }
          guesses[index].isOfJSON = true
          try object.withField(member) { guesses[index].see($0) }
        }
      }
    }
  }

  private mutating func see(_ field: FileField) {
    switch field {
    case .null: break
    case .bool: kinds.insert(.integer)
    case .text: kinds.insert(.text)
    case .base64: kinds.insert(.blob)
    case .bare(let bytes):
      if bytes.isKept(asReal: false), Int64(decimal: bytes) != nil {
        kinds.insert(.integer)
        if !bytes.isKept(asReal: true) { isTooLongForReal = true }
      } else if bytes.isKept(asReal: true), !bytes.isInteger {
        kinds.insert(.real)
      } else {
        kinds.insert(BlobLiteral.bytes(bytes) == nil ? .text : .blob)
      }
    }
  }

  /// The declared type; empty if every type would change some of the values.
  var type: String {
    if kinds.contains(.blob) { return kinds.count == 1 ? "BLOB" : "" }
    if kinds.contains(.text), isOfJSON, kinds.count > 1 { return "" }
    if kinds.contains(.text) || kinds.isEmpty { return "TEXT" }
    guard kinds.contains(.real) else { return "INTEGER" }
    return isTooLongForReal ? "" : "REAL"
  }
}
