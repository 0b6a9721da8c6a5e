/// How a connection's values are stored, in one byte: a ``ColumnReader`` is then two words, which calls pass
/// in registers. With two fields instead a look-up of a row of seven columns took 5 % longer.
@usableFromInline
package struct StorageFormat: Sendable {
  @usableFromInline let bits: UInt8

  /// Whether the database stores text as UTF-16, of which SQLite makes other text where it is wrong.
  @inlinable
  var isUTF16: Bool { bits & 1 != 0 }

  /// Whether text isn't simply SQLite's own UTF-8: one test for all.
  @inlinable
  var isSpecial: Bool { bits & 0x81 != 0 }
}
