import Larder

/// A decimal number of any length, as a sum of powers of ten: how Swift computes what Decimals in SQL shall be,
/// without anything of what Larder has for them.
struct ExactDecimal {
  /// How many times each power of ten is in it, which may be more than nine times, or less than none.
  private var terms: [Int: Int] = [:]

  /// Of an integer, or of text such as `-12.50` or `1e-9`.
  init(_ value: DatabaseValue) throws {
    switch value {
    case .integer(let number): try self.init("\(number)")
    case .real(let number): try self.init("\(number)")
    case .text(let text): try self.init(text)
    default: throw UnknownValue()
    }
  }

  init(_ text: String) throws {
    let parts = text.lowercased().split(separator: "e")
    guard let mantissa = parts.first, parts.count < 3 else { throw UnknownValue() }
    let power = parts.count > 1 ? Int(parts[1]) : 0
    let halves = mantissa.split(separator: ".", omittingEmptySubsequences: false)
    guard let power, halves.count < 3 else { throw UnknownValue() }
    let sign = text.hasPrefix("-") ? -1 : 1
    let whole = halves[0].filter { $0 != "-" && $0 != "+" }
    let digits = whole + (halves.count > 1 ? halves[1] : "")
    for (index, character) in digits.enumerated() {
      guard let digit = character.wholeNumberValue else { throw UnknownValue() }
      if digit > 0 { terms[whole.count - 1 - index + power] = digit * sign }
    }
  }

  private init(_ terms: [Int: Int]) { self.terms = terms }

  static func + (left: Self, right: Self) -> Self {
    Self(left.terms.merging(right.terms, uniquingKeysWith: +))
  }

  static func - (left: Self, right: Self) -> Self { left + Self(right.terms.mapValues { -$0 }) }

  static func * (left: Self, right: Self) -> Self {
    var terms: [Int: Int] = [:]
    for (power, count) in left.terms {
      for (other, number) in right.terms { terms[power + other, default: 0] += count * number }
    }
    return Self(terms)
  }

  /// The digits from the highest to the lowest that isn't 0, the power of ten of that, and the sign.
  private var written: (digits: [Int], exponent: Int, sign: Int) {
    guard let lowest = terms.keys.min(), let highest = terms.keys.max() else { return ([], 0, 0) }
    var digits: [Int] = []
    var carry = 0
    var power = lowest
    // What is carried ends as 0, or as -1 for ever, which is a number less than 0.
    while power <= highest || carry > 0 || carry < -1 {
      let sum = (terms[power] ?? 0) + carry
      let digit = ((sum % 10) + 10) % 10
      digits.append(digit)
      carry = (sum - digit) / 10
      power += 1
    }
    if carry == -1 {
      let opposite = Self(terms.mapValues { -$0 }).written
      return (opposite.digits, opposite.exponent, -1)
    }
    while digits.last == 0 { digits.removeLast() }
    let zeros = digits.prefix { $0 == 0 }.count
    if digits.isEmpty { return ([], 0, 0) }
    return (digits.dropFirst(zeros).reversed(), lowest + zeros, 1)
  }

  /// -1, 0 or 1.
  var sign: Int { written.sign }

  static func compare(_ left: DatabaseValue, _ right: DatabaseValue) throws -> Int {
    if left.isNull || right.isNull { return (left.isNull ? 0 : 1) - (right.isNull ? 0 : 1) }
    return (try Self(left) - Self(right)).sign
  }

  private static let largestMantissa = "340282366920938463463374607431768211455"

  /// The number as text without an exponent, as it is stored. Refused where no Decimal holds it: one has 128
  /// bits of digits, and a power of ten from -128 to 127.
  var stored: DatabaseValue {
    get throws {
      var (digits, exponent, sign) = written
      if sign == 0 { return .text("0") }
      if exponent > 127 {
        digits += Array(repeating: 0, count: exponent - 127)
        exponent = 127
      }
      let mantissa = digits.map(String.init).joined()
      let largest = Self.largestMantissa
      guard exponent >= -128,
        mantissa.count < largest.count
          || mantissa.count == largest.count && mantissa <= largest
      else { throw Refused("a decimal of too many digits") }
      var text = mantissa
      if exponent >= 0 {
        text += String(repeating: "0", count: exponent)
      } else {
        let zeros = String(repeating: "0", count: max(0, -exponent + 1 - text.count))
        text = zeros + text
        text.insert(".", at: text.index(text.endIndex, offsetBy: exponent))
      }
      return .text((sign < 0 ? "-" : "") + text)
    }
  }
}
