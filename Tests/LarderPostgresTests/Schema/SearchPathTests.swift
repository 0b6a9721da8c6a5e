import Larder
import LarderPostgres
import PostgresSupport
import Testing

@Suite(
  "A search_path of several schemas",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct SearchPathTests {
  private struct Town: Record {
    var id: Int64?
    var name: String
    var population: Int?

    struct Columns: Sendable {
      let id = Column("id", \Town.id, .primaryKey)
      let name = Column("name", \Town.name)
      let population = Column("population", \Town.population, .indexed)
    }
    static let columns = Columns()
    static let table = Table("town", Town.init, columns.id, columns.name, columns.population)
  }

  private let db: Database

  init() throws {
    let address = try PostgresServer.shared.database()
    let common = try Database.postgres(address)
    try common.executeStatements(
      """
      CREATE SCHEMA tenant; CREATE TABLE town (id BIGINT PRIMARY KEY, name TEXT);
      CREATE TABLE tenant."Town" (id BIGINT)
      """)
    try common.close()
    db = try Database.postgres(address + " options=-csearch_path=tenant,public")
  }

  private func rows(_ table: SQL) throws -> Int? {
    try db.value("SELECT count(*) FROM \(table)", as: Int.self)
  }

  @Test(
    "A table is created in the first schema, although another schema has one of its name"
  )
  func create() throws {
    for _ in 0..<2 { try Town.table.create(db, ifNotExists: true) }
    _ = try Town(id: nil, name: "Oslo", population: nil).inserted(db)
    #expect(try rows("tenant.town") == 1 && rows("public.town") == 0)
    #expect(try Town.table.differences(db) == [])
  }

  @Test(
    "Another schema's table isn't altered, compared, rebuilt or dropped"
  )
  func others() throws {
    #expect(throws: SchemaError.self) { try Town.table.addMissingColumns(db) }
    #expect(try Town.table.differences(db).map(\.kind) == [.table])
    #expect(throws: SchemaError.self) { try Town.table.rebuild(db) }
    try Town.table.drop(db, ifExists: true)
    #expect(throws: DatabaseError.self) { try Town.table.drop(db) }
    #expect(try rows("public.town") == 0)
  }

  @Test("Migrations are recorded in the first schema, whatever another schema has recorded")
  func migrations() throws {
    let migrator = Migrator([Migration("create town") { try Town.table.create($0) }])
    try db.executeStatements(
      "CREATE TABLE public.larder_migration (position INTEGER, name TEXT, checksum TEXT)")
    try migrator.migrate(db)
    #expect(try rows("tenant.larder_migration") == 1 && rows("public.larder_migration") == 0)
    #expect(try rows("tenant.town") == 0)
  }
}
