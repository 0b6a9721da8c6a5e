import CSQLite

extension Database {
  /// The memory of a connection, and the hits and misses of its page cache since it was opened. See [Status
  /// parameters](https://www.sqlite.org/c3ref/c_dbstatus_options.html).
  public struct Statistics: Hashable, Sendable {
    /// The memory of the page cache, in bytes.
    package let cacheBytes: Int
    /// The memory of the schema, in bytes.
    package let schemaBytes: Int
    /// The memory of compiled statements, in bytes.
    package let statementBytes: Int
    /// How many pages were in the cache when they were needed.
    public let cacheHits: Int
    /// How many pages had to be read.
    public let cacheMisses: Int
    /// How many pages were written to the file or the log.
    package let cacheWrites: Int
    /// How many pages had to be written in the middle of a transaction, because the cache was full.
    public let cacheSpills: Int
    /// The memory of the page cache, the schema and compiled statements, in bytes.
    public var bytes: Int { cacheBytes + schemaBytes + statementBytes }
  }
}

extension Statement {
  /// The costs of a statement's executions since it was prepared, which show where an index is missing. See
  /// [Status parameters](https://www.sqlite.org/c3ref/c_stmtstatus_counter.html).
  public struct Statistics: Hashable, Sendable {
    /// How many steps went through rows of a table without an index.
    public let fullScanSteps: Int
    /// How many times rows were sorted.
    public let sorts: Int
    /// How many rows went into indexes that SQLite made for the statement alone.
    package let automaticIndexRows: Int
    /// How many instructions of SQLite's virtual machine were run.
    public let steps: Int
    /// How many times the statement ran.
    public let count: Int
    /// The memory of the statement, in bytes.
    public let bytes: Int
  }
}

extension Connection {
  /// Measures the connection's memory, since somebody has asked for it.
  func measureMemory() {
    // Not from inside of a statement, whose memory changes just then.
    guard callDepth == 0 else { return }
    unblock(.measurement)
    guard let handle else { return }
    let bytes = [
      SQLITE_DBSTATUS_CACHE_USED, SQLITE_DBSTATUS_SCHEMA_USED, SQLITE_DBSTATUS_STMT_USED,
    ].reduce(0) { sum, status in
      var (current, highest) = (Int32(0), Int32(0))
      sqlite3_db_status(handle, status, &current, &highest, 0)
      return sum + Int(current)
    }
    memory.store(bytes, ordering: .relaxed)
  }
}

extension Database {
  /// The connection's figures, from SQLite's own counts. Throws ``UnsupportedByEngine`` if the engine isn't
  /// SQLite.
  public var statistics: Statistics {
    get throws {
      let handle = try connection.sqlite()
      func figure(_ status: Int32) -> Int {
        var (current, highest) = (Int32(0), Int32(0))
        sqlite3_db_status(handle, status, &current, &highest, 0)
        return Int(current)
      }
      return Statistics(
        cacheBytes: figure(SQLITE_DBSTATUS_CACHE_USED),
        schemaBytes: figure(SQLITE_DBSTATUS_SCHEMA_USED),
        statementBytes: figure(SQLITE_DBSTATUS_STMT_USED),
        cacheHits: figure(SQLITE_DBSTATUS_CACHE_HIT),
        cacheMisses: figure(SQLITE_DBSTATUS_CACHE_MISS),
        cacheWrites: figure(SQLITE_DBSTATUS_CACHE_WRITE),
        cacheSpills: figure(SQLITE_DBSTATUS_CACHE_SPILL))
    }
  }
}

extension Statement {
  /// The costs of the statement's executions so far, from SQLite's own counts. Throws if the statement is
  /// closed, and ``UnsupportedByEngine`` if the engine isn't SQLite.
  public var statistics: Statistics {
    get throws {
      _ = try prepared.connection.sqlite()
      guard let handle = prepared.handle else {
        throw DatabaseError(.misuse, "the statement is closed", sql: sql)
      }
      func figure(_ status: Int32) -> Int { Int(sqlite3_stmt_status(handle, status, 0)) }
      return Statistics(
        fullScanSteps: figure(SQLITE_STMTSTATUS_FULLSCAN_STEP),
        sorts: figure(SQLITE_STMTSTATUS_SORT),
        automaticIndexRows: figure(SQLITE_STMTSTATUS_AUTOINDEX),
        steps: figure(SQLITE_STMTSTATUS_VM_STEP),
        count: figure(SQLITE_STMTSTATUS_RUN),
        bytes: figure(SQLITE_STMTSTATUS_MEMUSED))
    }
  }
}
