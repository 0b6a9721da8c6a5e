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

  /// Nil if rounding the Double may give another Float than rounding the number.
  var float: Float? {
    let double = double
    // Doubles half-way between two Floats, of which one bit is set behind those of the Float.
    guard double.significandBitPattern & 0x1FFF_FFFF != 0x1000_0000 else { return nil }
    return Float(double)
  }

  /// Nil if the number isn't whole.
  var integer: Int64? {
    let (whole, rest) = magnitude.quotientAndRemainder(dividingBy: Self.wholePowers[fractionDigits])
    return rest == 0 ? (isNegative ? -whole : whole) : nil
  }

  var decimal: Decimal {
    Decimal(
      sign: isNegative ? .minus : .plus, exponent: -fractionDigits, significand: Decimal(magnitude))
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]
  private static let wholePowers = powers.map { Int64($0) }
}
