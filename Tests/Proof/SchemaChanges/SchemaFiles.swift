import Foundation
import Larder
import ProofSupport
import TestSupport

/// A file in which a statement stands behind that of an index, a trigger or a table: whatever makes it
/// anew must not run it.
struct PlantedStatement {
  private let kind: Int
  private let planted: String
  private let path: String

  init(seed: UInt64, folder: String) {
    var random = SeededGenerator(seed: seed)
    kind = Int.random(in: 0..<3, using: &random)
    path = folder + "/planted.db"
    planted =
      random.chance(50)
      ? "DROP TABLE victim; --" : "INSERT INTO victim VALUES (2); --"
  }

  func run() throws {
    try plant()
    let db = try Database(path: path)
    guard try db.schema().contains(where: { $0.sql?.contains(planted) == true }),
      let table = try Schema(db).table("t")
    else { throw WrongAnswer(description: "nothing was planted") }
    let declared = try TableSchema(
      "t", [.column("id", .integer, .primaryKey), .column("a", .text.optional)])
    _ = try? declared.rebuild(db)
    let mine = try Database()
    try mine.executeStatements(
      "CREATE TABLE victim (a); INSERT INTO victim VALUES (1); CREATE TABLE t (id, a)")
    _ = try? table.rebuild(mine)
    try mine.executeStatements("DROP TABLE IF EXISTS t")
    _ = try? table.create(mine)
    for step in try Schema(db).steps(from: Schema(mine)) { _ = try? step.execute(mine) }
    for entry in try db.schema() { _ = try? entry.create(mine) }
    for database in [db, mine] {
      try WrongAnswer.check(
        try database.tableExists("victim") ? database.value("SELECT count(*) FROM victim") : 0, 1,
        "the victim of \(planted) behind \(kind)")
    }
    try db.close()
  }

  private func plant() throws {
    let room = String(repeating: "x", count: planted.utf8.count - 3)
    let (create, end) = [
      ("CREATE INDEX i ON t(a)", ""),
      ("CREATE TRIGGER i AFTER INSERT ON t BEGIN SELECT 1;", " END"),
      ("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT) STRICT", ""),
    ][kind]
    let db = try Database(path: path)
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE victim (a); INSERT INTO victim VALUES (1);
          \(kind == 2 ? "" : "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);")
          \(create) /*\(room)*/\(end);
          PRAGMA wal_checkpoint(truncate)
          """))
    try db.close()
    let url = URL(fileURLWithPath: path)
    var bytes = try Data(contentsOf: url)
    guard let range = bytes.range(of: Data(" /*\(room)*/\(end)".utf8)) else {
      throw WrongAnswer(description: "no room to plant in")
    }
    bytes.replaceSubrange(range, with: Data("\(end); \(planted)".utf8))
    try bytes.write(to: url)
  }
}

/// A migration that writes into a file that is attached: its dry run must not.
struct DryRunOfCompany {
  private let archive: String
  private let main: String
  private let attaches: Bool

  init(seed: UInt64, folder: String) {
    archive = folder + "/archive.db"
    main = folder + "/company.db"
    attaches = seed % 20 < 10
  }

  func run() throws {
    let other = try Database(path: archive)
    try other.executeStatements("CREATE TABLE old (name TEXT); INSERT INTO old VALUES ('Oslo')")
    var configuration = Configuration()
    let (archive, attaches) = (archive, attaches)
    if !attaches {
      configuration.prepareDatabase = { try $0.executeUpdate("ATTACH \(archive) AS archive") }
    }
    let migrator = Migrator([
      Migration("archive") { db in
        if attaches { try db.executeUpdate("ATTACH \(archive) AS archive") }
        try db.executeUpdate("INSERT INTO archive.old SELECT name || '!' FROM archive.old")
      }
    ])
    let db = try Database(path: main, configuration: configuration)
    let report = try migrator.dryRun(db)
    try WrongAnswer.check(report.isSuccess, !attaches, "whether the dry run works")
    try WrongAnswer.check(try other.value("SELECT count(*) FROM old"), 1, "rows after a dry run")
    try migrator.migrate(db)
    try WrongAnswer.check(try other.value("SELECT count(*) FROM old"), 2, "rows afterwards")
    try WrongAnswer.check(
      try db.value("SELECT count(*) FROM pragma_database_list WHERE name = 'archive'"),
      attaches ? 0 : 1, "what is attached")
  }
}
