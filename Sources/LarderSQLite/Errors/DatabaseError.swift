import FoundationEssentials

/// An error of a call to the database.
///
/// ```swift
/// do {
///   try db.executeUpdate("INSERT INTO city (name) VALUES (?)", name)
/// } catch let error as DatabaseError where error.constraint?.kind == .unique {
///   print("there is already a city of that name:", error.constraint?.columns ?? [])
/// }
/// ```
///
/// The values of arguments are left out of errors, so that they don't end up in logs, unless
/// ``Configuration/showsArguments`` asks for them. If messages of SQLite or of custom functions repeat such
/// values, `…` replaces them. Texts are cut after 10,000 bytes, which `…` shows too.
public struct DatabaseError: Error, Hashable, Sendable {
  /// The primary result code; `ResultCode.misuse` for calls on closed objects and the like.
  public var code: ResultCode { extendedCode.primary }
  /// The extended result code, which is more exact if SQLite has one.
  public let extendedCode: ResultCode
  /// SQLite's message, or Larder's own.
  public internal(set) var message: String
  /// The statement, with placeholders for its arguments.
  public let sql: String?
  /// The position of a syntax error in ``sql``, in bytes of UTF-8, if SQLite (3.38 or newer) tells it.
  public let offset: Int?
  /// The constraint that was broken, if the error is about one.
  public let constraint: ConstraintViolation?
  /// The statement with its arguments written out, if ``Configuration/showsArguments`` is on.
  public let expandedSQL: String?
  /// The name of the engine that the error comes from.
  public var engine: String { namedEngine ?? "SQLite" }
  /// Nil while only the caller knows the engine.
  private var namedEngine: String?
  /// The engine's own code if it isn't SQLite: five characters, the
  /// [SQLSTATE](https://www.postgresql.org/docs/current/errcodes-appendix.html). ``code`` is then SQLite's
  /// code for the same error.
  public let sqlState: String?

  /// The token of a commit whose outcome is unknown, since its answer never came and no server could be asked
  /// in time. Only on an engine other than SQLite with commit tokens on; nil for all other errors.
  public package(set) var commitToken: UUID?

  /// Whether the call's earlier changes stay, since it was in no transaction.
  package var leavesChanges = false

  private var origin = Origin()

  /// Where an error has happened. Errors that differ in that alone are equal.
  private struct Origin: Hashable, Sendable {
    var path: String?
    var label: String?
    var repeats = 0
    var isReported = false

    static func == (_: Origin, _: Origin) -> Bool { true }
    func hash(into _: inout Hasher) {}
  }

  /// The absolute path of the database's file, or the server's address without secrets. Nil for a database
  /// in memory, and for an error that no connection has reported.
  public package(set) var path: String? {
    get { origin.path }
    set { origin.path = newValue }
  }
  /// The label of the scope in which the error happened; see ``DatabaseAccess``. Nil outside of queues and
  /// pools.
  public package(set) var label: String? {
    get { origin.label }
    set { origin.label = newValue }
  }
  /// How many equal errors this one stands for, if it is not the first that ``Configuration/log`` gets; 0 for
  /// any other error.
  public package(set) var repeats: Int {
    get { origin.repeats }
    set { origin.repeats = newValue }
  }
  /// Whether the log was told of it.
  package var isReported: Bool {
    get { origin.isReported }
    set { origin.isReported = newValue }
  }

  /// A copy that happened where another error did, of which the log was told or not.
  func at(placeOf other: DatabaseError) -> DatabaseError {
    var copy = self
    copy.origin = other.origin
    return copy
  }

  @usableFromInline
  package init(
    _ extendedCode: ResultCode, _ message: String, sql: String? = nil, offset: Int? = nil,
    constraint: ConstraintViolation? = nil, expandedSQL: String? = nil,
    engine: String? = nil, sqlState: String? = nil
  ) {
    self.extendedCode = extendedCode
    self.message = Self.cut(message)
    self.sql = sql.map(Self.cut)
    self.offset = offset
    self.constraint = constraint
    self.expandedSQL = expandedSQL.map(Self.cut)
    namedEngine = engine
    self.sqlState = sqlState
  }

  /// The longest text that an error keeps, in bytes. Errors may be kept for long, and be written to logs.
  static let longestText = 10_000

  /// Cuts a text that is too long.
  static func cut(_ text: String) -> String {
    guard text.utf8.count > longestText else { return text }
    // A cut isn't made inside of a character.
    let end = (0..<4).lazy.compactMap { String(text.utf8.prefix(longestText - $0)) }.first
    return (end ?? "") + "…"
  }

  /// Creates an error for a custom function to throw. The caller of the statement gets its code and message.
  public init(code: ResultCode, message: String) {
    self.init(code, message, engine: "SQLite")
  }

  /// Names the engine in an error that names none yet.
  package static func naming(_ engine: String, in error: any Error) -> any Error {
    guard var known = error as? DatabaseError, known.namedEngine == nil else { return error }
    known.namedEngine = engine
    return known
  }

  /// The error with advice at the end of its message.
  package func advising(_ advice: String) -> DatabaseError {
    var copy = self
    copy.message += ": " + advice
    return copy
  }

  /// Whether another connection's lock was in the way (`SQLITE_BUSY` or `SQLITE_LOCKED`).
  public var isBusy: Bool { code == .busy || code == .locked }
  /// Whether a constraint would have been broken.
  public var isConstraint: Bool { code == .constraint }
  /// Whether the statement was interrupted, or stopped at its deadline.
  package var isInterrupt: Bool { code == .interrupt }
}

extension DatabaseError: CustomStringConvertible {
  /// Code, message and statement on one line, without the values of arguments. A misuse is named, and has no
  /// number: it is mostly Larder that finds it, and not the engine.
  public var description: String {
    let kind = sqlState ?? "\(extendedCode.rawValue)"
    let isMisuse = sqlState == nil && code == .misuse
    var text = "\(isMisuse ? "misuse" : "\(engine) error \(kind)"): \(message)"
    if let sql { text += " — while executing “\(expandedSQL ?? sql)”" }
    if let offset { text += " at byte \(offset)" }
    return text
  }
}
