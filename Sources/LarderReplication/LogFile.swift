import CSQLite
import LarderSQLite

/// The file of a write-ahead log, opened a second time to read its frames. See
/// [the format](https://www.sqlite.org/fileformat2.html#walformat).
///
/// The log carries no locks, so that it can be opened and closed at will. (The database file can't: closing
/// any descriptor of it releases the process's locks.)
final class LogFile {
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let pageSize: Int

  static let headerSize = 32
  static let frameHeaderSize = 24

  /// The fields of a frame's header.
  struct Frame {
    let page: UInt32
    let salts: UInt64
    let checksum: UInt64
  }

  /// Throws `ResultCode.cannotOpen` if there is no log.
  init(of handle: OpaquePointer, pageSize: Int) throws {
    guard let file = larder_open_log(handle) else {
      throw DatabaseError(.cannotOpen, "the write-ahead log can't be opened")
    }
    self.file = file
    self.pageSize = pageSize
  }

  deinit { larder_close_log(file) }

  private func offset(of frame: UInt32) -> Int64 {
    Int64(Self.headerSize) + Int64(frame - 1) * Int64(Self.frameHeaderSize + pageSize)
  }

  /// Reads a frame's header.
  func frame(_ number: UInt32) throws -> Frame {
    try withUnsafeTemporaryAllocation(byteCount: Self.frameHeaderSize, alignment: 8) { bytes in
      try read(bytes, at: offset(of: number))
      return Self.frame(UnsafeRawBufferPointer(bytes))
    }
  }

  private static func frame(_ bytes: UnsafeRawBufferPointer) -> Frame {
    Frame(
      page: number(bytes, 0), salts: pair(bytes, 8), checksum: pair(bytes, 16))
  }

  private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
    UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  private static func pair(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Reads the page of a frame; false if the frame isn't the one that was expected, for instance because the
  /// log has begun anew. The frame's checksum is computed from the one of the frame before.
  func readPage(
    _ page: UInt32, of number: UInt32, salts: UInt64, isBigEndian: Bool,
    into bytes: UnsafeMutableRawBufferPointer
  ) throws -> Bool {
    try withUnsafeTemporaryAllocation(byteCount: Self.frameHeaderSize, alignment: 8) { header in
      let before: UInt64
      if number == 1 {
        // The header of the log ends with its checksum.
        try read(.init(rebasing: header[..<8]), at: 24)
        before = Self.pair(UnsafeRawBufferPointer(header), 0)
      } else {
        before = try frame(number - 1).checksum
      }
      try read(header, at: offset(of: number))
      try read(bytes, at: offset(of: number) + Int64(Self.frameHeaderSize))
      let raw = UnsafeRawBufferPointer(header)
      let frame = Self.frame(raw)
      guard frame.page == page, frame.salts == salts else { return false }
      var sum = (UInt32(truncatingIfNeeded: before >> 32), UInt32(truncatingIfNeeded: before))
      Self.add(.init(rebasing: raw[..<8]), isBigEndian, to: &sum)
      Self.add(UnsafeRawBufferPointer(bytes), isBigEndian, to: &sum)
      return frame.checksum == UInt64(sum.0) << 32 | UInt64(sum.1)
    }
  }

  /// Goes on with a checksum. See
  /// [the algorithm](https://www.sqlite.org/fileformat2.html#checksum_algorithm).
  static func add(
    _ bytes: UnsafeRawBufferPointer, _ isBigEndian: Bool, to sum: inout (UInt32, UInt32)
  ) {
    var (first, second) = sum
    var offset = 0
    while offset < bytes.count {
      var a = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      var b = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
      if isBigEndian {
        (a, b) = (UInt32(bigEndian: a), UInt32(bigEndian: b))
      } else {
        (a, b) = (UInt32(littleEndian: a), UInt32(littleEndian: b))
      }
      first = first &+ a &+ second
      second = second &+ b &+ first
      offset += 8
    }
    sum = (first, second)
  }

  /// Writes bytes behind a frame; 0 for the beginning of the file, where the header is.
  func write(_ bytes: UnsafeRawBufferPointer, behind frame: UInt32?) throws {
    let offset = frame.map { self.offset(of: $0 + 1) } ?? 0
    let code = larder_write_log(file, bytes.baseAddress, Int32(bytes.count), offset)
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "the write-ahead log can't be written")
    }
  }

  private func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
    let code = larder_read_log(file, bytes.baseAddress, Int32(bytes.count), offset)
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "the write-ahead log can't be read")
    }
  }
}
