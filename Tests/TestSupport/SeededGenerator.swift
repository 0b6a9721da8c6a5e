/// Random numbers that are the same for the same seed, by
/// [SplitMix64](https://prng.di.unimi.it/splitmix64.c), and values made of them.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  private var choices: ArraySlice<UInt8> = []

  package init(seed: UInt64) { state = seed }

  /// Numbers of which each byte changes one, for a fuzzer.
  package init(bytes: [UInt8]) {
    state = 0
    choices = bytes[...]
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31) ^ UInt64(choices.popFirst() ?? 0) << 56
  }

  /// An integer of any magnitude: SQLite stores them in seven widths.
  package mutating func integer() -> Int64 {
    Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self)
  }

  /// Any number but NaN, subnormal and infinite ones included.
  package mutating func real() -> Double {
    while true {
      let number = Double(bitPattern: next())
      if !number.isNaN { return number }
    }
  }

  /// Text of any characters, NUL and those beyond the basic plane included.
  package mutating func text() -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...40, using: &self) {
      let largest: UInt32 = [0x7f, 0x7ff, 0xffff, 0x10_ffff].randomElement(using: &self) ?? 0x7f
      if let scalar = Unicode.Scalar(UInt32.random(in: 0...largest, using: &self)) {
        text.append(scalar)
      }
    }
    return String(text)
  }

  package mutating func bytes() -> [UInt8] {
    (0..<Int.random(in: 0...300, using: &self)).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
