import Foundation
import LarderSQLite

/// What connections do in a forked process, by the name that the command line has for each check.
///
/// In a program of its own because it has one thread. A fork of the process that runs the tests would
/// copy the locks that its other threads hold at that moment, and no thread to release them.
enum ForkCheck: String {
  case connection, properties, release, ownConnection, silence, heldQueue, observers

  /// Runs a check on a new database in this folder. Returns 0 if it holds; 1, with a line on standard
  /// error for each expectation that doesn't; 2 if there is no check of that name.
  static func run(_ name: String, in folder: String) -> Int32 {
    let report = Report()
    guard let check = ForkCheck(rawValue: name) else {
      report.fail("not the name of a check: \(name)")
      return 2
    }
    do {
      try check.run(in: folder, report)
    } catch {
      report.fail("\(error)")
    }
    return report.hasFailed ? 1 : 0
  }

  private func run(in folder: String, _ report: Report) throws {
    let path = folder + "/cities.db"
    let db = try Database(path: path)
    try db.executeStatements(
      "CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo'), ('Bergen')")
    switch self {
    case .connection: try Self.connection(db, report)
    case .properties: try Self.properties(db, report)
    case .release: try Self.release(db, path, report)
    case .ownConnection: try Self.ownConnection(db, path, report)
    case .silence: try Self.silence(db, folder + "/output", report)
    case .observers:
      try ObserversFork.check(try DatabaseQueue(path: path), path, report)
      try ObserversFork.check(try DatabasePool(path: path), path, report)
    case .heldQueue:
      try Self.held(try DatabaseQueue(path: path), report)
      try Self.held(try DatabasePool(path: path), report)
    }
  }

  private static func connection(_ db: Database, _ report: Report) throws {
    let rows = try db.executeQuery("SELECT name FROM city")
    report.expect("there is a first row") { try rows.next() }
    let statement = try db.prepare("SELECT name FROM city")
    // In this order all work in the parent.
    let calls: [(name: String, body: () throws -> Void)] = [
      ("next", { _ = try rows.next() }),
      ("step", { _ = try statement.step() }),
      ("execute", { try statement.execute() }),
      ("value", { _ = try db.value("SELECT 1", as: Int.self) }),
      ("prepare", { _ = try db.prepare("SELECT 1") }),
      ("validate", { try db.validate("SELECT 1") }),
      ("effectiveSettings", { _ = try db.effectiveSettings }),
      ("createFunction", { try db.createFunction("f", argumentCount: 0) { _ in 1 } }),
      ("checkpoint", { try db.checkpoint() }),
      ("begin", { try db.begin() }),
      ("commit", { try db.commit() }),
      ("inTransaction", { try db.inTransaction { _ in } }),
      ("inSavepoint", { try db.inSavepoint { _ in } }),
      ("executeQuery", { _ = try db.executeQuery("SELECT name FROM city") }),
      ("executeUpdate", { try db.executeUpdate("DELETE FROM city") }),
      ("executeStatements", { try db.executeStatements("DELETE FROM city") }),
      ("savepoint", { try db.savepoint("harvest") }),
      ("close", { try db.close() }),
    ]
    try report.inChild {
      for call in calls {
        report.expect("\(call.name) throws in the child") { refuses(call.body) }
      }
    }
    report.expect("the result set goes on in the parent") {
      try rows.next() && rows[0] == "Bergen"
    }
    report.expect("all rows are left") {
      try db.value("SELECT count(*) FROM city", as: Int.self) == 2
    }
    for call in calls {
      report.expect("\(call.name) works in the parent") {
        try call.body()
        return true
      }
    }
  }

  private static func refuses(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch let error as DatabaseError {
      return error.code == .misuse && error.message.contains("fork")
    } catch {
      return false
    }
  }

  /// What the child calls throws at once, although a thread of the parent has the turn.
  private static func held(_ access: any DatabaseAccess, _ report: Report) throws {
    let holds = DispatchSemaphore(value: 0)
    let letGo = DispatchSemaphore(value: 0)
    let hasEnded = DispatchSemaphore(value: 0)
    try access.read { _ in }
    Thread.detachNewThread {
      try? access.inDatabase { _ in
        holds.signal()
        letGo.wait()
      }
      hasEnded.signal()
    }
    holds.wait()
    let calls: [(name: String, body: () throws -> Void)] = [
      ("inDatabase", { try access.inDatabase { _ in } }),
      ("inTransaction", { try access.inTransaction { _ in } }),
      ("inSavepoint", { try access.inSavepoint { _ in } }),
      ("read", { try access.read { _ in } }),
      ("checkpoint", { try access.checkpoint() }),
    ]
    try report.inChild {
      for call in calls {
        let start = ContinuousClock.now
        report.expect("\(call.name) throws in the child") { refuses(call.body) }
        report.expect("\(call.name) throws at once") { ContinuousClock.now - start < .seconds(2) }
      }
    }
    letGo.signal()
    hasEnded.wait()
    for call in calls {
      report.expect("\(call.name) works in the parent") {
        try call.body()
        return true
      }
    }
  }

  private static func properties(_ db: Database, _ report: Report) throws {
    try db.begin()
    try db.executeUpdate("INSERT INTO city VALUES ('Bodø')")
    try report.inChild {
      report.expect("isInTransaction is false in the child") { !db.isInTransaction }
      report.expect("changes is 0 in the child") { db.changes == 0 }
      report.expect("totalChanges is 0 in the child") { db.totalChanges == 0 }
      report.expect("lastInsertRowID is 0 in the child") { db.lastInsertRowID == 0 }
      report.expect("isReadOnly is false in the child") { !db.isReadOnly }
      report.expect("isGoodConnection is false in the child") { !db.isGoodConnection }
      report.expect("limits are 0 in the child") { db.limit(.variables) == 0 }
    }
    report.expect("isInTransaction is true in the parent") { db.isInTransaction }
    report.expect("changes is 1 in the parent") { db.changes == 1 }
    report.expect("totalChanges is 3 in the parent") { db.totalChanges == 3 }
    report.expect("lastInsertRowID is 3 in the parent") { db.lastInsertRowID == 3 }
    report.expect("isGoodConnection is true in the parent") { db.isGoodConnection }
    report.expect("limits aren't 0 in the parent") { db.limit(.variables) > 0 }
    try db.commit()
  }

  private static func release(_ db: Database, _ path: String, _ report: Report) throws {
    var writer: Database? = try Database(path: path)
    // Pages that don't fit into the cache go to the log before the end of the transaction. Closing
    // the connection would take them out of the log's index, which both processes share.
    try writer?.executeUpdate("PRAGMA cache_size = 10")
    try writer?.begin()
    for _ in 0..<100 { try writer?.executeUpdate("INSERT INTO city VALUES (zeroblob(3000))") }
    try report.inChild {
      report.expect("the child's is the last reference") { isKnownUniquelyReferenced(&writer) }
      writer = nil
    }
    db.busyTimeout = .zero
    report.expect("the parent's lock lasts") {
      do {
        try db.executeUpdate("DELETE FROM city")
        return false
      } catch let error as DatabaseError {
        return error.isBusy
      }
    }
    try writer?.commit()
    report.expect("the parent's log is left") { access(path + "-wal", F_OK) == 0 }
    report.expect("all rows are left") {
      try db.value("SELECT count(*) FROM city", as: Int.self) == 102
    }
    report.expect("the file is intact") {
      try db.value("PRAGMA integrity_check", as: String.self) == "ok"
    }
  }

  private static func ownConnection(_ db: Database, _ path: String, _ report: Report) throws {
    try report.inChild {
      let own = try Database(path: path)
      report.expect("the child writes") {
        try own.executeUpdate("INSERT INTO city VALUES ('Tromsø')") == 1
      }
      try own.close()
    }
    report.expect("the parent reads what the child wrote") {
      try db.value("SELECT count(*) FROM city", as: Int.self) == 3
    }
  }

  private static func silence(_ db: Database, _ output: String, _ report: Report) throws {
    try report.inChild {
      report.expect("the output goes to a file") {
        let file = open(output, O_CREAT | O_WRONLY | O_APPEND, 0o600)
        return file >= 0 && dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0
      }
      let own = try Database()
      try own.executeUpdate("CREATE TABLE city (name UNIQUE)")
      for _ in 0..<2 { _ = try? own.executeUpdate("INSERT INTO city VALUES ('Oslo')") }
      _ = try? own.executeUpdate("nonsense")
      _ = try? own.executeUpdate("SELECT ?", Double.nan)
      _ = try? own.value("SELECT 'Oslo'", as: Int.self)
      _ = try? Database(path: "/proc/cities.db")
      try own.close()
      _ = try? own.executeUpdate("DELETE FROM city")
      _ = try? db.executeUpdate("DELETE FROM city")
      fflush(nil)
    }
    var status = stat()
    report.expect("the output is in the file") { stat(output, &status) == 0 }
    report.expect("nothing is printed") { status.st_size == 0 }
  }
}
