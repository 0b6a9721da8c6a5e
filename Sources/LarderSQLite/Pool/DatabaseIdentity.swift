import CSQLite

/// The identity of a database, which tells its copies from those of another one that has the same name. It is
/// a random number in a table of its own, `larder_identity`, which is created when a backup begins.
///
/// A database that is moved, or restored from a copy, keeps it. A file that was copied by hand has it too. It
/// gets another one if its own backup begins while the original is still in its place, which is why the table
/// also holds that place; or while another file makes the points of that identity in the same folder.
package struct DatabaseIdentity: Hashable, Sendable {
  /// Sixteen hexadecimal digits.
  package let text: String

  /// Whether a text has the form of an identity.
  package static func isIdentity(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 16
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  private static let table = BookkeepingTables.identity

  /// The content of the table.
  private struct Entry {
    let text: String
    /// The database's path when this was written, and the identity of its file.
    let path: String
    let file: String
  }

  /// Finds the identity of a queue's or pool's database, which gets one if it has none.
  ///
  /// Throws what a transaction throws. A read-only connection that finds none makes one from the file's
  /// place.
  ///
  /// - Parameter anew: whether it gets another one, since another database has the same.
  package init(
    of connections: Connections, at location: FileLocation, anew: Bool = false
  ) throws {
    let file = Self.description(of: location.identity)
    let call = ScopeCall("backup(every:to:)")
    let found = anew ? nil : try connections.performSeldom(.read, call) { Self.entry(in: $0) }
    if let found, found.path.isSame(as: location.path), found.file == file {
      text = found.text
    } else if connections.writer?.configuration.readOnly == true {
      text = found?.text ?? Self.hash(location.path + "\n" + file)
    } else {
      text = try connections.performSeldom(.transaction(.immediate), call) {
        try Self.establish(in: $0, at: location, file, anew)
      }
    }
  }

  /// Returns the present identity, or a new one if there is none or if it belongs to a file that is still in
  /// its place. Called in a transaction.
  private static func establish(
    in db: Database, at location: FileLocation, _ file: String, _ anew: Bool
  ) throws -> String {
    var found = anew ? nil : entry(in: db)
    if let original = found, !original.path.isSame(as: location.path),
      description(of: FileLocation.Identity(ofFileAt: original.path)) == original.file
    {
      found = nil
    }
    let text = found?.text ?? digits(.random(in: .min ... .max))
    let quoted = [text, location.path, file].map { $0.quoted(by: UInt8(ascii: "'")) }
    let sql = """
      CREATE TABLE IF NOT EXISTS main.\(table) (id TEXT NOT NULL, path TEXT NOT NULL, file TEXT NOT NULL);
      DELETE FROM main.\(table);
      INSERT INTO main.\(table) VALUES (\(quoted.joined(separator: ", ")))
      """
    let code = db.connection.withoutAuthorizer { handle in
      sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 16)
      return sqlite3_exec(handle, sql, nil, nil, nil)
    }
    guard code == SQLITE_OK else { throw db.connection.error(code ?? SQLITE_MISUSE, sql: sql) }
    return text
  }

  private static func entry(in db: Database) -> Entry? {
    db.connection.withoutAuthorizer { handle in
      let row = OwnStatement("SELECT id, path, file FROM main.\(table)", on: handle)
      guard row.next(), let text = row[0], let path = row[1], let file = row[2],
        isIdentity(text)
      else { return nil }
      return Entry(text: text, path: path, file: file)
    }
  }

  package static func description(of identity: FileLocation.Identity?) -> String {
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
