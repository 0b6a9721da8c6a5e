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

// The names are SQLite's own. Their meaning is on the page linked above, and isn't repeated in the
// documentation.
extension ResultCode {
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  @_documentation(visibility: internal)
  public static let ok: ResultCode = 0, error: ResultCode = 1, `internal`: ResultCode = 2,
    permission: ResultCode = 3, abort: ResultCode = 4, busy: ResultCode = 5,
    locked: ResultCode = 6, noMemory: ResultCode = 7, readOnly: ResultCode = 8,
    interrupt: ResultCode = 9, ioError: ResultCode = 10, corrupt: ResultCode = 11,
    notFound: ResultCode = 12, full: ResultCode = 13, cannotOpen: ResultCode = 14,
    `protocol`: ResultCode = 15, schema: ResultCode = 17, tooBig: ResultCode = 18,
    constraint: ResultCode = 19, mismatch: ResultCode = 20, misuse: ResultCode = 21,
    noLargeFiles: ResultCode = 22, authorization: ResultCode = 23, range: ResultCode = 25,
    notADatabase: ResultCode = 26

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  @_documentation(visibility: internal)
  public static let busyRecovery: ResultCode = 261, busySnapshot: ResultCode = 517,
    readOnlyMoved: ResultCode = 1032, constraintCheck: ResultCode = 275,
    constraintCommitHook: ResultCode = 531, constraintForeignKey: ResultCode = 787,
    constraintNotNull: ResultCode = 1299, constraintPrimaryKey: ResultCode = 1555,
    constraintTrigger: ResultCode = 1811, constraintUnique: ResultCode = 2067,
    constraintRowID: ResultCode = 2579, constraintDatatype: ResultCode = 3091

  /// No error: the log is told of something to look at, such as a slow scope (`SQLITE_WARNING`).
  public static let warning: ResultCode = 28
  /// The wait for the writer or a reader of a queue or pool was too long (`SQLITE_BUSY_TIMEOUT`). For another
  /// connection's lock there is `busy`.
  public static let busyTimeout: ResultCode = 773
  /// A file, or a folder, could not be synced (`SQLITE_IOERR_FSYNC`, `SQLITE_IOERR_DIR_FSYNC`).
  public static let ioErrorFsync: ResultCode = 1034, ioErrorDirectoryFsync: ResultCode = 1290
}

extension ResultCode: CustomStringConvertible {
  /// The number and SQLite's own short text, such as `19 (constraint failed)`.
  public var description: String {
    // Other engines' errors have these codes too, and SQLite's words would be wrong for them.
    let words =
      switch primary {
      case .busy: "busy"
      case .ioError: "I/O error"
      case .cannotOpen: "cannot open"
      default: String(cString: sqlite3_errstr(rawValue))
      }
    return "\(rawValue) (\(words))"
  }
}
