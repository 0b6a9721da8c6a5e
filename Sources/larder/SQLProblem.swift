import Larder
import LarderTerminal

extension Failure {
  /// What is wrong with SQL of the command line, with the place of it; nil where it isn't that.
  init?(inSQL error: DatabaseError) {
    let primary = error.code
    switch primary {
    case .error, .misuse, .range, .mismatch, .tooBig, .authorization:
      // What else a program could call is no advice here.
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

/// The SQL that an argument gives: the text itself, or that of the standard input for `-`.
func sqlText(_ argument: String) throws -> String {
  guard argument == "-" else { return argument }
  var text = ""
  while let line = readLine(strippingNewline: false) {
    try Interruption.check()
    text += line
  }
  return text
}
