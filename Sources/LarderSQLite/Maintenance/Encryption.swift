import CSQLite
import Glibc

// Encrypted files: changes their keys, attaches and copies them, and checks their pages. Keys are never in
// SQL, nor among a statement's arguments.

extension Database {
  /// Rewrites each page of the database with another key. See
  /// [sqlite3_rekey](https://www.zetetic.net/sqlcipher/sqlcipher-api/#rekey).
  ///
  /// This takes exclusive use of the file, which leaves WAL mode meanwhile. Connections that others have open
  /// don't know the new key: they throw `ResultCode.notADatabase` from then on.
  ///
  /// Throws `ResultCode.misuse` in a transaction, in a pool (its readers have the former key), and for a
  /// database that isn't encrypted (use ``backup(to:key:)``). Throws `ResultCode.busy` if another connection
  /// uses a write-ahead log of the file, and ``UnsupportedByEngine`` if the library doesn't encrypt. A
  /// failure after pages were written closes the connection, and leaves the file with one key or the other.
  public func rekey(_ key: EncryptionKey) throws {
    let handle = try connection.sqlite()
    try EncryptionKey.checkCipher("encryption (rekey)")
    guard connection.key != nil else {
      throw DatabaseError(.misuse, "the database isn't encrypted: copy it with backup(to:key:)")
    }
    guard !isInTransaction, !hasOpenStatements else {
      throw DatabaseError(
        .misuse, "the key can't be changed while a transaction or statement is open")
    }
    guard checkpoints == nil else {
      throw DatabaseError(
        .misuse,
        "a pool can't change its key, since its readers use it: close the pool, and use DatabaseQueue"
      )
    }
    guard !isReadOnly else { throw DatabaseError(.readOnly, "the database can only be read") }
    // An empty key is refused before anything changes.
    try key.withBytes { _, _ in }
    let mode = try value("PRAGMA journal_mode", as: String.self)
    if mode == "wal" { try setMode("delete") }
    // Throws if another connection has locked the file meanwhile.
    try executeUpdate("BEGIN EXCLUSIVE")
    try executeUpdate("COMMIT")
    cache.removeAll()
    transactionStatements.removeAll()
    let code = try connection.whileCalling {
      try key.withBytes { larder_rekey(handle, $0, $1) }
    }
    do {
      guard code == SQLITE_OK else { throw connection.error(code) }
      connection.key = key
      // SQLCipher doesn't notice a commit that fails.
      try checkRekeyed()
    } catch {
      // This connection would write the next page with the new key, into a file that has the former one.
      closeEverything()
      throw error
    }
    if mode == "wal" { try setMode("wal") }
  }

  private func setMode(_ mode: String) throws {
    guard try value(SQL(raw: "PRAGMA journal_mode = \(mode)"), as: String.self) == mode else {
      throw DatabaseError(.busy, "another connection uses the file's write-ahead log")
    }
  }

  /// Reads the file by a new connection, which has nothing of it in memory.
  private func checkRekeyed() throws {
    guard let location = try fileLocation() else { return }
    var other = configuration
    other.key = connection.key
    other.readOnly = true
    other.prepareDatabase = nil
    other.extensions = []
    other.authorizer = nil
    other.applicationID = nil
    try Database(at: location, configuration: other).close()
  }

  /// Attaches a database with a key of its own, or with none (nil). SQL's ATTACH gives the attached one the
  /// key that this database has.
  ///
  /// Throws as [ATTACH](https://www.sqlite.org/lang_attach.html) does, `ResultCode.notADatabase` if the key
  /// isn't the file's, and ``UnsupportedByEngine`` for a key if the library doesn't encrypt.
  ///
  /// - Parameters:
  ///   - path: a file, which is created if there is none; `""` for a temporary file.
  ///   - name: the name of the database in statements.
  ///   - key: the key of the file, or of a new file; nil for one that isn't encrypted.
  public func attach(_ path: String, as name: String, key: EncryptionKey?) throws {
    let handle = try connection.sqlite()
    if key != nil { try EncryptionKey.checkCipher("encryption (attach)") }
    guard !path.utf8.contains(0), !name.isEmpty, !name.utf8.contains(0) else {
      throw DatabaseError(
        .misuse, "neither the path nor the name can contain a NUL, and the name can't be empty")
    }
    let sql = larder_has_cipher() == 0 ? "ATTACH ? AS ?" : "ATTACH ? AS ? KEY ?"
    try connection.restrictions.check(
      .keyedAttachment, false, hasTransaction: connection.hasTransaction, sql: sql)
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    // The key's bytes are bound in place, and released once the statement has run.
    func run(_ bytes: UnsafeRawPointer?, _ count: Int32) throws {
      var code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
      guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
      // Debian builds SQLite so that it takes `file:…` as a URI unasked.
      let isPlain = !configuration.flags.contains(.uri) || !DatabaseURI.isURI(path)
      guard isPlain || !DatabaseURI.holdsKey(path) else {
        throw DatabaseError(.misuse, "a path can't hold a key")
      }
      let file = isPlain && DatabaseURI.isURI(path) ? "./" + path : path
      for (index, text) in [file, name].enumerated() {
        var text = text
        text.withUTF8 {
          _ = larder_bind_text_transient(
            statement, Int32(index + 1), $0.baseAddress, UInt64($0.count))
        }
      }
      if let bytes {
        larder_bind_blob_static(statement, 3, bytes, UInt64(count))
      } else if larder_has_cipher() != 0 {
        larder_bind_text_transient(statement, 3, "", 0)
      }
      code = connection.whileCalling { sqlite3_step(statement) }
      connection.hasNewAttachments = true
      guard code == SQLITE_DONE else { throw connection.error(code, sql: sql) }
      sqlite3_clear_bindings(statement)
    }
    if let key { try key.withBytes(run) } else { try run(nil, 0) }
  }

  /// Copies the database into a new file with another key, or with none (nil). This encrypts a plain
  /// database, or decrypts an encrypted one. See
  /// [sqlcipher_export](https://www.zetetic.net/sqlcipher/sqlcipher-api/#sqlcipher_export).
  ///
  /// The file appears when it is complete and on disk. Throws `ResultCode.cannotOpen` if there is a file of
  /// that name, or the log or journal of a former one, or if this database can only be read; `ResultCode.misuse` in a transaction;
  /// ``UnsupportedByEngine`` if the library doesn't encrypt.
  public func backup(to path: String, key: EncryptionKey?) throws {
    let handle = try connection.sqlite()
    try EncryptionKey.checkCipher("encryption (backup)")
    try NewFile.checkPath(path)
    guard !isInTransaction else {
      throw DatabaseError(.misuse, "files can't be copied while a transaction is open")
    }
    func refusal() -> DatabaseError {
      DatabaseError(.cannotOpen, "the file exists already: \(path)")
    }
    guard access(path, F_OK) != 0 else { throw refusal() }
    let file = NewFile(at: NewFile.end(ofLinksFrom: path))
    defer { file.discard() }
    let name = "larder_backup"
    try file.make { draft in
      try connection.authorizer.whilePaused {
        try attach(draft, as: name, key: key)
        defer { _ = try? execute("DETACH \(name)", on: handle) }
        // One snapshot of the database, and one commit.
        try execute("BEGIN", on: handle)
        do {
          try execute("SELECT sqlcipher_export('\(name)')", on: handle)
          for pragma in ["user_version", "application_id"] {
            let value = Connection.text("PRAGMA main.\(pragma)", on: handle) ?? "0"
            try execute("PRAGMA \(name).\(pragma) = \(value)", on: handle)
          }
          try execute("COMMIT", on: handle)
        } catch {
          _ = try? execute("ROLLBACK", on: handle)
          throw error
        }
      }
    }
    guard try file.publish() else { throw refusal() }
  }

  private func execute(_ sql: String, on handle: OpaquePointer) throws {
    let code = connection.whileCalling { sqlite3_exec(handle, sql, nil, nil, nil) }
    guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
  }

  /// Checks the pages of an encrypted file. Returns a line for each defect: none if each page is what was
  /// written with the key. See
  /// [cipher_integrity_check](https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_integrity_check).
  ///
  /// It doesn't check what the pages hold, as `PRAGMA integrity_check` does. Throws `ResultCode.misuse` for a
  /// database that isn't encrypted, and ``UnsupportedByEngine`` if the library doesn't encrypt.
  public func cipherIntegrityCheck() throws -> [String] {
    _ = try connection.sqlite()
    try EncryptionKey.checkCipher("encryption (cipherIntegrityCheck)")
    guard connection.key != nil else {
      throw DatabaseError(.misuse, "the database isn't encrypted")
    }
    let result = try executeQuery("PRAGMA cipher_integrity_check")
    defer { result.close() }
    return try result.map { try $0.get(at: 0, as: String.self) }
  }
}

extension Connection {
  /// The possible cause, for an error text, when SQLite says that a file is no database.
  var keyAdvice: String {
    guard key != nil else { return ", or it is encrypted and needs a key" }
    return handle.map { larder_has_plain_header($0) != 0 } == true
      ? "; it isn't encrypted, but a key was given"
      : "; the key is wrong, or it isn't encrypted"
  }
}
