import Larder
import ProofSupport

/// What a program does with Larder, step by step, each of which changes a file as a whole or not at
/// all.
struct FaultScript: Sendable {
  let name: String
  /// Whether the script begins with the template's file, or with an empty folder.
  var needsFile = true
  /// Whether it works in any journal mode, or needs a write-ahead log.
  var needsLog = false
  /// When it syncs, where that isn't tried in all ways.
  var synchronous: Configuration.Synchronous?
  /// How many of the first steps nothing fails in.
  var safeSteps = 0
  /// Whether short runs try every point of it too.
  var isAlwaysWhole = false
  let steps: [FaultStep]
}

/// One step of a script: throws what Larder throws, or ``WrongAnswer``.
struct FaultStep: Sendable {
  let name: String
  let run: @Sendable (FaultBench) throws -> Void

  init(_ name: String, _ run: @escaping @Sendable (FaultBench) throws -> Void) {
    self.name = name
    self.run = run
  }

  /// A step on the script's plain connection.
  static func with(_ name: String, _ run: @escaping @Sendable (Database) throws -> Void)
    -> FaultStep
  {
    FaultStep(name) { try run($0.database()) }
  }
}

/// What a script works with, and what it was told has been done.
final class FaultBench {
  let folder: String
  let configuration: Configuration
  private var connection: Database?
  private(set) var queue: DatabaseQueue?
  private(set) var pool: DatabasePool?
  /// Payments whose transactions were acknowledged.
  var acknowledged: [Int] = []
  /// Whether the step that failed begins transactions by hand.
  var isByHand = false

  init(folder: String, configuration: Configuration) {
    self.folder = folder
    self.configuration = configuration
  }

  /// `SQLITE_IOERR_FSYNC`.
  private static let failedSync: ResultCode = 1034

  var path: String { file("main.db") }
  func file(_ name: String) -> String { folder + "/" + name }

  func open(_ configuration: Configuration? = nil, _ name: String = "main.db") throws {
    connection = try Database(path: file(name), configuration: configuration ?? self.configuration)
  }

  func openQueue() throws { queue = try DatabaseQueue(path: path, configuration: configuration) }

  func openPool() throws { pool = try DatabasePool(path: path, configuration: configuration) }

  func database() throws -> Database {
    guard let connection else { throw WrongAnswer(description: "the script has opened nothing") }
    return connection
  }

  /// Whatever takes transactions.
  func access() throws -> any DatabaseAccess {
    guard let access: any DatabaseAccess = queue ?? pool else {
      throw WrongAnswer(description: "the script has opened nothing")
    }
    return access
  }

  /// Works with the connections as if nothing had happened; opens one where there is none.
  func probe() throws {
    func write(_ db: Database) throws {
      // A migration turns them off while it runs.
      try WrongAnswer.check(db.effectiveSettings.foreignKeys, true, "whether foreign keys hold")
      try db.executeStatements(
        """
        CREATE TABLE IF NOT EXISTS probe (id INTEGER PRIMARY KEY);
        INSERT INTO probe DEFAULT VALUES;
        """)
    }
    func read(_ db: Database) throws {
      let count = try db.value("SELECT count(*) FROM probe", as: Int.self)
      try WrongAnswer.check(count, 1, "the number of rows written after a failure")
    }
    if let access: any DatabaseAccess = queue ?? pool {
      do {
        try access.inTransaction { try write($0) }
      } catch let error as DatabaseError where error.extendedCode == Self.failedSync {
        // Nobody knows what a sync that failed has left on the disk: no more is written until the
        // file is opened anew.
        let isPool = pool != nil
        try close()
        try isPool ? openPool() : openQueue()
        try self.access().inTransaction { try write($0) }
      }
      try self.access().read { try read($0) }
      return
    }
    if connection?.isReadOnly ?? true { try open() }
    let db = try database()
    // As a program does after an error in a transaction that it began by hand.
    if isByHand, db.isInTransaction { try db.rollback() }
    try WrongAnswer.check(db.isInTransaction, false, "whether a transaction is open still")
    try db.inTransaction { try write($0) }
    try read(db)
  }

  func close() throws {
    defer { (connection, queue, pool) = (nil, nil, nil) }
    try connection?.close()
    try queue?.close()
    try pool?.close()
  }
}
