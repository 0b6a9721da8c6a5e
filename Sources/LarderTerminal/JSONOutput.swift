/// JSON strings, for output that is written row by row.
package enum JSONText {
  /// The text as a JSON string, with its quotes.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      default: append(scalar, to: &result)
      }
    }
    return result + "\""
  }

  /// Escapes the characters of a JSON text that would change the terminal. In valid JSON they occur only
  /// within strings, where an escape is allowed.
  static func withoutControls(_ json: some StringProtocol) -> String {
    var result = ""
    for scalar in json.unicodeScalars { append(scalar, to: &result) }
    return result
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    guard scalar.changesTerminal else { return text.unicodeScalars.append(scalar) }
    let digits = String(scalar.value, radix: 16)
    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
