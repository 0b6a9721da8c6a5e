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

/// The name of a point's file: `cities-20261123T165030.123Z.db`, with the database's own name around the time
/// in UTC.
struct PointName {
  private let stem: String
  private let suffix: String
  let milliseconds: Int

  private static let timeLength = 20

  /// - Parameter database: the name of a database's file.
  init(of database: String, at milliseconds: Int) {
    let dot = database.utf8.lastIndex(of: UInt8(ascii: ".")).flatMap {
      $0 == database.startIndex ? nil : $0
    }
    stem = String(database[..<(dot ?? database.endIndex)])
    suffix = String(database[(dot ?? database.endIndex)...])
    self.milliseconds = milliseconds
  }

  /// Nil for what is no name of a point.
  init?(_ name: String) {
    let dot = name.utf8.lastIndex(of: UInt8(ascii: "."))
    // That of the fraction is one too, where the database's name has none.
    let end = name.hasSuffix("Z") ? name.endIndex : dot ?? name.endIndex
    guard
      let start = name.utf8.index(
        end, offsetBy: -Self.timeLength - 1, limitedBy: name.startIndex),
      start > name.startIndex, name.utf8[start] == UInt8(ascii: "-"),
      let time = Self.milliseconds(name.utf8[start..<end].dropFirst())
    else { return nil }
    stem = String(name[..<start])
    suffix = String(name[end...])
    milliseconds = time
  }

  var database: String { stem + suffix }

  /// Throws for times outside of the years 0 to 9999.
  func text() throws -> String {
    let time = try CivilTime(seconds: Double(milliseconds) / 1000, unitsPerSecond: 1000)
    return stem + "-" + time.text(separator: "T").filter { $0 != "-" && $0 != ":" } + "Z" + suffix
  }

  /// The time of `20261123T165030.123Z`.
  private static func milliseconds(_ text: Substring.UTF8View) -> Int? {
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
      path: path, bytes: Int(status.st_size))
  }
}
