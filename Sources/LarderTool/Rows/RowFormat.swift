import Larder
import LarderTerminal

/// The format of the rows in a file that `export` writes and `import` reads.
///
/// A round trip keeps every value. In CSV a text is quoted if it could be mistaken for something else, NULL
/// is nothing (or a text that was chosen for it), and a blob is `x'0AFF'`. In JSON Lines a blob is
/// `{"base64": "Cv8="}`. Numbers have as many digits as they need; infinities are ±9e999.
enum RowFormat: Equatable {
  case csv(delimiter: UInt8, null: [UInt8])
  case jsonLines

  static let options = [
    Option(
      "csv", nil, "comma-separated values (the default, unless the file's name says otherwise)"),
    Option("tsv", nil, "values separated by tabs"),
    Option("jsonl", nil, "a JSON object in each line"),
    Option("delimiter", "CHARACTER", "the character that separates values (a comma)"),
    Option("null", "TEXT", "the text that stands for NULL in CSV (nothing)"),
    Option("no-header", nil, "CSV whose first line holds values instead of column names"),
  ]

  /// The format by the options, or else by the file's extension.
  init(_ invocation: Invocation, path: String?) throws {
    switch try invocation.choice(of: ["csv", "tsv", "jsonl"]) ?? Self.format(ofPath: path) {
    case "jsonl":
      for option in ["delimiter", "null", "no-header"] where invocation.has(option) {
        throw Failure(.usage, "--\(option) is only for CSV")
      }
      self = .jsonLines
    case let name:
      let null = Array((invocation.text("null") ?? "").utf8)
      let delimiter = try Self.delimiter(invocation) ?? (name == "tsv" ? 9 : comma)
      let isPlain = !null.contains { $0 == delimiter || "\"\r\n".utf8.contains($0) }
      guard isPlain, null.isEmpty || Double(decimal: null) == nil, !BlobLiteral.mayBegin(null)
      else {
        throw Failure(
          .usage,
          "--null has to be a text without quotes, line breaks and the delimiter, and neither a number nor x'…'"
        )
      }
      self = .csv(delimiter: delimiter, null: null)
    }
  }

  private static func format(ofPath path: String?) -> String {
    let name = path?.lowercased() ?? ""
    if name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson") { return "jsonl" }
    return name.hasSuffix(".tsv") ? "tsv" : "csv"
  }

  private static func delimiter(_ invocation: Invocation) throws -> UInt8? {
    guard let text = invocation.text("delimiter") else { return nil }
    guard text.utf8.count == 1, let byte = text.utf8.first,
      !"\"\r\n\0'.+-".utf8.contains(byte), text.allSatisfy({ !$0.isLetter && !$0.isNumber })
    else {
      throw Failure(
        .usage,
        "--delimiter has to be one ASCII character that can't be part of a number, not “\(text)”")
    }
    return byte
  }
}

/// A blob as SQL writes it: `x'0AFF'`.
enum BlobLiteral {
  static func mayBegin(_ bytes: some Collection<UInt8>) -> Bool {
    var iterator = bytes.makeIterator()
    guard let first = iterator.next(), first | 0x20 == UInt8(ascii: "x") else { return false }
    return iterator.next() == UInt8(ascii: "'")
  }

  /// Parses a blob literal; nil if the text isn't one.
  static func bytes(_ text: LentBytes) -> [UInt8]? {
    guard mayBegin(text), text.count >= 3, text.count % 2 == 1,
      text[text.count - 1] == UInt8(ascii: "'")
    else { return nil }
    var blob: [UInt8] = []
    blob.reserveCapacity((text.count - 3) / 2)
    for index in stride(from: 2, to: text.count - 1, by: 2) {
      guard let high = text[index].hexadecimalDigit, let low = text[index + 1].hexadecimalDigit
      else { return nil }
      blob.append(high << 4 | low)
    }
    return blob
  }
}
