// Numbers are read from the file's bytes: making texts of them first takes as long as all the rest.

extension FixedWidthInteger {
  /// The number that stands there in decimal digits, perhaps behind a sign.
  @inlinable
  package init?(decimal bytes: some Sequence<UInt8>) {
    var isNegative = false
    var isEmpty = true
    var isFirst = true
    var number: Self = 0
    for byte in bytes {
      if isFirst {
        isFirst = false
        isNegative = byte == UInt8(ascii: "-")
        if isNegative || byte == UInt8(ascii: "+") { continue }
      }
      isEmpty = false
      guard let digit = byte.decimalDigit.map({ Self($0) }) else { return nil }
      let (tenfold, isTooMuch) = number.multipliedReportingOverflow(by: 10)
      let (next, isOver) =
        isNegative
        ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
      if isTooMuch || isOver { return nil }
      number = next
    }
    if isEmpty { return nil }
    self = number
  }
}

extension Double {
  /// The number that stands there in digits, perhaps with a point, a sign and an exponent.
  @inlinable
  package init?(decimal bytes: some Collection<UInt8>) {
    if let short = Self(short: bytes) {
      self = short
      return
    }
    // Swift also takes hexadecimal digits, and words such as “inf”.
    guard bytes.allSatisfy(\.isOfDecimal),
      let number = Self(String(decoding: bytes, as: UTF8.self))
    else { return nil }
    self = number
  }

  /// A number without exponent that has so few digits, 15, that the division of two numbers that are
  /// exact rounds it correctly.
  @inlinable
  init?(short bytes: some Collection<UInt8>) {
    var digits: Int64 = 0
    var count = 0
    var divisor = 1.0
    var hasPoint = false
    var isNegative = false
    var isFirst = true
    for byte in bytes {
      if isFirst {
        isFirst = false
        isNegative = byte == UInt8(ascii: "-")
        if isNegative { continue }
      }
      if byte == UInt8(ascii: "."), !hasPoint, count > 0 {
        hasPoint = true
        continue
      }
      guard let digit = byte.decimalDigit, count < 15 else { return nil }
      digits = digits * 10 + Int64(digit)
      count += 1
      if hasPoint { divisor *= 10 }
    }
    if count == 0 { return nil }
    let magnitude = Double(digits) / divisor
    self = isNegative ? -magnitude : magnitude
  }
}

extension UInt8 {
  @inlinable
  package var decimalDigit: UInt8? {
    let digit = self &- UInt8(ascii: "0")
    return digit < 10 ? digit : nil
  }

  @inlinable
  var isOfDecimal: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }
}
