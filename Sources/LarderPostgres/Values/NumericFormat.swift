import LarderSQLite

/// NUMERIC's binary format, in 16 bits each: the number of groups of four decimal digits, the power of 10,000
/// of the first group, a sign, the number of digits after the point, and the groups.
///
/// See [numeric_send](https://github.com/postgres/postgres/blob/master/src/backend/utils/adt/numeric.c).
enum NumericFormat {
  static let negative: UInt16 = 0x4000
  /// The values without digits, by their sign.
  private static let names: [UInt16: String] = [
    0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity",
  ]
  /// The most digits after the point that the server allows.
  static let largestScale = 16_383

  /// The number as text, with all of its digits after the point; nil for bytes that aren't a number.
  static func text(of bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.count >= 8 else { return nil }
    let count = Int(bytes.bigEndian(UInt16.self))
    let weight = Int(bytes.bigEndian(Int16.self, at: 2))
    let sign = bytes.bigEndian(UInt16.self, at: 4)
    let scale = Int(bytes.bigEndian(UInt16.self, at: 6))
    guard bytes.count == 8 + 2 * count else { return nil }
    if let name = names[sign] { return name }
    guard sign == 0 || sign == negative else { return nil }
    var digits = String(repeating: "0000", count: max(0, -1 - weight))
    for index in 0..<count {
      let group = String(bytes.bigEndian(UInt16.self, at: 8 + 2 * index))
      digits += String(repeating: "0", count: max(0, 4 - group.utf8.count)) + group
    }
    let wholeCount = max(0, 4 * (weight + 1))
    digits += String(repeating: "0", count: max(0, wholeCount + scale - digits.utf8.count))
    let whole = digits.prefix(wholeCount).drop { $0 == "0" }
    let fraction = digits.dropFirst(wholeCount).prefix(scale)
    return (sign == negative ? "-" : "") + (whole.isEmpty ? "0" : whole)
      + (scale > 0 ? ".\(fraction)" : "")
  }
}

extension WireBuffer {
  /// Appends a number from its text. Equal numbers become the same bytes.
  mutating func writeNumeric(_ text: UnsafeRawBufferPointer) throws {
    guard let number = DecimalNumber(text) else { throw ConversionError(.malformed, String.self) }
    // Groups are counted from the point, in both directions.
    let whole = number.digits.count + number.exponent
    let padding = (4 - whole % 4) % 4
    var digits = Array(repeating: 0 as UInt8, count: padding) + number.digits
    digits += repeatElement(0, count: (4 - digits.count % 4) % 4)
    let groups = stride(from: 0, to: digits.count, by: 4).map { index in
      digits[index..<(index + 4)].reduce(0 as UInt16) { $0 * 10 + UInt16($1) }
    }
    guard let weight = Int16(exactly: (whole + padding) / 4 - 1),
      let count = Int16(exactly: groups.count), -number.exponent <= NumericFormat.largestScale
    else { throw ConversionError(.notExact, String.self) }
    append(bigEndian: groups.isEmpty ? 0 : count)
    append(bigEndian: groups.isEmpty ? 0 : weight)
    append(bigEndian: number.isNegative ? NumericFormat.negative : 0)
    append(bigEndian: UInt16(Swift.max(0, -number.exponent)))
    for group in groups { append(bigEndian: group) }
  }
}
