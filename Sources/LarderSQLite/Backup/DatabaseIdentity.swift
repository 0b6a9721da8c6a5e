import CSQLite

/// The identity of a database, by which its copies are told from those of another one that has the same name: a random
/// number in a table of its own, `larder_identity`, made when copies are begun.
///
/// A database that is moved, or restored from a copy, keeps it. A file that was copied by hand has it too, but gets
/// another one when copies of it are begun while the original is still in its place, which is why the table also says
/// where that is.
package struct DatabaseIdentity: Hashable, Sendable {
  /// Sixteen hexadecimal digits.
  package let text: String

  /// Whether a text is one.
  static func isIdentity(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 16
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  package static let table = "larder_identity"

  /// What the table says.
  private struct Entry {
    let text: String
    /// Where the database was when this was written, and which file it was.
    let path: String
    let file: String
  }

  /// That of the database of a queue or pool, which gets one if it has none.
  ///
  /// Throws what a transaction throws. Who only reads, and finds none, has one of the file's place.
  init(of connections: Connections, at location: FileLocation) throws {
    let file = Self.description(of: location.identity)
    let call = ScopeCall("backup(every:to:)")
    let found = try connections.performSeldom(.read, call) { try Self.entry(in: $0) }
    if let found, found.path.isSame(as: location.path), found.file == file {
      text = found.text
    } else if connections.writer?.configuration.readOnly == true {
      text = found?.text ?? Self.hash(location.path + "\n" + file)
    } else {
      text = try connections.performSeldom(.transaction(.immediate), call) {
        try Self.establish(in: $0, at: location, file)
      }
    }
  }

  /// In a transaction: the identity that there is, or another where that is of a file that is still in its place.
  private static func establish(
    in db: Database, at location: FileLocation, _ file: String
  ) throws -> String {
    let found = try entry(in: db)
    let isCopy =
      found.map {
        !$0.path.isSame(as: location.path)
          && description(of: FileLocation.Identity(ofFileAt: $0.path)) == $0.file
      } ?? true
    let text =
      isCopy
      ? digits(.random(in: .min ... .max)) : found?.text ?? digits(.random(in: .min ... .max))
    let quoted = [text, location.path, file].map { $0.quoted(by: UInt8(ascii: "'")) }
    try run(
      """
      CREATE TABLE IF NOT EXISTS main.\(table) (id TEXT NOT NULL, path TEXT NOT NULL, file TEXT NOT NULL);
      DELETE FROM main.\(table);
      INSERT INTO main.\(table) VALUES (\(quoted.joined(separator: ", ")))
      """, on: db)
    return text
  }

  private static func entry(in db: Database) throws -> Entry? {
    let values = db.connection.withoutAuthorizer { handle -> [String]? in
      let columns = ["id", "path", "file"].map {
        Connection.text("SELECT \($0) FROM main.\(table)", on: handle)
      }
      return columns.contains(nil) ? nil : columns.compactMap { $0 }
    }
    guard let values, isIdentity(values[0]) else { return nil }
    return Entry(text: values[0], path: values[1], file: values[2])
  }

  private static func run(_ sql: String, on db: Database) throws {
    let code = db.connection.withoutAuthorizer { handle in
      sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 16)
      return sqlite3_exec(handle, sql, nil, nil, nil)
    }
    guard code == SQLITE_OK else { throw db.connection.error(code ?? SQLITE_MISUSE, sql: sql) }
  }

  private static func description(of identity: FileLocation.Identity?) -> String {
    identity.map { "\($0.device):\($0.inode)" } ?? ""
  }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// FNV-1a.
  private static func hash(_ text: String) -> String {
    digits(text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
  }
}
