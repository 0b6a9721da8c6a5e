import LarderTerminal

/// The [header](https://www.sqlite.org/fileformat2.html#the_database_header) in a database's first 100 bytes,
/// read without SQLite.
struct FileHeader {
  let pageSize: Int
  /// The number of pages by the header; 0 if an old version of SQLite wrote the file, and didn't store it.
  let pageCount: Int
  /// Whether the journal mode is WAL.
  let usesLog: Bool
  /// The version of SQLite that wrote the file last, such as `3.40.1`.
  let writer: String

  static let size = 100

  /// Parses a file's first bytes. Throws ``Failure`` if they aren't a header.
  init(_ bytes: [UInt8], path: String, size: Int) throws {
    func failure(_ reason: String) -> Failure { Failure(.database, "\(path): \(reason)") }
    let magic = Array("SQLite format 3\0".utf8)
    guard bytes.starts(with: magic) else {
      let isText = bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F || (9...13).contains($0) }
      let mayBeEncrypted = !isText && size.isMultiple(of: 512) && Set(bytes).count > 40
      throw failure(
        mayBeEncrypted
          ? "this isn't an SQLite database, unless it is encrypted: larder has no key"
          : "this isn't an SQLite database")
    }
    guard bytes.count == Self.size else {
      throw failure("the file is cut off: it has \(size) bytes, and a database at least 512")
    }
    func number(at index: Int) -> Int {
      bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    let stored = Int(bytes[16]) << 8 | Int(bytes[17])
    pageSize = stored == 1 ? 65_536 : stored
    guard pageSize >= 512, pageSize & (pageSize - 1) == 0 else {
      throw failure("the database is damaged: its header says that a page has \(stored) bytes")
    }
    guard bytes[19] <= 2, number(at: 44) <= 4 else {
      throw failure("a newer version of SQLite has written the file, in a form unknown to this one")
    }
    usesLog = bytes[19] == 2
    // The page count is valid only if the last writer kept it up to date (“version-valid-for”).
    pageCount = number(at: 24) == number(at: 92) ? number(at: 28) : 0
    let version = number(at: 96)
    writer = "\(version / 1_000_000).\(version / 1000 % 1000).\(version % 1000)"
  }
}
