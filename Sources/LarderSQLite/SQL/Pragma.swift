/// A PRAGMA with its name, database and argument. See [PRAGMA](https://www.sqlite.org/pragma.html).
///
/// SQLite runs most PRAGMAs that set something while it compiles them, even if the statement then turns
/// out to be wrong, or is only explained. So these are compiled twice: at first with another name,
/// which checks the syntax and does nothing, and in earnest each time they are about to run.
final class Pragma {
  let name: String
  /// The database that it is about, as written in the statement; nil for none.
  let schema: String?
  /// The database without quotes.
  let schemaName: String?
  /// The text that follows the name, without quotes; nil if there is none.
  let argument: String?
  let isExplained: Bool
  /// The statement with a name that SQLite doesn't know, of the same length: an unknown PRAGMA does nothing.
  let blanked: SQLText

  /// Reads the tokens after the word PRAGMA, in the statement that begins at a position; nil if there
  /// is no name.
  init?(_ scanner: inout SQLScanner, from start: Int, isExplained: Bool) {
    var tokens: [SQLToken] = []
    var end = scanner.end
    while let token = scanner.nextToken() {
      guard !token.isSemicolon else {
        end = token.bytes.endIndex
        break
      }
      tokens.append(token)
    }
    func isSign(_ index: Int, _ signs: String) -> Bool {
      tokens.indices.contains(index) && tokens[index].kind == .other
        && tokens[index].bytes.allSatisfy(signs.utf8.contains)
    }
    let position = isSign(1, ".") ? 2 : 0
    guard tokens.indices.contains(position) else { return nil }
    name = tokens[position].name.folded
    schema = position == 2 ? tokens[0].text : nil
    schemaName = position == 2 ? tokens[0].name : nil
    argument = isSign(position + 1, "=(") ? tokens[(position + 2)...].map(\.name).joined() : nil
    self.isExplained = isExplained
    var bytes = Array(scanner.bytes[start..<end])
    for index in tokens[position].bytes.indices { bytes[index - start] = UInt8(ascii: "_") }
    blanked = SQLText(bytes: bytes + [0])
  }

  var qualifiedName: String { (schema.map { $0 + "." } ?? "") + name.quotedIdentifier }

  /// Whether it changes something, on the connection or in the file, rather than reporting it.
  var acts: Bool { argument == nil ? Self.acting.contains(name) : !Self.reporting.contains(name) }

  /// Whether SQLite must not see it before it runs: it would act at once, or report a wrong value.
  var isPreparedToRun: Bool { !isExplained && (acts || Self.answeredHere.contains(name)) }

  /// Whether it sets something of the connection that can be restored, rather than the content of the
  /// file, something of the whole process, or something that ends with the transaction.
  var isSetting: Bool { acts && argument != nil && !Self.lasting.contains(name) }

  /// The argument as the number that SQLite reads: 0 if it is none, or exceeds 32 bits.
  var number: Int {
    guard let argument else { return 0 }
    if argument.utf8.starts(with: "0x".utf8) || argument.utf8.starts(with: "0X".utf8) {
      return Int32(argument.dropFirst(2), radix: 16).map(Int.init) ?? 0
    }
    let sign = argument.prefix { $0 == "-" || $0 == "+" }.prefix(1)
    let digits = argument.dropFirst(sign.count).prefix { $0.isASCII && $0.isNumber }
    return Int32(sign + digits).map(Int.init) ?? 0
  }

  static let acting: Set<String> = ["incremental_vacuum", "wal_checkpoint", "optimize"]

  static let reporting: Set<String> = [
    "table_info", "table_xinfo", "table_list", "index_info", "index_xinfo", "index_list",
    "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check",
  ]

  /// The PRAGMAs of the busy handler and the log's hook, which are the connection's own.
  private static let answeredHere: Set<String> = ["busy_timeout", "wal_autocheckpoint"]

  private static let lasting: Set<String> = [
    "application_id", "auto_vacuum", "data_store_directory", "default_cache_size",
    "defer_foreign_keys", "encoding", "hard_heap_limit", "incremental_vacuum", "journal_mode",
    "optimize", "page_size", "schema_version", "shrink_memory", "soft_heap_limit",
    "temp_store_directory", "user_version", "wal_checkpoint",
  ]
}
