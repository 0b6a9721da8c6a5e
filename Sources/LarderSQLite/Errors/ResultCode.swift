import CSQLite

/// A result code of SQLite, primary or extended.
///
/// See [Result and Error Codes](https://www.sqlite.org/rescode.html). A code that has no name here
/// still arrives with its number in ``rawValue``.
public struct ResultCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// The number that SQLite uses.
  public let rawValue: Int32

  /// The code with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The code with this number.
  public init(integerLiteral value: Int32) { rawValue = value }

  /// The primary code of an extended one: `.constraint` for `.constraintUnique`.
  package var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }
}

// The names are SQLite's own; what each means stands on the page linked above.
extension ResultCode {
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let error: ResultCode = 1, `internal`: ResultCode = 2, permission: ResultCode = 3
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let abort: ResultCode = 4, busy: ResultCode = 5, locked: ResultCode = 6
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let noMemory: ResultCode = 7, readOnly: ResultCode = 8, interrupt: ResultCode = 9
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let ioError: ResultCode = 10, corrupt: ResultCode = 11, full: ResultCode = 13
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let cannotOpen: ResultCode = 14, tooBig: ResultCode = 18
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let constraint: ResultCode = 19, mismatch: ResultCode = 20, misuse: ResultCode = 21
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let authorization: ResultCode = 23, range: ResultCode = 25
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let notADatabase: ResultCode = 26

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let busySnapshot: ResultCode = 517
  /// The wait for the writer or a reader of a queue or pool was too long, rather than that for another
  /// connection's lock (`SQLITE_BUSY_TIMEOUT`).
  public static let busyTimeout: ResultCode = 773
  /// A file could not be synced (`SQLITE_IOERR_FSYNC`).
  public static let ioErrorFsync: ResultCode = 1034

  package static let ok: ResultCode = 0, notFound: ResultCode = 12
  static let ioErrorDirectoryFsync: ResultCode = 1290
  // What these say, ``DatabaseError/constraint`` tells.
  package static let constraintCheck: ResultCode = 275, constraintForeignKey: ResultCode = 787
  package static let constraintPrimaryKey: ResultCode = 1555, constraintUnique: ResultCode = 2067
  static let constraintNotNull: ResultCode = 1299, constraintTrigger: ResultCode = 1811
  static let constraintRowID: ResultCode = 2579, constraintDatatype: ResultCode = 3091
}

extension ResultCode: CustomStringConvertible {
  /// The number and SQLite's own short text, such as `19 (constraint failed)`.
  public var description: String {
    "\(rawValue) (\(String(cString: sqlite3_errstr(rawValue))))"
  }
}
