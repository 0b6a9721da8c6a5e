/// JSON strings, for output that is written row by row.
package enum JSONText {
  /// The text as a JSON string, with its quotes.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" || scalar.changesTerminal {
        result += escape(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// The escape of a character within a string.
  package static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": return "\\\""
    case "\\": return "\\\\"
    case "\n": return "\\n"
    case "\t": return "\\t"
    case "\r": return "\\r"
    default: return unicodeEscape(scalar)
    }
  }

  /// Escapes the characters of a JSON text that would change the terminal. In valid JSON they occur only
  /// within strings, where an escape is allowed.
  static func withoutControls(_ json: some StringProtocol) -> String {
    var result = ""
    for scalar in json.unicodeScalars {
      if scalar.changesTerminal {
        result += unicodeEscape(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func unicodeEscape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
