import CSQLite

/// `larder_kept(x, rule, name)`, which wraps expressions that are assigned to columns with numeric
/// or real affinity. It returns `x` as it is, and fails if the column would store another value:
/// SQLite makes numbers of texts that look like them, and keeps 15 digits of a real number.
enum KeptTexts {
  static var functions: [FunctionEntry] {
    [
      FunctionEntry("larder_kept", 3) {
        let call = FunctionCall($0, $1, $2)
        let rule = TextConversion(rawValue: Int(call[1].integer))
        if call[0].type == SQLITE_TEXT, rule.changes(call[0].string) {
          call.fail(rule.problem(of: call[2].string))
        } else {
          call.setResult(call[0])
        }
      }
    ]
  }
}

/// How a column of numbers converts the texts that are written to it.
package struct TextConversion: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// The texts are Decimals, which only have to stay equal.
  package static var ofDecimals: Self { Self(rawValue: 1) }
  /// Integers become real numbers too.
  package static var toReal: Self { Self(rawValue: 2) }

  /// Whether reading the column would give another value than this text.
  package func changes(_ text: String) -> Bool {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var bytes = Array(text.utf8.drop(while: isSpace))
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    guard let number = DecimalNumber(bytes) else { return false }
    guard contains(.ofDecimals) else { return true }
    // SQLite keeps 15 digits of a real number, and all digits of a 64-bit integer.
    if !contains(.toReal), number.exponent >= 0, Int64(text) != nil { return false }
    return number.digits.count > 15 || !(-290...290).contains(number.exponent)
  }

  fileprivate func problem(of name: String) -> String {
    contains(.ofDecimals)
      ? """
      “\(name)” keeps 15 digits of a number in the database, fewer than the assigned value has: round the \
      value, or declare the column TEXT
      """
      : """
      “\(name)” converts texts to numbers in the database, which would change the assigned value: declare \
      it TEXT
      """
  }
}
