import LarderSQLite

// The checksum of a migration. It is stored in users' databases, in `larder_migration`, and compared
// with each later start: whatever this file computes has to stay the same in all versions of Larder, and
// with it `SQL.normalizedTokens`, the hash and the order of what is hashed.

extension SQL {
  /// A number of 64 bits, in hexadecimal, that differs where what the SQL does may differ.
  ///
  /// It guards against mistakes, not against malice; the hash is
  /// [FNV-1a](https://datatracker.ietf.org/doc/html/draft-eastlake-fnv).
  var checksum: String { checksum(of: tokensWithoutEnd) }

  /// What earlier versions made of the same SQL, for which semicolons at the end counted.
  var formerChecksums: [String] {
    let tokens = tokensWithoutEnd
    return (1...2).map { checksum(of: tokens + Array(repeating: ";", count: $0)) }
  }

  /// That of what another engine runs. In dollar quotes, and behind backslashes, its words aren't SQLite's:
  /// a text with any is one word.
  var engineChecksum: String {
    text.utf8.contains { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "\\") }
      ? checksum(of: [text]) : checksum
  }

  private var tokensWithoutEnd: [String] {
    let tokens = normalizedTokens
    let count = tokens.lastIndex { $0 != ";" }.map { $0 + 1 } ?? 0
    return Array(tokens.prefix(count))
  }

  private func checksum(of tokens: [String]) -> String {
    var hash = Hash()
    for piece in tokens { hash.add(tag: 0, piece.utf8) }
    for value in values { hash.add(value) }
    let digits = String(hash.value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

private struct Hash {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  private mutating func add(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  /// Adds what a piece is and how long, so that no two lists of pieces add up to the same.
  mutating func add(tag: UInt8, _ bytes: some Collection<UInt8>) {
    add(tag)
    for shift in 0..<8 { add(UInt8(truncatingIfNeeded: bytes.count >> (shift * 8))) }
    for byte in bytes { add(byte) }
  }

  mutating func add(_ value: (any DatabaseValueConvertible)?) {
    // What can't be stored makes the migration throw before anybody compares.
    switch (try? value?.databaseValue) ?? .null {
    case .null: add(tag: 1, [])
    case .integer(let integer): add(tag: 2, "\(integer)".utf8)
    case .real(let real): add(tag: 3, "\(real.bitPattern)".utf8)
    case .text(let text): add(tag: 4, text.utf8)
    case .blob(let bytes): add(tag: 5, bytes)
    }
  }
}
