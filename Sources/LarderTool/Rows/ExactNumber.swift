import LarderTerminal

/// The exact value of a number in decimal digits: `1.50`, `+1.5` and `15e-1` are equal.
struct DecimalNumber: Hashable {
  private let isNegative: Bool
  /// The digits, without leading or trailing zeros.
  private let digits: [UInt8]
  /// The power of ten by which the digits are multiplied.
  private let exponent: Int

  /// Parses a decimal number; nil if the text isn't one.
  init?(_ text: some Collection<UInt8>) {
    var rest = text[...]
    let sign = rest.first
    if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
    var power = 0
    if let mark = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      guard let written = Int32(decimal: rest[rest.index(after: mark)...]) else { return nil }
      power = Int(written)
      rest = rest[..<mark]
    }
    var digits: [UInt8] = []
    var hasPoint = false
    var isEmpty = true
    for byte in rest {
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
        continue
      }
      guard let digit = byte.decimalDigit else { return nil }
      isEmpty = false
      if hasPoint { power -= 1 }
      if digit != 0 || !digits.isEmpty { digits.append(digit) }
    }
    if isEmpty { return nil }
    while digits.last == 0 {
      digits.removeLast()
      power += 1
    }
    self.digits = digits
    exponent = digits.isEmpty ? 0 : power
    isNegative = !digits.isEmpty && sign == UInt8(ascii: "-")
  }
}
