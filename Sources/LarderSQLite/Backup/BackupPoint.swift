import CSQLite
import FoundationEssentials
import Glibc

extension ContinuousBackup {
  /// A copy that was kept: what a database held at a moment. It was read back and checked before it got its
  /// name.
  public struct Point: Hashable, Sendable {
    /// The name of the file that it is a copy of.
    public let database: String
    /// The moment, to the millisecond.
    public let time: Date
    /// The identity of the database, of sixteen hexadecimal digits, by which its points are told from those of another
    /// database of the same name; nil for a point of an earlier version, which belongs to nobody and is never removed.
    public let owner: String?
    /// Its file, a SQLite database without a log.
    public let path: String
    /// The size of the file.
    public let bytes: Int

    /// Its file.
    public var url: URL { URL(fileURLWithPath: path) }

    /// Reads all of it again, and throws where it isn't whole: `ResultCode.corrupt`, `ResultCode.notADatabase`
    /// (also for another key), `ResultCode.cannotOpen`.
    ///
    /// - Parameters:
    ///   - check: what it has to pass.
    ///   - configuration: how to open it: its key, and its functions, where indexes use any.
    public func verify(
      _ check: CopyCheck = .quick, configuration: Configuration = .init()
    ) throws {
      try Database.verify(path, check, configuration)
    }
  }

  /// What was kept in a folder, of any database, the oldest first. Throws `ResultCode.cannotOpen` where the
  /// folder can't be read.
  public static func points(in folder: String) throws -> [Point] {
    try DraftFolder.names(in: folder).compactMap { PointName($0)?.point(in: folder) }
      .sorted { ($0.time, $0.database) < ($1.time, $1.database) }
  }

  /// Puts a point in the place of a database, or makes one of it. Until it is there as a whole, what was there
  /// before stays, also where the process is killed.
  ///
  /// The point is read and checked first. A database that others have open is refused (`ResultCode.busy`), so
  /// far as SQLite knows of them: those who use a rollback journal, and are in no transaction, see it as one. A
  /// program's own is restored by its queue or pool: `pool.inDatabase { try $0.restore(from: point.path) }`.
  ///
  /// - Parameters:
  ///   - point: what to restore.
  ///   - path: the database's file.
  ///   - configuration: how to open both, with their key. The journal mode isn't set.
  public static func restore(
    _ point: Point, to path: String, configuration: Configuration = .init()
  ) throws {
    try point.verify(configuration: configuration)
    var reading = configuration
    reading.readOnly = true
    reading.journalMode = nil
    reading.removesOwnLog = true
    let source = try Database(path: point.path, configuration: reading)
    if access(path, F_OK) == 0 {
      var writing = configuration
      // Leaving the write-ahead log takes the file for oneself.
      writing.journalMode = .delete
      writing.synchronous = .extra
      let target = try Database(path: path, configuration: writing)
      try target.restore(from: source)
      try target.close()
    } else {
      try source.backup(to: path)
    }
    try source.close()
  }
}

/// The name of a point's file: `cities-20261123T165030.123Z-8f0c2a9d51b7e364.db`, with the database's own name around
/// the time in UTC, so that names of one database sort as the times do, and the owner's identity.
struct PointName {
  private let stem: String
  private let suffix: String
  let milliseconds: Int
  /// Nil in names of earlier versions.
  let owner: String?

  private static let timeLength = 20

  /// - Parameter database: the name of a database's file.
  init(of database: String, at milliseconds: Int, owner: String?) {
    let dot = database.utf8.lastIndex(of: UInt8(ascii: ".")).flatMap {
      $0 == database.startIndex ? nil : $0
    }
    stem = String(database[..<(dot ?? database.endIndex)])
    suffix = String(database[(dot ?? database.endIndex)...])
    self.milliseconds = milliseconds
    self.owner = owner
  }

  /// Nil for what is no name of a point.
  init?(_ name: String) {
    // The last time in it: a database may have the name of a point. Behind it there can be an owner, and what the
    // database's name ends with.
    let bytes = Array(name.utf8)
    let starts = bytes.indices.dropFirst().reversed()
    for start in starts where bytes[start] == UInt8(ascii: "-") {
      let end = start + 1 + Self.timeLength
      guard end <= bytes.count, let time = Self.milliseconds(bytes[(start + 1)..<end]) else {
        continue
      }
      var rest = bytes[end...]
      var owner: String?
      if rest.first == UInt8(ascii: "-") {
        let text = String(decoding: rest.dropFirst().prefix(16), as: UTF8.self)
        guard DatabaseIdentity.isIdentity(text) else { return nil }
        owner = text
        rest = rest.dropFirst(17)
      }
      guard rest.isEmpty || rest.first == UInt8(ascii: "."),
        !rest.dropFirst().contains(UInt8(ascii: "."))
      else { return nil }
      stem = String(decoding: bytes[..<start], as: UTF8.self)
      suffix = String(decoding: rest, as: UTF8.self)
      milliseconds = time
      self.owner = owner
      return
    }
    return nil
  }

  var database: String { stem + suffix }

  /// Throws for times outside of the years 0 to 9999.
  func text() throws -> String {
    let time = try CivilTime(seconds: Double(milliseconds) / 1000, unitsPerSecond: 1000)
    return stem + "-" + time.text(separator: "T").filter { $0 != "-" && $0 != ":" } + "Z"
      + (owner.map { "-" + $0 } ?? "") + suffix
  }

  /// The time of `20261123T165030.123Z`.
  private static func milliseconds(_ text: ArraySlice<UInt8>) -> Int? {
    let bytes = Array(text)
    guard bytes.count == timeLength else { return nil }
    func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    let iso =
      "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))\(part(8..<11)):\(part(11..<13)):\(part(13..<20))"
    guard bytes[8] == UInt8(ascii: "T"), bytes[19] == UInt8(ascii: "Z"),
      let seconds = try? CivilTime.secondsSince1970(iso)
    else { return nil }
    return Int((seconds * 1000).rounded())
  }

  func point(in folder: String) -> ContinuousBackup.Point? {
    guard let name = try? text() else { return nil }
    let path = folder + "/" + name
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return .init(
      database: database, time: Date(timeIntervalSince1970: Double(milliseconds) / 1000),
      owner: owner, path: path, bytes: Int(status.st_size))
  }
}
