import CSQLite

/// SQLite called by hand, the way an expert does: statements prepared once, static text with an
/// explicit length, no mutex, columns by position.
final class Reference {
  let handle: OpaquePointer
  let path: String?

  static var version: String { String(cString: sqlite3_libversion()) }

  /// Opens a database, and creates the table unless it isn't new.
  init(path: String?, isNew: Bool = true) throws {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path ?? ":memory:", &opened, flags, nil) == SQLITE_OK, let opened else {
      throw Failure(code: SQLITE_CANTOPEN)
    }
    handle = opened
    self.path = path
    // Before anything else: several that are opened at once wait for one another.
    sqlite3_busy_timeout(handle, 60_000)
    try execute(
      "PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA cache_size = -16384")
    if isNew { try execute(Player.schema) }
  }

  deinit { sqlite3_close_v2(handle) }

  struct Failure: Error {
    let code: Int32
  }

  func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  func check(_ code: Int32) throws {
    if code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW { throw Failure(code: code) }
  }

  /// A statement for as long as the program runs.
  func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(
      sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    guard let statement else { throw Failure(code: SQLITE_MISUSE) }
    return statement
  }

  @inline(__always)
  func insert(_ player: Player, _ statement: OpaquePointer) throws {
    try run(statement, player, id: 1, first: 2)
  }

  /// Runs a statement with the player's id as one parameter and the rest from another on.
  @inline(__always)
  func run(_ statement: OpaquePointer, _ player: Player, id: Int32, first: Int32) throws {
    sqlite3_bind_int64(statement, id, player.id)
    var name = player.name
    try name.withUTF8 { name in
      larder_bind_text_static(statement, first, name.baseAddress, UInt64(name.count))
      sqlite3_bind_int64(statement, first + 1, Int64(player.score))
      sqlite3_bind_double(statement, first + 2, player.ratio)
      if var email = player.email {
        try email.withUTF8 { email in
          larder_bind_text_static(statement, first + 3, email.baseAddress, UInt64(email.count))
          try check(sqlite3_step(statement))
        }
      } else {
        sqlite3_bind_null(statement, first + 3)
        try check(sqlite3_step(statement))
      }
    }
    sqlite3_reset(statement)
  }

  @inline(__always)
  static func text(_ statement: OpaquePointer, _ index: Int32) -> String {
    let bytes = sqlite3_column_text(statement, index)
    let count = Int(sqlite3_column_bytes(statement, index))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// The player of the row that a statement stands on.
  @inline(__always)
  static func player(_ statement: OpaquePointer) -> Player {
    Player(
      id: sqlite3_column_int64(statement, 0), name: text(statement, 1),
      score: Int(sqlite3_column_int64(statement, 2)), ratio: sqlite3_column_double(statement, 3),
      email: sqlite3_column_type(statement, 4) == SQLITE_NULL ? nil : text(statement, 4))
  }

  /// Commits what was begun before, and begins a transaction.
  func beginAnew() throws {
    if sqlite3_get_autocommit(handle) == 0 { try execute("COMMIT") }
    try execute("BEGIN")
  }

  func fill(_ players: [Player]) throws {
    let insert = try prepare("INSERT INTO player VALUES (?, ?, ?, ?, ?)")
    try execute("BEGIN")
    for player in players { try self.insert(player, insert) }
    try execute("COMMIT")
    sqlite3_finalize(insert)
  }
}
