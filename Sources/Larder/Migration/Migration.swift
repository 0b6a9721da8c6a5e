import LarderSQLite

/// One step from one schema to the next: a name that never changes, and what it does.
///
/// ```swift
/// Migration("create city", sql: """
///   CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
///   CREATE INDEX city_name ON city (name);
///   """)
/// Migration("trim names") { db in
///   for city in try City.fetchAll(db) { try city.trimmed().update(db) }
/// }
/// ```
///
/// SQL is better where it does: a ``Migrator`` notices when it is changed after it was applied,
/// which it can't for a closure. A closure should use SQL or records of its own, since the
/// program's records change with the program, and the migration mustn't. Neither can begin or end
/// transactions; what they attach is detached when they end.
///
/// What ALTER TABLE can't change takes a new table, also where others refer to the old one:
///
/// ```swift
/// Migration("make names obligatory", sql: """
///   CREATE TABLE new_country (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
///   INSERT INTO new_country SELECT id, name FROM country;
///   DROP TABLE country;
///   ALTER TABLE new_country RENAME TO country;
///   """)
/// ```
public struct Migration: Sendable {
  /// How foreign keys are kept where the connection enforces them.
  public enum ForeignKeys: Hashable, Sendable {
    /// Not enforced while the migration runs, so that a table can be
    /// [rebuilt](https://www.sqlite.org/lang_altertable.html#otheralter) that others refer to;
    /// those of all tables are checked before the commit, and what is violated then and wasn't before
    /// undoes the migration. Rows that are deleted don't take those along that refer to them.
    case checkedBeforeCommit
    /// Enforced as ever, with CASCADE and SET NULL, and without the check of all tables.
    case enforced
  }

  /// Its name: any text but an empty one.
  public let name: String
  /// What the SQL amounts to, as 16 digits: spaces, comments, the case of words and semicolons at the
  /// end don't count. Nil for a closure.
  public let checksum: String?
  /// The same of what runs on another engine.
  private let engineChecksum: String?
  /// Checksums that earlier versions of Larder have stored for the same.
  private let formerChecksums: [String]
  /// How foreign keys are kept.
  public let foreignKeys: ForeignKeys
  /// The `user_version` of databases that had come as far as this before there was a `Migrator`.
  public private(set) var userVersion: Int32?
  /// Whether another engine runs it in a transaction.
  let isTransactional: Bool
  var up: @Sendable (Database) throws -> Void
  let down: (@Sendable (Database) throws -> Void)?

  /// A migration of SQL: any number of statements.
  ///
  /// - `postgres`: what runs on PostgreSQL instead; nil for the same. It has a checksum of its own, for which
  ///   a text with dollar quotes or backslashes is taken as it is.
  /// - `inTransaction`: false for what PostgreSQL can't do in a transaction, such as CREATE INDEX
  ///   CONCURRENTLY: its statements run there one by one, and are remembered after the last. What has
  ///   run before one that fails stays, and all of them run again the next time: they have to be such
  ///   that can (`DROP INDEX IF EXISTS` before). SQLite has nothing like that, and a transaction as ever.
  /// - `down`: what undoes it, for `Migrator.migrateDown`. It isn't part of the
  ///   checksum.
  public init(
    _ name: String, foreignKeys: ForeignKeys = .checkedBeforeCommit, sql: SQL,
    postgres: SQL? = nil, inTransaction: Bool = true, down: SQL? = nil
  ) {
    self.name = name
    self.foreignKeys = foreignKeys
    checksum = sql.checksum
    engineChecksum = (postgres ?? sql).engineChecksum
    isTransactional = inTransaction
    formerChecksums = sql.formerChecksums
    up = { db in try db.executeStatements(db.engine == nil ? sql : postgres ?? sql) }
    if let down {
      self.down = { db in try db.executeStatements(down) }
    } else {
      self.down = nil
    }
  }

  /// A migration of Swift.
  ///
  /// - `down`: what undoes it, for `Migrator.migrateDown`.
  /// - `up`: what it does. What it throws undoes all of it.
  public init(
    _ name: String, foreignKeys: ForeignKeys = .checkedBeforeCommit,
    down: (@Sendable (Database) throws -> Void)? = nil,
    _ up: @escaping @Sendable (Database) throws -> Void
  ) {
    self.name = name
    self.foreignKeys = foreignKeys
    checksum = nil
    engineChecksum = nil
    isTransactional = true
    formerChecksums = []
    self.up = up
    self.down = down
  }

  /// The migration with a mark: databases with this
  /// [user_version](https://www.sqlite.org/pragma.html#pragma_user_version), from a time when that
  /// told their schema, have it and all before it already.
  ///
  /// Once a `Migrator` has seen a database, its `user_version` means nothing to it, and stays as it
  /// is.
  public func replacing(userVersion: Int32) -> Migration {
    var migration = self
    migration.userVersion = userVersion
    return migration
  }

  /// The checksum of what runs on a database's engine.
  func checksum(in db: Database) -> String? { db.engine == nil ? checksum : engineChecksum }

  /// Whether a database says that this is what was applied to it.
  func hasChecksum(_ stored: String?, in db: Database) -> Bool {
    stored == checksum(in: db) || db.engine == nil && formerChecksums.contains { $0 == stored }
  }
}
