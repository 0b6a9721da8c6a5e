/// How connections are opened, and what they are allowed.
///
/// ```swift
/// var configuration = Configuration(profile: .durable)
/// configuration.busyTimeout = .seconds(10)
/// let db = try Database(path: "cities.db", configuration: configuration)
/// ```
///
/// A profile sets every property to what suits its use; any of them can be changed before opening.
/// Whatever the profile, connections are hardened: extended result codes, foreign keys enforced,
/// [defensive mode](https://www.sqlite.org/c3ref/c_dbconfig_defensive.html), untrusted schema,
/// no strings in double quotes and no URI names unless asked for, no extensions, cell checks; and
/// files are created readable and writable by their owner only.
public struct Configuration: Sendable {
  /// The use of a database, for which its settings are chosen.
  public enum Profile: Hashable, Sendable {
    /// A service's own data: write-ahead log, synchronous NORMAL, waits 5 seconds for locks, page
    /// cache of 16 MiB, log kept below 64 MiB. A loss of power can undo the last transactions, but
    /// never corrupts the file; a crash of the process loses nothing.
    case service
    /// ``service`` with synchronous FULL: commits survive a loss of power. With the journal mode
    /// `delete` that takes EXTRA, which is set in its place.
    case durable
    /// A file from elsewhere: read-only unless asked otherwise, checked before use, no memory
    /// mapping, triggers and views off, tight limits: values up to 1 MiB, and 10 seconds for each
    /// statement, the check at opening too. Raise ``Configuration/limits`` for larger values, and
    /// ``Configuration/statementDeadline`` for files of more than a gigabyte.
    ///
    /// A deadline ends a statement only between two of its steps, and a file can make SQLite compute a
    /// row that takes long in a single step: the limits bound what a step can cost.
    case untrustedFile
  }

  /// The journal that makes transactions atomic; see
  /// [journal_mode](https://www.sqlite.org/pragma.html#pragma_journal_mode).
  public enum JournalMode: String, Hashable, Sendable {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case delete, truncate, persist, memory, wal
  }

  /// When the file is synced; see [synchronous](https://www.sqlite.org/pragma.html#pragma_synchronous).
  ///
  /// With a write-ahead log, `full` is enough for commits to survive a loss of power. With the journal
  /// mode `delete` only `extra` is: `full` doesn't sync the journal's deletion, and if power fails
  /// before that reaches the disk, the last transaction is undone.
  public enum Synchronous: Int, Hashable, Sendable {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case off, normal, full, extra
  }

  /// Flags for opening; see [Opening](https://www.sqlite.org/c3ref/open.html).
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The flags as bits of Larder's own.
    public let rawValue: Int
    /// The flags with these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Create the file if there is none. On by default.
    public static let create = Flags(rawValue: 1)
    /// Take a path that begins with `file:` as a [URI](https://www.sqlite.org/uri.html).
    public static let uri = Flags(rawValue: 2)
    /// Fail if the path is a symbolic link.
    public static let noFollow = Flags(rawValue: 4)
  }

  /// The profile that the other properties were set from.
  package let profile: Profile
  /// Whether to open for reading only. Nothing is created then.
  public var readOnly: Bool
  /// Further choices for opening.
  public var flags: Flags = .create
  /// The name of a registered [VFS](https://www.sqlite.org/vfs.html), or nil for the default.
  public var vfs: String?
  /// The key of an encrypted file, or of the one that is created; nil for none. Each connection gets it, also
  /// those that a pool opens. Opening throws ``UnsupportedByEngine`` if the linked library doesn't encrypt,
  /// and `ResultCode.notADatabase` if the key is wrong or missing, or the file isn't encrypted. See
  /// <doc:Encryption>.
  public var key: EncryptionKey?
  /// How long to wait for other connections' locks before a call throws `ResultCode.busy`; zero
  /// doesn't wait. Measured on a clock that goes on while the system sleeps.
  public var busyTimeout: Duration = .seconds(5)
  /// Whether foreign keys are enforced.
  public var foreignKeys = true
  /// The journal mode of files, or nil to leave it as it is. Files that can't have it, such as
  /// read-only and in-memory ones, keep their own.
  public var journalMode: JournalMode?
  /// When the file is synced.
  public var synchronous: Synchronous
  /// The page cache of a connection in bytes.
  public var cacheSize = 16 << 20
  /// The size in bytes to which a journal is cut back after use, or nil for no limit. A pool makes its
  /// log restart once it exceeds a quarter of that (of 64 MiB for nil).
  public var journalSizeLimit: Int? = 64 << 20
  /// How many prepared statements a connection's LRU cache keeps at most; zero for none. Statements of
  /// records and queries count like those of SQL written by hand. Only the few that begin and end
  /// scopes' transactions are kept in addition.
  ///
  /// While there is room, every statement is kept. In a full cache, a statement that runs for the second time
  /// within a while replaces the least recently used one; SQL that never repeats is not kept.
  public var statementCacheCapacity = 128
  /// How long a statement may run before it throws `ResultCode.interrupt`; nil for no limit. SQLite
  /// stops between its steps only: a single call of a function isn't interrupted.
  public var statementDeadline: Duration?
  /// The most connections that a pool opens for reading.
  public var maximumReaders = 4
  /// How long a call waits for the writer of a queue or pool, or for a free reader, before it throws
  /// `ResultCode.busyTimeout`. If syncs are shared, also how long it waits for the disk before it throws
  /// `ResultCode.ioErrorFsync`: its commit is written then, but not known to be durable.
  public var scopeTimeout: Duration = .seconds(30)
  /// Whether durable transactions that commit at about the same time share one sync of the log (group
  /// commit): with ``synchronous`` FULL or EXTRA and a write-ahead log, in a queue or a pool. No caller
  /// is told an outcome before it is on disk; other processes, and other queues on the file, may see a
  /// commit some milliseconds earlier. False: SQLite syncs each commit by itself.
  public var groupCommit = true
  /// Whether a pool's reads, too, return only once the commits that they may have seen are on disk, if
  /// syncs are shared. False: they don't wait, and may return rows that a loss of power undoes.
  public var readsWaitForDurability = true
  /// How long a whole transaction is retried while another process is in its way (`ResultCode.busy`,
  /// `ResultCode.busySnapshot`), with back-off and jitter, counted from the first refusal. Its closure runs
  /// again each time. Nil: no retries.
  public var retryLimit: Duration?
  /// How dates are stored.
  public var dateFormat: DateFormat = .secondsSince1970
  /// The preset of what statements may do; nil allows everything.
  public var authorizer: Authorizer?
  /// Whether views and triggers may use virtual tables, and functions that aren't known to be
  /// harmless. If not, triggers may still write to FTS5's tables, to keep them up to date. Leave it
  /// off for files from elsewhere, whose schema could do harm; see
  /// [trusted_schema](https://www.sqlite.org/pragma.html#pragma_trusted_schema).
  public var trustsSchema = false
  /// Whether `"text"` is a string if no column has that name, as it once was everywhere in SQLite. For
  /// databases whose views and triggers depend on that. A misspelled name is then no error in your own SQL
  /// either. See [double-quoted string literals](https://www.sqlite.org/quirks.html#dblquote).
  public var allowsDoubleQuotedStrings = false
  /// Limits to set on the connection.
  public var limits: [Limit: Int] = [:]
  /// Whether errors and trace events show the values of arguments, which may be private.
  public var showsArguments = false
  /// Called after each statement that took at least ``slowStatementThreshold``.
  public var trace: (@Sendable (TraceEvent) -> Void)?
  /// The shortest time a statement takes in SQLite for ``trace`` to be told of it.
  public var slowStatementThreshold: Duration = .zero
  /// Whether the log and the trace get SQL with `?` in place of the literals that are written in it. For
  /// programs that write values into SQL. Values that are bound are never told, unless ``showsArguments`` is on.
  public var masksLiterals = false
  /// Called with each error that SQLite reports, and with each other `DatabaseError` that a scope throws to its
  /// caller, once. Of equal errors it gets the first, and every ten seconds one that says by
  /// ``DatabaseError/repeats`` how many followed. Larder itself never prints.
  public var log: (@Sendable (DatabaseError) -> Void)? {
    didSet { errorLog = log.map { ErrorLog($0) } }
  }
  /// The log, which counts equal errors. Copies of the configuration share it.
  package private(set) var errorLog: ErrorLog?
  /// The shortest time a scope takes from its call to its return for ``log`` to be told, with
  /// `ResultCode.warning`, where its time went and who was ahead of it. Nil: none.
  public var slowScopeThreshold: Duration?
  /// Whether the calls of scopes and their statements are counted and timed, for ``AccessStatistics/calls`` and
  /// ``AccessStatistics/statements``. All are counted, and each that takes longer than two ticks of the system's
  /// coarse clock (8 ms on most systems) is noted. Of the others the first sixteen are timed, and then one of about
  /// fifty, which stands for those before it: so their totals and histograms are estimates.
  public var measuresCalls = false
  /// Called with the times of each scope of a queue or pool when it has ended: on the caller's thread or in
  /// its task, so that task-local values are the caller's. The writer is free by then.
  public var spans: (@Sendable (ScopeSpan) -> Void)?
  /// Extensions that each connection loads once it is open, before ``prepareDatabase``. SQL can't load any,
  /// whatever this holds.
  public var extensions: [Extension] = []
  /// The number of the program that a file belongs to (`PRAGMA application_id`). Opening a file with another
  /// number throws `ResultCode.mismatch`; a new file gets this one. Nil: any. See
  /// [application_id](https://www.sqlite.org/pragma.html#pragma_application_id).
  public var applicationID: Int32?
  /// Whether deleted content is overwritten with zeros in the file; nil for the default of SQLite's build.
  /// See [secure_delete](https://www.sqlite.org/pragma.html#pragma_secure_delete).
  public var secureDelete: Bool?
  /// Whether closing gathers statistics that the query planner lacks, as ``Database/optimize()`` does. In a
  /// queue or pool, the writing connection does it.
  public var optimizesOnClose = false
  /// Whether closing a connection that only reads removes the log that it had to make, so that nothing is
  /// left beside the file. ``Profile/untrustedFile`` always does so.
  package var removesOwnLog = false
  /// Called for each connection once it is open and set up, to register functions and the like.
  /// An error that it throws makes opening fail.
  public var prepareDatabase: (@Sendable (Database) throws -> Void)?

  /// The settings of a profile.
  public init(profile: Profile = .service) {
    self.profile = profile
    readOnly = profile == .untrustedFile
    journalMode = profile == .untrustedFile ? nil : .wal
    synchronous = profile == .service ? .normal : .full
    if profile == .untrustedFile {
      limits = [
        .length: 1 << 20, .sqlLength: 1 << 16, .columns: 200, .expressionDepth: 200,
        .compoundSelects: 50, .functionArguments: 32, .attached: 0, .likePatternLength: 50,
        .variables: 10_000, .triggerDepth: 10, .workerThreads: 0,
        // Generated columns that build on each other make statements of any size.
        .virtualMachineInstructions: 100_000,
      ]
      statementDeadline = .seconds(10)
    }
  }
}

extension Configuration {
  /// Tells the log of an error that no connection has reported. Returns it as reported.
  package func reporting(_ error: DatabaseError) -> DatabaseError {
    guard let errorLog, !error.isReported else { return error }
    var error = error
    error.isReported = true
    errorLog.report(masksLiterals ? error.maskingLiterals : error)
    return error
  }
}
