/// An exact decimal number of any length. Decimals are compared and computed with it in SQL, where
/// Foundation's own operators would round.
package struct DecimalNumber: Hashable {
  /// The significant digits, without zeros at either end; empty for zero.
  package let digits: [UInt8]
  /// The power of ten of the last digit.
  package let exponent: Int
  package let isNegative: Bool

  static let zero = DecimalNumber([], 0, isNegative: false)

  /// Strips the zeros at both ends.
  private init(_ digits: some BidirectionalCollection<UInt8>, _ exponent: Int, isNegative: Bool) {
    var trimmed = digits.drop { $0 == 0 }
    let count = trimmed.count
    while trimmed.last == 0 { trimmed.removeLast() }
    self.digits = Array(trimmed)
    self.exponent = trimmed.isEmpty ? 0 : exponent + count - trimmed.count
    self.isNegative = isNegative && !trimmed.isEmpty
  }

  /// Parses an optional sign, digits with an optional point anywhere among them, and an optional exponent.
  /// Nil for anything else.
  package init?<Text: BidirectionalCollection<UInt8>>(_ text: Text) {
    var rest = text[...]
    func take(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> UInt8? {
      guard let byte = rest.first, byte == UInt8(ascii: first) || byte == UInt8(ascii: second)
      else { return nil }
      rest.removeFirst()
      return byte
    }
    func takeDigits() -> Text.SubSequence {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      rest = rest[digits.endIndex...]
      return digits
    }
    let isNegative = take("-", "+") == UInt8(ascii: "-")
    var digits = takeDigits().map { $0 - UInt8(ascii: "0") }
    let wholeCount = digits.count
    if take(".", ".") != nil { digits += takeDigits().map { $0 - UInt8(ascii: "0") } }
    guard !digits.isEmpty else { return nil }
    var exponent = wholeCount - digits.count
    if take("e", "E") != nil {
      let isDown = take("-", "+") == UInt8(ascii: "-")
      let power = takeDigits()
      guard !power.isEmpty else { return nil }
      let number = power.reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), 1 << 40) }
      exponent += isDown ? -number : number
    }
    guard rest.isEmpty else { return nil }
    self.init(digits, exponent, isNegative: isNegative)
  }

  /// The largest mantissa of Foundation's `Decimal`, 2¹²⁸ - 1.
  private static let largestMantissa = "340282366920938463463374607431768211455".utf8.map {
    $0 - UInt8(ascii: "0")
  }

  /// Whether a Decimal can hold the number: a mantissa of 128 bits times a power of ten from -128 to 127.
  var isDecimal: Bool {
    guard exponent >= -128 else { return digits.isEmpty }
    guard exponent <= 127 + 39 else { return false }
    let mantissa = digits + repeatElement(0, count: max(0, exponent - 127))
    return mantissa.count < 39
      || mantissa.count == 39 && !Self.largestMantissa.lexicographicallyPrecedes(mantissa)
  }

  /// The number as text, without an exponent; equal numbers are the same text.
  var text: [UInt8] {
    var text: [UInt8] = isNegative ? [UInt8(ascii: "-")] : []
    func append(_ digits: some Sequence<UInt8>) {
      text += digits.lazy.map { $0 + UInt8(ascii: "0") }
    }
    let wholeCount = digits.count + exponent
    if wholeCount <= 0 {
      append([0])
    } else {
      append(digits.prefix(wholeCount))
      append(repeatElement(0, count: max(0, exponent)))
    }
    guard exponent < 0 else { return text }
    text.append(UInt8(ascii: "."))
    append(repeatElement(0, count: max(0, -wholeCount)))
    append(digits.dropFirst(max(0, wholeCount)))
    return text
  }

  // MARK: Order

  /// A sort key, whose bytes sort as the numbers do: a sign, the magnitude, and the digits. Negative numbers
  /// are complemented and have an end byte, so that the longer of two that begin alike comes first.
  var key: [UInt8] {
    guard !digits.isEmpty else { return [1] }
    let size = UInt16(clamping: digits.count + exponent + 0x8000)
    let magnitude = [UInt8(size >> 8), UInt8(size & 0xff)] + digits.map { $0 + 1 }
    return isNegative ? [0] + magnitude.map(~) + [0xff] : [2] + magnitude
  }

  /// The number of a ``key``; nil for other bytes.
  init?(key: some BidirectionalCollection<UInt8>) {
    guard let sign = key.first, sign <= 2, sign != 1 || key.count == 1 else { return nil }
    let isNegative = sign == 0
    if isNegative && key.last != 0xff { return nil }
    let magnitude = key.dropFirst().dropLast(isNegative ? 1 : 0).map { isNegative ? ~$0 : $0 }
    guard sign == 1 || magnitude.count > 2 else { return nil }
    let digits = magnitude.dropFirst(2)
    guard digits.allSatisfy({ (1...10).contains($0) }) else { return nil }
    let size = magnitude.prefix(2).reduce(0) { $0 << 8 | Int($1) } - 0x8000
    self.init(digits.map { $0 - 1 }, size - digits.count, isNegative: isNegative)
  }

  // MARK: Arithmetic

  static prefix func - (number: DecimalNumber) -> DecimalNumber {
    DecimalNumber(number.digits, number.exponent, isNegative: !number.isNegative)
  }

  static func - (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber { left + -right }

  static func + (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    if left.digits.isEmpty { return right }
    if right.digits.isEmpty { return left }
    let exponent = min(left.exponent, right.exponent)
    let count =
      max(
        left.digits.count + left.exponent, right.digits.count + right.exponent) - exponent
    // Pads a number so that the operands align at the point, with one digit more in front for the carry.
    func aligned(_ number: DecimalNumber) -> [UInt8] {
      let end = Array(repeating: 0 as UInt8, count: number.exponent - exponent)
      return Array(repeating: 0, count: count + 1 - number.digits.count - end.count)
        + number.digits + end
    }
    var (greater, less) = (aligned(left), aligned(right))
    var isNegative = left.isNegative
    guard left.isNegative != right.isNegative else {
      var carry: UInt8 = 0
      for index in greater.indices.reversed() {
        let sum = greater[index] + less[index] + carry
        (greater[index], carry) = (sum % 10, sum / 10)
      }
      return DecimalNumber(greater, exponent, isNegative: isNegative)
    }
    if greater.lexicographicallyPrecedes(less) {
      swap(&greater, &less)
      isNegative.toggle()
    }
    var borrow: UInt8 = 0
    for index in greater.indices.reversed() {
      let difference = greater[index] + 10 - less[index] - borrow
      (greater[index], borrow) = (difference % 10, difference < 10 ? 1 : 0)
    }
    return DecimalNumber(greater, exponent, isNegative: isNegative)
  }

  static func * (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    var columns = Array(repeating: 0, count: left.digits.count + right.digits.count)
    for (row, digit) in left.digits.enumerated() {
      for (column, other) in right.digits.enumerated() {
        columns[row + column + 1] += Int(digit) * Int(other)
      }
    }
    var carry = 0
    for index in columns.indices.reversed() {
      let sum = columns[index] + carry
      (columns[index], carry) = (sum % 10, sum / 10)
    }
    return DecimalNumber(
      columns.map { UInt8($0) }, left.exponent + right.exponent,
      isNegative: left.isNegative != right.isNegative)
  }
}
