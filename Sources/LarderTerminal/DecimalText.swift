// Numbers are parsed from the file's bytes: making a String of each first takes as long as everything else.

extension FixedWidthInteger {
  /// Parses decimal digits with an optional sign. Nil for anything else, and on overflow.
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
  /// Parses decimal digits with an optional point, sign and exponent.
  @inlinable
  package init?(decimal bytes: some Collection<UInt8>) {
    if let short = Self(short: bytes) {
      self = short
      return
    }
    // Swift's initializer also accepts hexadecimal digits, and words such as “inf”.
    guard bytes.allSatisfy(\.isOfDecimal),
      let number = Self(String(decoding: bytes, as: UTF8.self))
    else { return nil }
    self = number
  }

  /// The fast path, for numbers of at most 15 digits without an exponent. Digits and divisor are then exact
  /// doubles, so that one division rounds correctly.
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
