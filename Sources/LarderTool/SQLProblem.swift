import Larder
import LarderTerminal

extension Failure {
  /// Describes an error in the command line's SQL, with its position; nil for an error with another cause.
  init?(inSQL error: DatabaseError) {
    let primary = error.code
    switch primary {
    case .error, .misuse, .range, .mismatch, .tooBig, .authorization:
      // Drops the advice to use another API, which is for programmers.
      let message = error.message.split(separator: "; use ").first.map(String.init) ?? ""
      let reason =
        primary == .authorization
        ? "only reading is allowed, unless --write is given (\(message))" : message
      var place = ""
      if let offset = error.offset, let sql = error.sql {
        let before = sql.utf8.prefix(offset)
        let line = before.filter { $0 == UInt8(ascii: "\n") }.count + 1
        let rest = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let column = String(Substring(rest.last ?? before)).unicodeScalars.count + 1
        place = line > 1 ? ", at line \(line), character \(column)" : ", at character \(column)"
      }
      self.init(.usage, "the SQL can't be run: \(reason)\(place)")
    default:
      return nil
    }
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
