import Foundation
import Larder
import ProofSupport

/// What calls are made on: a database, and a result set, a statement and a row of it.
///
/// What makes it Sendable is nothing: using it where it must not be used is what it is for.
final class MisuseStage: @unchecked Sendable {
  let folder: String
  let db: Database
  let rows: ResultSet
  let statement: Statement
  let row: Row
  let blob: Blob
  /// Another database, for copies.
  let other: Database

  static let query: SQL = "SELECT name, id, population FROM town ORDER BY id"

  /// A stage on an open database, where both the result set and the statement stand on a row.
  init(_ db: Database, _ folder: String, _ sql: SQL = MisuseStage.query) throws {
    self.folder = folder
    self.db = db
    rows = try db.executeQuery(sql)
    _ = try rows.next()
    row = rows.row
    statement = try db.prepare(sql)
    _ = try statement.step()
    blob = try db.openBlob("town", column: "name", row: 1)
    other = try Database()
  }

  /// How databases are opened: nothing waits long, so that waiting for ever shows.
  static var configuration: Configuration {
    var configuration = Configuration()
    configuration.busyTimeout = .milliseconds(2)
    configuration.scopeTimeout = .milliseconds(50)
    configuration.synchronous = .off
    return configuration
  }

  static func path(_ folder: String) -> String { folder + "/main.db" }

  /// Opens the file that there is in the folder.
  static func open(
    _ folder: String, _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> Database {
    var configuration = configuration
    change(&configuration)
    return try Database(path: path(folder), configuration: configuration)
  }

  /// Makes the file.
  static func makeFile(_ folder: String) throws {
    let db = try open(folder)
    try db.inTransaction { db in
      try Land.table.create(db)
      try Town.table.create(db)
      try Twinning.table.create(db)
      try Land.insert(db, contentsOf: ["NO", "CN"].map { Land(code: $0) })
      try Town.insert(
        db,
        contentsOf: (1...6).map {
          Town(id: $0, name: "town \($0)", population: Int($0) * 1000, land: "NO")
        })
      _ = try Twinning(town: 1, land: "CN").inserted(db)
    }
    try db.close()
  }

  /// Checks that what is left works: the connection, where it is open, and the file.
  static func check(_ db: Database?, _ folder: String) throws {
    if let db, db.isOpen {
      db.authorizer = nil
      db.statementDeadline = nil
      db.closeOpenStatements()
      if db.isInTransaction { try db.rollback() }
      try WrongAnswer.check(try db.value("SELECT 7", as: Int.self), 7, "the connection's answer")
      try db.close()
    }
    let reopened = try Database(path: path(folder))
    let found = try reopened.value("PRAGMA integrity_check", as: String.self)
    try WrongAnswer.check(found, "ok", "the integrity check")
    try reopened.close()
  }
}

struct Land: Record {
  var code: String

  struct Columns: Sendable {
    let code = Column("code", \Land.code, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("land", Land.init, columns.code)
  static let towns = HasMany(columns.code, Town.columns.land, in: Town.order { $0.id })
}

struct Town: RecordHooks {
  var id: Int64?
  var name: String
  var population: Int
  var land: String

  struct Columns: Sendable {
    let id = Column("id", \Town.id, .primaryKey)
    let name = Column("name", \Town.name, .unique)
    let population = Column("population", \Town.population, .indexed)
    let land = Column("land", \Town.land)
  }
  static let columns = Columns()
  static let table = Table(
    "town", Town.init, columns.id, columns.name, columns.population, columns.land)
  static let inLand = BelongsTo(columns.land, Land.columns.code)
  static let twins = HasManyThrough(
    columns.id, Twinning.columns.town, Twinning.columns.land, Land.columns.code,
    in: Land.order { $0.code })

  /// What hooks do beside their work.
  nonisolated(unsafe) static var meddling: Meddling?

  mutating func willInsert(_ db: Database) throws { Self.meddling?.run() }
}

struct Twinning: Record {
  var town: Int64?
  var land: String

  struct Columns: Sendable {
    let town = Column("town", \Twinning.town, .primaryKey)
    let land = Column("land", \Twinning.land, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("twinning", Twinning.init, columns.town, columns.land)
}
