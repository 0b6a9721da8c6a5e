import LarderSQLite

// The checksum of a migration. It is stored in users' databases, in `larder_migration`, and compared at each
// later start. So its computation has to stay the same in all versions of Larder, and with it
// `SQL.normalizedTokens`, the hash, and the order in which it is fed.

extension SQL {
  /// A 64-bit checksum, in hexadecimal, that differs if the SQL's effect may differ.
  ///
  /// It guards against mistakes, not against malice; the hash is
  /// [FNV-1a](https://datatracker.ietf.org/doc/html/draft-eastlake-fnv).
  var checksum: String { checksum(of: tokensWithoutEnd) }

  /// The checksums of the same SQL in earlier versions, for which trailing semicolons counted.
  var formerChecksums: [String] {
    let tokens = tokensWithoutEnd
    return (1...2).map { checksum(of: tokens + Array(repeating: ";", count: $0)) }
  }

  /// The checksum of SQL for another engine. SQLite's tokenizer doesn't know dollar quotes and backslash
  /// escapes, so a text with either is hashed as one token.
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

  private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

  /// Adds a piece with its tag and length, so that no two lists of pieces feed the same bytes.
  mutating func add(tag: UInt8, _ bytes: some Collection<UInt8>) {
    add(tag)
    for shift in 0..<8 { add(UInt8(truncatingIfNeeded: bytes.count >> (shift * 8))) }
    for byte in bytes { add(byte) }
  }

  mutating func add(_ value: (any DatabaseValueConvertible)?) {
    // For a value that can't be stored, the migration throws before its checksum is compared.
    switch (try? value?.databaseValue) ?? .null {
    case .null: add(tag: 1, [])
    case .integer(let integer): add(tag: 2, "\(integer)".utf8)
    case .real(let real): add(tag: 3, "\(real.bitPattern)".utf8)
    case .text(let text): add(tag: 4, text.utf8)
    case .blob(let bytes): add(tag: 5, bytes)
    }
  }
}
