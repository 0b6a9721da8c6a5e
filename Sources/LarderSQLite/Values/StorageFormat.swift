/// The form in which a connection stores values, in one byte. A ``ColumnReader`` is then two words, which
/// calls pass in registers. With two fields instead, a look-up of a row of seven columns took 5 % longer.
@usableFromInline
package struct StorageFormat: Sendable {
  @usableFromInline let bits: UInt8

  /// Whether the database stores text as UTF-16. SQLite's conversion silently changes malformed UTF-16.
  @inlinable
  var isUTF16: Bool { bits & 1 != 0 }

  /// Whether text isn't plain UTF-8 from SQLite: one test for UTF-16 and other engines.
  @inlinable
  var isSpecial: Bool { bits & 0x81 != 0 }
}
