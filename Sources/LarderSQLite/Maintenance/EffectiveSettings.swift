import CSQLite

/// The settings in force on a connection, as SQLite itself reports them.
public struct EffectiveSettings: Hashable, Sendable {
  /// The journal mode, such as `wal`.
  public let journalMode: String
  /// When the file is synced.
  public let synchronous: Configuration.Synchronous?
  /// Whether a queue or pool syncs the file for several commits at once: `full`, shared.
  public let groupCommit: Bool
  /// Whether foreign keys are enforced.
  public let foreignKeys: Bool
  /// Whether the connection is hardened, as all are unless they allow strings in double quotes: statements
  /// can't damage the file on purpose, pages are checked as they are read, text in double quotes is never a
  /// string, and no extension can be loaded.
  package var isHardened: Bool {
    isDefensive && cellSizeCheck && !allowsDoubleQuotedStrings && !loadsExtensions
  }
  /// The page cache in bytes.
  public let cacheSize: Int
  /// The size in bytes to which a journal is cut back, or nil for no limit.
  public let journalSizeLimit: Int?
  /// How long the connection waits for locks.
  public let busyTimeout: Duration
  /// Whether the database can only be read.
  public let isReadOnly: Bool
  /// Whether functions that aren't safe may be used in the schema.
  public let trustsSchema: Bool
  /// Whether triggers run.
  package let runsTriggers: Bool
  /// Whether views can be used.
  package let allowsViews: Bool
  /// Whether text in double quotes may be a string; see ``Configuration/allowsDoubleQuotedStrings``.
  public let allowsDoubleQuotedStrings: Bool
  package let mmapSize: Int
  package let isDefensive: Bool
  package let cellSizeCheck: Bool
  package let loadsExtensions: Bool
}

extension Database {
  /// The size of a page in bytes. SQLCipher answers with a text.
  var pageSize: Int {
    get throws {
      let answer = try value("PRAGMA page_size", as: DatabaseValue.self)
      if case .text(let text) = answer { return Int(text) ?? 0 }
      return try answer.map { try Int(databaseValue: $0) } ?? 0
    }
  }

  /// The settings in force on this connection, read back from SQLite. Throws if the connection is closed.
  public var effectiveSettings: EffectiveSettings {
    get throws {
      let handle = try connection.sqlite()
      func isOn(_ option: Int32) -> Bool { larder_db_config_value(handle, option) == 1 }
      let pages = try value("PRAGMA cache_size", as: Int.self) ?? 0
      let limit = try value("PRAGMA journal_size_limit", as: Int.self) ?? -1
      return EffectiveSettings(
        journalMode: try value("PRAGMA journal_mode", as: String.self) ?? "",
        synchronous: sharesSyncs
          ? configuration.synchronous
          : try value("PRAGMA synchronous", as: Int.self)
            .flatMap { Configuration.Synchronous(rawValue: $0) },
        groupCommit: sharesSyncs,
        foreignKeys: try value("PRAGMA foreign_keys", as: Bool.self) ?? false,
        cacheSize: pages < 0 ? -pages * 1024 : pages * (try pageSize),
        journalSizeLimit: limit < 0 ? nil : limit,
        busyTimeout: busyTimeout,
        isReadOnly: isReadOnly,
        trustsSchema: isOn(SQLITE_DBCONFIG_TRUSTED_SCHEMA),
        runsTriggers: isOn(SQLITE_DBCONFIG_ENABLE_TRIGGER),
        allowsViews: isOn(SQLITE_DBCONFIG_ENABLE_VIEW),
        allowsDoubleQuotedStrings: isOn(SQLITE_DBCONFIG_DQS_DML) || isOn(SQLITE_DBCONFIG_DQS_DDL),
        mmapSize: try value("PRAGMA mmap_size", as: Int.self) ?? 0,
        isDefensive: isOn(SQLITE_DBCONFIG_DEFENSIVE),
        cellSizeCheck: try value("PRAGMA cell_size_check", as: Bool.self) ?? false,
        loadsExtensions: isOn(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION))
    }
  }
}
