import LarderSQLite
import LarderTerminal

/// What the first records say of a column that is to be made.
struct ColumnGuess {
  let name: String
  private var kinds: Set<Kind> = []
  /// Whether there is an integer with more digits than a real number has.
  private var isTooLongForReal = false

  private enum Kind { case integer, real, text, blob }

  /// So many records are looked at.
  private static let most = 1000

  /// Whether texts are told from numbers by their quotes, so that each can be stored as what it is.
  private var isOfJSON = false

  init(name: String) { self.name = name }

  /// Those of a file's columns, whose records are read once more afterwards.
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
        // It is told when it is read once more.
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

  /// The declared type; none for a column whose values would become others by any.
  var type: String {
    if kinds.contains(.blob) { return kinds.count == 1 ? "BLOB" : "" }
    if kinds.contains(.text), isOfJSON, kinds.count > 1 { return "" }
    if kinds.contains(.text) || kinds.isEmpty { return "TEXT" }
    guard kinds.contains(.real) else { return "INTEGER" }
    return isTooLongForReal ? "" : "REAL"
  }
}
