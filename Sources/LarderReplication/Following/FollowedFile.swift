import CSQLite
import Glibc
import LarderSQLite

/// The file of a follower, to which pages are added as commits.
///
/// SQLite has no call that writes pages. So the frames are appended to the write-ahead log here, with SQLite's lock
/// for writers held, and then the log's index is forgotten: whoever reads next builds it from the log, as after a
/// crash. Readers in the middle of a transaction keep the state that they read. If the process ends before the last
/// frame is written, nobody sees the ones before. See [the format](https://www.sqlite.org/walformat.html).
final class FollowedFile {
  private let database: Database
  private let file: LogFile
  let pageSize: Int

  /// The length of the log from which on it is moved into the file, in bytes.
  private static let longestLog = 4 << 20

  init(_ path: String, _ configuration: Configuration) throws {
    var configuration = configuration.forCopying
    configuration.readOnly = false
    configuration.journalMode = .wal
    configuration.synchronous = .normal
    configuration.prepareDatabase = nil
    configuration.extensions = []
    configuration.busyTimeout = .seconds(5)
    database = try Database(path: path, configuration: configuration)
    // A log and its index are only there once somebody has read.
    pageSize = try database.value("PRAGMA page_size", as: Int.self) ?? 4096
    _ = try database.value("SELECT count(*) FROM sqlite_schema", as: Int.self)
    guard let handle = database.connection.handle else {
      throw DatabaseError(.internal, "there is no connection")
    }
    file = try LogFile(of: handle, pageSize: pageSize)
  }

  func close() { database.closeEverything() }

  private var handle: OpaquePointer {
    get throws {
      guard let handle = database.connection.handle else {
        throw DatabaseError(.misuse, "the follower is closed")
      }
      return handle
    }
  }

  /// Commits pages: those of segments that follow each other, the last of which is a commit.
  func commit(_ segments: [LogSegment]) throws {
    guard let last = segments.last else { return }
    try append(pageCount: last.pageCount) { frames in
      for segment in segments {
        try segment.forEachPage { try frames.append($0, $1) }
      }
    }
  }

  /// Commits the pages of another file that differ.
  func commit(pagesOf other: String) throws {
    // Without frames in the log, the file has all pages.
    let state = try database.checkpoint(.passive)
    let isWhole = state.logFrames == state.checkpointed
    let handle = try handle
    let descriptor = open(other, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DatabaseError(.cannotOpen, "\(other) can't be read") }
    defer { Glibc.close(descriptor) }
    let count = UInt32(clamping: Int(lseek(descriptor, 0, SEEK_END)) / pageSize)
    try append(pageCount: count) { frames in
      var bytes = [UInt8](repeating: 0, count: 2 * pageSize)
      try bytes.withUnsafeMutableBytes { both in
        let new = UnsafeMutableRawBufferPointer(rebasing: both[..<pageSize])
        let old = UnsafeMutableRawBufferPointer(rebasing: both[pageSize...])
        for number in 1...max(1, count) {
          let offset = Int64(number - 1) * Int64(pageSize)
          guard pread(descriptor, new.baseAddress, pageSize, off_t(offset)) == pageSize else {
            throw DatabaseError(.ioError, "\(other) can't be read")
          }
          if number == 1 { (new[18], new[19]) = (2, 2) }
          let isSame =
            isWhole && number < count
            && larder_read_file(handle, old.baseAddress, Int32(pageSize), offset) == SQLITE_OK
            && Self.areEqual(new, old)
          if isSame { continue }
          try frames.append(number, UnsafeRawBufferPointer(new))
        }
      }
    }
  }

  private static func areEqual(
    _ one: UnsafeMutableRawBufferPointer, _ other: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let first = one.baseAddress, let second = other.baseAddress else { return true }
    return memcmp(first, second, one.count) == 0
  }

  /// Appends frames and their commit, and makes them visible.
  private func append(
    pageCount: UInt32, _ body: (inout Frames) throws -> Void
  ) throws {
    let handle = try handle
    // Whoever reads first builds the index, if a process has ended before.
    _ = try database.value("PRAGMA schema_version", as: Int.self)
    let deadline = MonotonicClock.now + .seconds(5)
    while larder_lock_log(handle, 1) != SQLITE_OK {
      guard MonotonicClock.now < deadline else {
        throw DatabaseError(.busy, "somebody else writes to the follower's file")
      }
      usleep(1000)
    }
    do {
      defer { larder_lock_log(handle, 0) }
      var words = [UInt32](repeating: 0, count: 12)
      guard larder_log_header(handle, &words) != 0 else {
        throw DatabaseError(.busy, "the index of the follower's log can't be read")
      }
      var frames = try Frames(file, behind: LogIndexHeader(words).place, pageSize)
      try body(&frames)
      try frames.finish(pageCount: pageCount)
      guard larder_forget_log_index(handle) != 0 else {
        throw DatabaseError(.ioError, "the index of the follower's log can't be written")
      }
    }
    _ = try database.value("PRAGMA schema_version", as: Int.self)
    // If readers are in the way, the next commit tries again.
    if let state = try? database.checkpoint(.passive), state.logFrames * pageSize > Self.longestLog
    {
      database.busyTimeout = .milliseconds(50)
      _ = try? database.checkpoint(.truncate)
      database.busyTimeout = .seconds(5)
    }
  }
}

/// Frames that are appended to a log.
private struct Frames {
  private let file: LogFile
  private let salts: UInt64
  private var number: UInt32
  private var sum: (UInt32, UInt32)
  /// The frame that isn't written yet: the last one is the commit.
  private var next: [UInt8]?

  /// Words are of this machine's order if the header's magic number says so.
  private static let isBigEndian = 1.bigEndian == 1

  init(_ file: LogFile, behind place: LogPlace, _ pageSize: Int) throws {
    self.file = file
    number = place.frame
    guard place.frame == 0 else {
      salts = place.salts
      let frame = try file.frame(place.frame)
      guard frame.salts == salts, frame.checksum == place.checksum else {
        throw DatabaseError(.corrupt, "somebody else has written to the follower's log")
      }
      sum = (
        UInt32(truncatingIfNeeded: place.checksum >> 32), UInt32(truncatingIfNeeded: place.checksum)
      )
      return
    }
    // The log begins anew: frames of the former one have other salts.
    let first = UInt32(truncatingIfNeeded: place.salts >> 32) &+ 1
    salts = UInt64(first) << 32 | UInt64(UInt32.random(in: 0 ... .max))
    var header: [UInt8] = []
    for word in [
      Self.isBigEndian ? 0x377f_0683 : 0x377f_0682, 3_007_000, UInt32(pageSize), 0, first,
      UInt32(truncatingIfNeeded: salts),
    ] as [UInt32] {
      withUnsafeBytes(of: word.bigEndian) { header.append(contentsOf: $0) }
    }
    sum = (0, 0)
    header.withUnsafeBytes { LogFile.add($0, Self.isBigEndian, to: &sum) }
    for word in [sum.0, sum.1] {
      withUnsafeBytes(of: word.bigEndian) { header.append(contentsOf: $0) }
    }
    try header.withUnsafeBytes { try file.write($0, behind: nil) }
  }

  mutating func append(_ page: UInt32, _ bytes: UnsafeRawBufferPointer) throws {
    try write(pageCount: 0)
    var frame: [UInt8] = []
    frame.reserveCapacity(LogFile.frameHeaderSize + bytes.count)
    withUnsafeBytes(of: page.bigEndian) { frame.append(contentsOf: $0) }
    frame.append(contentsOf: repeatElement(0, count: LogFile.frameHeaderSize - 4))
    frame.append(contentsOf: bytes)
    next = frame
  }

  /// Writes the last frame as a commit.
  mutating func finish(pageCount: UInt32) throws { try write(pageCount: pageCount) }

  /// Writes the frame that is next.
  private mutating func write(pageCount: UInt32) throws {
    guard var frame = next else { return }
    next = nil
    try frame.withUnsafeMutableBytes { bytes in
      func store(_ word: UInt32, at offset: Int) {
        bytes.storeBytes(of: word.bigEndian, toByteOffset: offset, as: UInt32.self)
      }
      store(pageCount, at: 4)
      LogFile.add(.init(rebasing: bytes[..<8]), Self.isBigEndian, to: &sum)
      LogFile.add(
        .init(rebasing: bytes[LogFile.frameHeaderSize...]), Self.isBigEndian, to: &sum)
      store(UInt32(truncatingIfNeeded: salts >> 32), at: 8)
      store(UInt32(truncatingIfNeeded: salts), at: 12)
      store(sum.0, at: 16)
      store(sum.1, at: 20)
      try file.write(UnsafeRawBufferPointer(bytes), behind: number)
    }
    number += 1
  }
}
