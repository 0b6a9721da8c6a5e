import FoundationEssentials

/// A number without an exponent, of at most 15 digits: an integer divided by a power of ten. Both are exact as Doubles,
/// so that one division makes the nearest Double.
struct JSONNumber {
  private var magnitude: Int64 = 0
  private var fractionDigits = 0
  private var isNegative = false

  init?(_ text: Slice<UnsafeBufferPointer<UInt8>>) {
    var (digits, isFraction) = (0, false)
    for byte in text {
      switch byte {
      case 0x30...0x39:
        magnitude = magnitude &* 10 &+ Int64(byte &- 0x30)
        digits += 1
        if isFraction { fractionDigits += 1 }
      case UInt8(ascii: "-") where digits == 0: isNegative = true
      case UInt8(ascii: "."): isFraction = true
      default: return nil
      }
      if digits > 15 { return nil }
    }
  }

  var double: Double {
    let value = Double(magnitude) / Self.powers[fractionDigits]
    return isNegative ? -value : value
  }

  /// Nil if the number has too many digits for a single division.
  var float: Float? {
    guard magnitude < 1 << 24, fractionDigits <= 10 else { return nil }
    let value = Float(magnitude) / Float(Self.powers[fractionDigits])
    return isNegative ? -value : value
  }

  var decimal: Decimal {
    Decimal(
      sign: isNegative ? .minus : .plus, exponent: -fractionDigits, significand: Decimal(magnitude))
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]
}
