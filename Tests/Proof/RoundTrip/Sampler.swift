import Foundation
import TestSupport

/// Random values, in which what is rare elsewhere comes often: ends of ranges, zeros with a sign,
/// subnormal numbers, texts with NULs, quotes and characters of several scalars.
struct Sampler {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func chance(_ count: UInt64) -> Bool { random.next() % count == 0 }

  mutating func pick<T>(_ first: T, _ others: [T]) -> T {
    let index = Int(random.next() % UInt64(others.count + 1))
    return index == 0 ? first : others[index - 1]
  }

  mutating func maybe<T>(_ value: T) -> T? { chance(5) ? nil : value }

  /// An integer of any magnitude.
  mutating func integer<I: FixedWidthInteger>(_ type: I.Type = I.self) -> I {
    switch random.next() % 8 {
    case 0: return pick(0, [.min, .max, .min + 1, .max - 1, 1])
    default:
      let shift = random.next() % UInt64(I.bitWidth)
      return I(truncatingIfNeeded: random.next()) >> I(truncatingIfNeeded: shift)
    }
  }

  /// One that SQLite's 64 bits with a sign can hold.
  mutating func storable<I: FixedWidthInteger>(_ type: I.Type = I.self) -> I {
    let number: I = integer()
    return Int64(exactly: number) == nil ? number >> 1 : number
  }

  mutating func double() -> Double {
    switch random.next() % 8 {
    case 0:
      return pick(
        0,
        [
          -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
          .leastNormalMagnitude, .greatestFiniteMagnitude, 0.1, 1e22, 1e23, 0x1p53, 0x1p63, -0x1p63,
        ])
    case 1: return Double(bitPattern: random.next() >> 12 | random.next() << 63)
    case 2: return Double(integer(Int64.self))
    case 3: return Double(integer(Int32.self)) / 100
    default:
      let number = Double(bitPattern: random.next())
      return number.isNaN ? 0.5 : number
    }
  }

  mutating func float() -> Float {
    if chance(8) {
      return pick(
        0, [-0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
    }
    let number = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
    return number.isNaN ? -0.5 : number
  }

  mutating func text() -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<random.next() % (chance(50) ? 2000 : 12) {
      let scalar: Unicode.Scalar?
      switch random.next() % 6 {
      case 0:
        scalar = pick("'", ["\"", "\0", "\\", "%", "\u{301}", "\u{200D}", "\u{FEFF}", ";", "\n"])
      case 1: scalar = Unicode.Scalar(UInt32(random.next() % 0x11_0000))
      case 2: scalar = Unicode.Scalar(UInt32(0x1_F1E6 + random.next() % 26))
      default: scalar = Unicode.Scalar(UInt32(random.next() % 0x80))
      }
      if let scalar { text.append(scalar) }
    }
    // More than a statement keeps room for, which is bound in another way.
    if chance(2000) { text += ("\0" + String(repeating: "ø", count: 40_000)).unicodeScalars }
    return String(text)
  }

  mutating func bytes() -> [UInt8] {
    (0..<random.next() % (chance(50) ? 5000 : 24)).map { _ in
      UInt8(truncatingIfNeeded: random.next())
    }
  }

  mutating func uuid() -> UUID {
    let (one, two) = (random.next(), random.next())
    return UUID(
      uuid: withUnsafeBytes(of: (one, two)) { $0.loadUnaligned(as: uuid_t.self) })
  }

  mutating func decimal() -> Decimal {
    let digits = String(integer(UInt64.self)) + (chance(2) ? String(integer(UInt64.self)) : "")
    let sign = chance(2) ? "-" : ""
    let exponent = Int(random.next() % 120) - 80
    return Decimal(string: "\(sign)\(digits.prefix(38))e\(exponent)") ?? 0
  }

  /// A moment between 1900 and 2100.
  mutating func date() -> Date {
    let milliseconds = Int64(random.next() % 6_311_347_200_000) - 2_208_988_800_000
    let rest = chance(2) ? 0 : Double(random.next() % 1000) / 1_000_000
    return Date(timeIntervalSince1970: Double(milliseconds) / 1000 + rest)
  }

  mutating func url() -> URL {
    let path = text().unicodeScalars.prefix(8).map { "%" + String($0.value % 90 + 10) }.joined()
    return URL(string: "https://example.org:8080/\(path)?a=\(integer(UInt16.self))#b")
      ?? URL(fileURLWithPath: "/")
  }
}
