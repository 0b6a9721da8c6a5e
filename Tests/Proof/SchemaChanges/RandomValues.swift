import Larder
import TestSupport

extension SeededGenerator {
  mutating func pick<T>(_ choices: [T]) -> T {
    choices[Int.random(in: 0..<choices.count, using: &self)]
  }

  /// True in so many of a hundred times.
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  /// A value that some type would change.
  mutating func value() -> DatabaseValue {
    let values: [DatabaseValue] = [
      .null, .integer(7), .integer(-1), .integer(9_007_199_254_740_993), .integer(.max),
      .integer(.random(in: 0...9, using: &self)), .real(0.1 + 0.2), .real(-0.0), .real(0), .real(5),
      .real(0.5), .real(1e300), .text("007"), .text("7"), .text("1e3"), .text(" 5"), .text("0.5"),
      .text("12345678901234567890"), .text("Oslo"), .text("oslo"), .text("caf\u{e9}"),
      .text("cafe\u{301}"), .text(""), .blob([]), .blob([0x37]), .text("5.0"),
    ]
    return values[Int.random(in: 0..<values.count, using: &self)]
  }
}
