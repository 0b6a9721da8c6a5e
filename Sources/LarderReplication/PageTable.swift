import FoundationEssentials
import Glibc
import LarderSQLite

/// The checksums of a database's pages as the sink has them. If nobody held the log for a while, only pages
/// that differ have to be shipped.
///
/// It is saved beside the database when the replication ends in order (`DATABASE-shipped`), bound to the last
/// segment: a table of any other moment says nothing, since power may fail for the database and not for the
/// sink.
struct PageTable {
  /// By the page's number less one; 0 for unknown.
  private var sums: [UInt64] = []

  /// Which segment the table is of.
  struct Moment: Equatable {
    let generation: String
    let segment: Int
    let link: UInt64
    let pageSize: Int
  }

  private static let magic: UInt64 = 0x3130_4c42_5452_444c

  subscript(page: UInt32) -> UInt64 {
    get { Int(page) <= sums.count && page > 0 ? sums[Int(page) - 1] : 0 }
    set {
      guard page > 0 else { return }
      while sums.count < Int(page) { sums.append(0) }
      sums[Int(page) - 1] = newValue
    }
  }

  static func sum(_ page: UnsafeRawBufferPointer) -> UInt64 { max(1, Checksum.of(page)) }

  mutating func removeAll() { sums = [] }

  /// Forgets pages beyond the end of the database.
  mutating func truncate(to count: UInt32) {
    if sums.count > Int(count) { sums.removeSubrange(Int(count)...) }
  }

  /// Whether at least half of the pages are known, so that it is worth comparing.
  func isUseful(for count: UInt32) -> Bool {
    count == 0 || sums.count { $0 != 0 } * 2 >= Int(count)
  }

  var isEmpty: Bool { sums.isEmpty }

  // MARK: Beside the database

  static func path(for database: String) -> String { database + "-shipped" }

  /// Saves the table. A failure only means that it isn't there at the next start.
  func save(beside database: String, _ moment: Moment) {
    let name = Array(moment.generation.utf8)
    var bytes: [UInt8] = []
    func append(_ number: UInt64) {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(Self.magic)
    append(UInt64(moment.segment))
    append(moment.link)
    append(UInt64(moment.pageSize))
    append(UInt64(name.count))
    bytes += name
    sums.withUnsafeBytes { bytes.append(contentsOf: $0) }
    append(bytes.withUnsafeBytes { Checksum.of($0) })
    let draft = Self.path(for: database) + "-draft"
    let file = open(draft, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    let isWritten = write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
    close(file)
    guard isWritten, rename(draft, Self.path(for: database)) == 0 else {
      unlink(draft)
      return
    }
  }

  /// Reads the table that was saved at a moment; nil if there is none of it.
  init?(savedBeside database: String, at moment: Moment) {
    guard let data = try? Data(contentsOf: URL(filePath: Self.path(for: database))) else {
      return nil
    }
    let bytes = [UInt8](data)
    guard bytes.count >= 48 else { return nil }
    let sums: [UInt64]? = bytes.withUnsafeBytes { raw in
      func number(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      let length = Int(clamping: number(32))
      guard number(raw.count - 8) == Checksum.of(.init(rebasing: raw[..<(raw.count - 8)])),
        number(0) == Self.magic, length <= raw.count - 48, (raw.count - 48 - length) % 8 == 0
      else { return nil }
      let found = Moment(
        generation: String(decoding: raw[40..<(40 + length)], as: UTF8.self),
        segment: Int(clamping: number(8)), link: number(16), pageSize: Int(clamping: number(24)))
      guard found == moment else { return nil }
      return (0..<((raw.count - 48 - length) / 8)).map { number(40 + length + $0 * 8) }
    }
    guard let sums else { return nil }
    self.sums = sums
  }

  init() {}
}
