extension [UInt8] {
  /// Appends decimal digits.
  mutating func append(integer value: Int64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = value.magnitude
      var start = digits.count
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if value < 0 {
        start -= 1
        digits[start] = UInt8(ascii: "-")
      }
      append(contentsOf: digits[start...])
    }
  }

  /// Appends the shortest digits that identify the number, always with a point or an exponent; ±9e999 for
  /// an infinity.
  mutating func append(real value: Double) {
    guard value.isFinite else { return self += (value < 0 ? "-9e999" : "9e999").utf8 }
    append(description: value)
  }

  /// Appends a number as Swift writes it, infinities as words.
  mutating func append(description value: Double) {
    var text = value.description
    text.withUTF8 { append(contentsOf: $0) }
  }

  /// Appends two digits for each byte, in upper case.
  mutating func append(hexadecimal bytes: UnsafeRawBufferPointer) {
    reserveCapacity(Swift.max(count + 2 * bytes.count, capacity))
    var rest = bytes[...]
    while !rest.isEmpty {
      // In pieces, which fit on the stack.
      let piece = rest.prefix(512)
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * piece.count) { digits in
        for (index, byte) in piece.enumerated() {
          digits[2 * index] = (byte >> 4).upperDigit
          digits[2 * index + 1] = (byte & 15).upperDigit
        }
        append(contentsOf: digits)
      }
      rest = rest.dropFirst(piece.count)
    }
  }

  mutating func append(hexadecimalDigits byte: UInt8) {
    append((byte >> 4).upperDigit)
    append((byte & 15).upperDigit)
  }
}

extension UInt8 {
  /// The hexadecimal digit of a number below 16. Without a branch, several are made at once.
  fileprivate var upperDigit: UInt8 { self &+ UInt8(ascii: "0") &+ (self > 9 ? 7 : 0) }
}
