import CSQLite

/// SQLite called by hand, the way an expert does: statements prepared once, static text with an
/// explicit length, no mutex, columns by position.
final class Reference {
  let handle: OpaquePointer

  static var version: String { String(cString: sqlite3_libversion()) }

  /// Opens a database, and creates the table unless it isn't new.
  init(path: String?, isNew: Bool = true) throws {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path ?? ":memory:", &opened, flags, nil) == SQLITE_OK, let opened else {
      throw Failure(code: SQLITE_CANTOPEN)
    }
    handle = opened
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
    sqlite3_bind_int64(statement, 1, player.id)
    var name = player.name
    try name.withUTF8 { name in
      larder_bind_text_static(statement, 2, name.baseAddress, UInt64(name.count))
      sqlite3_bind_int64(statement, 3, Int64(player.score))
      sqlite3_bind_double(statement, 4, player.ratio)
      if var email = player.email {
        try email.withUTF8 { email in
          larder_bind_text_static(statement, 5, email.baseAddress, UInt64(email.count))
          try check(sqlite3_step(statement))
        }
      } else {
        sqlite3_bind_null(statement, 5)
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

  func fill(_ players: [Player]) throws {
    let insert = try prepare("INSERT INTO player VALUES (?, ?, ?, ?, ?)")
    try execute("BEGIN")
    for player in players { try self.insert(player, insert) }
    try execute("COMMIT")
    sqlite3_finalize(insert)
  }
}
