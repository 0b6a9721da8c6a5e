// Numbers are read from the file's bytes: making texts of them first takes as long as all the rest.

extension FixedWidthInteger {
  /// The number that stands there in decimal digits, perhaps behind a sign.
  init?(decimal bytes: ArraySlice<UInt8>) {
    let isNegative = bytes.first == UInt8(ascii: "-")
    let digits = isNegative || bytes.first == UInt8(ascii: "+") ? bytes.dropFirst() : bytes
    if digits.isEmpty { return nil }
    var number: Self = 0
    for byte in digits {
      guard let digit = byte.decimalDigit.map({ Self($0) }) else { return nil }
      let (tenfold, isTooMuch) = number.multipliedReportingOverflow(by: 10)
      let (next, isOver) =
        isNegative
        ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
      if isTooMuch || isOver { return nil }
      number = next
    }
    self = number
  }
}

extension Double {
  /// The number that stands there in digits, perhaps with a point, a sign and an exponent.
  init?(decimal bytes: ArraySlice<UInt8>) {
    if let short = Self(short: bytes) {
      self = short
      return
    }
    // Swift also takes hexadecimal digits, and words such as “inf”.
    let allowed = Array("+-.0123456789eE".utf8)
    guard bytes.allSatisfy(allowed.contains),
      let number = Self(String(decoding: bytes, as: UTF8.self))
    else { return nil }
    self = number
  }

  /// A number without exponent that has so few digits, 15, that the division of two numbers that are
  /// exact rounds it correctly.
  private init?(short bytes: ArraySlice<UInt8>) {
    var digits: Int64 = 0
    var count = 0
    var divisor = 1.0
    var hasPoint = false
    let isNegative = bytes.first == UInt8(ascii: "-")
    for byte in isNegative ? bytes.dropFirst() : bytes {
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
  fileprivate var decimalDigit: UInt8? {
    let digit = self &- UInt8(ascii: "0")
    return digit < 10 ? digit : nil
  }
}
