import Larder
import LarderTerminal

extension Failure {
  /// Describes an error in the command line's SQL, with its position; nil for an error with another cause.
  init?(inSQL error: DatabaseError) {
    let ofStatement: [ResultCode] = [.error, .misuse, .range, .mismatch, .tooBig, .authorization]
    guard ofStatement.contains(error.code) else { return nil }
    // Drops the advice to use another API, which is for programmers.
    let message = error.message.split(separator: "; use ").first.map(String.init) ?? ""
    let reason =
      error.code == .authorization
      ? "only reading is allowed, unless --write is given (\(message))" : message
    var place = ""
    if let offset = error.offset, let sql = error.sql {
      let lines = sql.utf8.prefix(offset).split(
        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let column = (lines.last.map { String(Substring($0)) } ?? "").unicodeScalars.count + 1
      place = (lines.count > 1 ? ", at line \(lines.count)," : ", at") + " character \(column)"
    }
    self.init(.usage, "the SQL can't be run: \(reason)\(place)")
  }
}

/// The SQL of an argument: the argument itself, or the standard input's text for `-`.
func sqlText(_ argument: String) throws -> String {
  guard argument == "-" else { return argument }
  var text = ""
  while let line = readLine(strippingNewline: false) {
    try Interruption.check()
    text += line
  }
  return text
}
