/// A place in a write-ahead log: behind a frame, whose checksum covers everything before it.
///
/// Two logs that have the same salts and checksum at a frame are the same log up to there.
struct LogPlace: Hashable {
  /// The two random numbers of the log.
  var salts: UInt64 = 0
  /// The number of the frame; 0 for the beginning.
  var frame: UInt32 = 0
  /// The two halves of the frame's checksum; 0 for the beginning.
  var checksum: UInt64 = 0
}

/// The header of a log's index: how far the log is committed. See
/// [the format](https://www.sqlite.org/walformat.html#walidxfmt).
struct LogIndexHeader: Equatable {
  /// Counts the transactions.
  let changes: UInt32
  let pageSize: Int
  /// Whether checksums are computed of big-endian words.
  let isBigEndian: Bool
  /// The number of pages of the database; 0 if the index doesn't know it.
  let pages: UInt32
  var place: LogPlace

  init(_ words: [UInt32]) {
    changes = words[2]
    let flags = withUnsafeBytes(of: words[3]) { Array($0) }
    isBigEndian = flags[1] != 0
    let size = Int(withUnsafeBytes(of: words[3]) { $0.load(fromByteOffset: 2, as: UInt16.self) })
    pageSize = (size & 0xfe00) + ((size & 1) << 16)
    pages = words[5]
    let frame = words[4]
    place = LogPlace(
      salts: UInt64(UInt32(bigEndian: words[8])) << 32 | UInt64(UInt32(bigEndian: words[9])),
      frame: frame,
      checksum: frame == 0 ? 0 : UInt64(words[6]) << 32 | UInt64(words[7]))
  }
}
