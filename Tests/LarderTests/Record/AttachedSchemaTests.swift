import Larder
import PostgresSupport
import Testing

private struct Customer: Record, Equatable {
  var id: Int64?
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \Customer.id, .primaryKey)
    let name = Column("name", \Customer.name, .indexed)
  }
  static let columns = Columns()
  static let table = Table("customer", Customer.init, columns.id, columns.name, schema: "crm")
}

private struct Note: Record, Equatable {
  var id: Int64?
  var customer: Int64

  struct Columns: Sendable {
    let id = Column("id", \Note.id, .primaryKey)
    let customer = Column("customer", \Note.customer, .references(Customer.self))
  }
  static let columns = Columns()
  static let table = Table("note", Note.init, columns.id, columns.customer, schema: "crm")
}

private struct Visit: Record, Equatable {
  var id: Int64?
  var customer: Int64

  struct Columns: Sendable {
    let id = Column("id", \Visit.id, .primaryKey)
    let customer = Column("customer", \Visit.customer, .references(Customer.self))
  }
  static let columns = Columns()
  static let table = Table("visit", Visit.init, columns.id, columns.customer)
}

@Suite("Tables of attached databases", .onlySQLite(.files))
struct AttachedSchemaTests {
  private let db: Database

  init() throws {
    db = try Database.empty()
    try db.executeStatements("ATTACH ':memory:' AS crm")
  }

  @Test("A declaration's schema is an attached database, for each operation of records")
  func records() throws {
    try db.executeStatements("CREATE TABLE customer (x)")
    try Customer.table.create(db)
    try Customer.table.create(db, ifNotExists: true)
    try Note.table.create(db)
    var oslo = try Customer(id: nil, name: "Oslo").inserted(db)
    oslo.name = "Bergen"
    try oslo.update(db)
    try oslo.upsert(db)
    try Customer.insert(db, contentsOf: (2...200).map { Customer(id: $0, name: "other") })
    _ = try Note(id: nil, customer: 1).inserted(db)
    let pairs = try Note.join(Customer.self) { $0.customer == $1.id }.fetchAll(db)
    #expect(pairs.map(\.1.name) == ["Bergen"])
    #expect(try db.value("SELECT count(*) FROM main.customer", as: Int.self) == 0)
    #expect(try db.value("SELECT count(*) FROM \(Customer.table)", as: Int.self) == 200)
    #expect(try Customer.table.differences(db) == [] && Note.table.differences(db) == [])
    #expect(
      try db.executeQuery("SELECT name FROM crm.sqlite_schema WHERE type = 'index'").map {
        try $0.get(at: 0, as: String.self)
      } == ["customer_name_index"])
    #expect(throws: DatabaseError.self) { _ = try Note(id: nil, customer: 999).inserted(db) }
    try Note.table.drop(db)
    try Customer.table.drop(db)
    #expect(try db.tableExists("customer"))
  }

  @Test("A schema is read with attached databases, and compared with records")
  func schemas() throws {
    try Customer.table.create(db)
    let found = try Schema(db, schemas: ["crm"])
    #expect(found.tables.map(\.name) == ["customer"])
    #expect(try Schema(db).tables == [])
    #expect(try Schema(Customer.self).differences(from: found) == [])
    try db.executeStatements("ALTER TABLE crm.customer RENAME COLUMN name TO title")
    #expect(try Customer.table.differences(db).allSatisfy { $0.table == "crm.customer" })
  }

  @Test("What SQLite can't do in an attached database is refused")
  func refused() throws {
    try Customer.table.create(db)
    #expect(throws: UnsupportedByEngine.self) { try Customer.table.rebuild(db) }
    #expect(throws: RecordError.self) { try Visit.table.create(db) }
    #expect(throws: UnsupportedByEngine.self) {
      try FullTextIndex<Customer>(\.name).create(db)
    }
    let alone = try Database()
    let error = failure(DatabaseError.self) { try Customer.fetchAll(alone) }
    #expect(error?.message.contains("crm.customer") == true)
  }

  @Test("A schema's name that is empty or holds a NUL is a mistake of the declaration")
  func names() throws {
    #expect(throws: RecordError.self) { try Nameless.fetchAll(db) }
  }
}

private struct Nameless: Record {
  var id: Int64?

  struct Columns: Sendable {
    let id = Column("id", \Nameless.id, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("nameless", Nameless.init, columns.id, schema: "")
}
