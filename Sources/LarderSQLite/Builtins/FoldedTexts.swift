import CSQLite

/// `larder_folded(x)`: a text in which letters other than those of ASCII are small, for a LIKE that ignores
/// the case of any letter: LIKE itself ignores that of ASCII letters. A text of ASCII stays as it is, and
/// anything but a text.
///
/// A letter's small form is Unicode's, whatever the locale: ẞ is ß (not ss), and İ is i with a dot above it.
/// The two small forms of Σ are one. Servers have the same from `lower` with ICU's root collation.
enum FoldedTexts {
  static var functions: [FunctionEntry] {
    [
      FunctionEntry("larder_folded", 1) {
        let call = FunctionCall($0, $1, $2)
        guard call[0].type == SQLITE_TEXT else { return call.setResult(call[0]) }
        guard let text = call[0].text else { return call.failForMemory() }
        if text.allSatisfy({ $0 < 0x80 }) { return call.setResult(call[0]) }
        call.setResult(FoldedTexts.folded(String(decoding: text, as: UTF8.self)))
      }
    ]
  }

  private static func folded(_ text: String) -> String {
    var folded = ""
    folded.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if scalar.isASCII {
        folded.unicodeScalars.append(scalar)
      } else {
        folded += scalar == "ς" ? "σ" : scalar.properties.lowercaseMapping
      }
    }
    return folded
  }
}
