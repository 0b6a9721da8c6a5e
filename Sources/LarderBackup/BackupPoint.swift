import CSQLite
import FoundationEssentials
import Glibc
import LarderSQLite

extension ContinuousBackup {
  /// A copy that was kept: the content of a database at a moment. It was read back and checked before it got
  /// its name.
  public struct Point: Hashable, Sendable {
    /// The name of the database file that was copied.
    public let database: String
    /// The moment, to the millisecond.
    public let date: Date
    /// The identity of the database, in sixteen hexadecimal digits. It tells the database's points from those
    /// of another one of the same name. Nil for a point of an earlier version, which belongs to nobody and is
    /// never removed.
    package let owner: String?
    /// The path of its file, a SQLite database without a log.
    public let path: String
    /// The size of the file.
    public let bytes: Int

    /// Reads the whole point again, and throws if it is damaged: `ResultCode.corrupt`,
    /// `ResultCode.notADatabase` (also for another key), `ResultCode.cannotOpen`.
    ///
    /// - Parameters:
    ///   - check: the check that it has to pass.
    ///   - configuration: how to open it: its key, and the functions that its indexes use.
    public func verify(
      _ check: CopyCheck = .quick, configuration: Configuration = .init()
    ) throws {
      try Database.verify(path, check, configuration)
    }
  }

  /// The points in a folder, of any database, the oldest first. Throws `ResultCode.cannotOpen` if the folder
  /// can't be read.
  public static func points(in folder: String) throws -> [Point] {
    try DraftFolder.names(in: folder).compactMap { PointName($0)?.point(in: folder) }
      .sorted { ($0.date, $0.database) < ($1.date, $1.database) }
  }

  /// Replaces a database by a point, or creates one from it. Until the point is there as a whole, the former
  /// content stays, even if the process is killed.
  ///
  /// The point is read and checked first. A database that others have open is refused (`ResultCode.busy`), as
  /// far as SQLite knows of them. Connections with a rollback journal that are in no transaction aren't
  /// known; they see the restoration as one transaction. A program restores its own database by its queue or
  /// pool: `pool.inDatabase { try $0.restore(from: point.path) }`.
  ///
  /// If the database's file is gone, but its log (`-wal`) or journal is still there, it throws
  /// `ResultCode.cannotOpen` and changes nothing: SQLite would replay the log over the restored file. The log
  /// may hold commits that are nowhere else. Put it away, then restore.
  ///
  /// - Parameters:
  ///   - point: the point to restore.
  ///   - path: the path of the database's file.
  ///   - configuration: how to open both, with their key. The journal mode isn't set.
  /// - Throws: ``LarderSQLite/DatabaseError``, as ``Point/verify(_:configuration:)`` and `Database.restore(from:)` do.
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
      // Leaving WAL mode takes exclusive use of the file.
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

/// The name of a point's file, such as `cities-20261123T165030.123Z-8f0c2a9d51b7e364.db`. It consists of the
/// database's own name around the time in UTC, so that names of one database sort as the times do, and the
/// owner's identity.
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

  /// Nil if the name isn't that of a point.
  init?(_ name: String) {
    // Finds the last time in the name, since the database's own name may look like that of a point. An owner
    // and the end of the database's name may follow.
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

  /// The name as text. Throws for times outside of the years 0 to 9999.
  func text() throws -> String {
    let time = try CivilTime(seconds: Double(milliseconds) / 1000, unitsPerSecond: 1000)
    return stem + "-" + time.text(separator: "T").filter { $0 != "-" && $0 != ":" } + "Z"
      + (owner.map { "-" + $0 } ?? "") + suffix
  }

  /// Parses a time such as `20261123T165030.123Z`.
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
      database: database, date: Date(timeIntervalSince1970: Double(milliseconds) / 1000),
      owner: owner, path: path, bytes: Int(status.st_size))
  }
}
