import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import Testing

private struct Customer: Record, Equatable {
  var id: Int64?
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \Customer.id, .primaryKey)
    let name = Column("name", \Customer.name, .unique)
  }
  static let columns = Columns()
  static let table = Table(
    "customer", Customer.init, columns.id, columns.name, schema: "crm")
  static let texts = FullTextIndex<Customer>(\.name)
}

private struct Order: Record, Equatable {
  var id: Int64?
  var customer: Int64
  var total: Double
  var version: Int

  struct Columns: Sendable {
    let id = Column("id", \Order.id, .primaryKey)
    let customer = Column(
      "customer", \Order.customer, .indexed, .references(Customer.self, onDelete: .cascade))
    let total = Column("total", \Order.total, .default(0))
    let version = Column("version", \Order.version, .version)
  }
  static let columns = Columns()
  static let table = Table(
    "order", Order.init, columns.id, columns.customer, columns.total, columns.version,
    schema: "sales")
}

/// A table of the same name in the current schema, to which nothing of the above may happen.
private struct PlainOrder: Record, Equatable {
  var id: Int64?
  var customer: Int64

  struct Columns: Sendable {
    let id = Column("id", \PlainOrder.id, .primaryKey)
    let customer = Column("customer", \PlainOrder.customer, .references(Customer.self))
  }
  static let columns = Columns()
  static let table = Table("order", PlainOrder.init, columns.id, columns.customer)
}

/// A later declaration of the orders.
private struct NewOrder: Record, Equatable {
  var id: Int64?
  var customer: Int64
  var total: Decimal
  var version: Int
  var note: String?

  struct Columns: Sendable {
    let id = Column("id", \NewOrder.id, .primaryKey)
    let customer = Column(
      "customer", \NewOrder.customer, .indexed, .references(Customer.self, onDelete: .cascade))
    let total = Column("total", \NewOrder.total, .default(0))
    let version = Column("version", \NewOrder.version, .version)
    let note = Column("note", \NewOrder.note, .indexed)
  }
  static let columns = Columns()
  static let table = Table(
    "order", NewOrder.init, columns.id, columns.customer, columns.total, columns.version,
    columns.note, schema: "sales")
}

@Suite(
  "Tables of other schemas than the current one",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct OtherSchemaTests {
  private let address: String
  private let db: Database

  init() throws {
    address = try PostgresServer.shared.database()
    db = try Database.postgres(address)
    try db.executeStatements("CREATE SCHEMA sales; CREATE SCHEMA crm")
    try Customer.table.create(db)
    try Order.table.create(db)
    try PlainOrder.table.create(db)
  }

  private func tables() throws -> [String] {
    try db.executeQuery(
      """
      SELECT schemaname || '.' || tablename FROM pg_tables
      WHERE schemaname IN ('public', 'sales', 'crm') ORDER BY 1
      """
    ).map { try $0.get(at: 0) }
  }

  private func count(_ table: SQL) throws -> Int? {
    try db.value("SELECT count(*) FROM \(table)", as: Int.self)
  }

  @Test("Tables are created, with indexes and foreign keys, in the schemas that they name")
  func creation() throws {
    #expect(try tables() == ["crm.customer", "public.order", "sales.order"])
    try Order.table.create(db, ifNotExists: true)
    #expect(Order.table.name == "order" && Order.table.schema == "sales")
    #expect(Order.table.selectSQL.hasSuffix(#"FROM "sales"."order""#))
    for differences in [
      try Customer.table.differences(db), try Order.table.differences(db),
      try PlainOrder.table.differences(db),
    ] { #expect(differences == []) }
    try Order.table.drop(db)
    try Order.table.drop(db, ifExists: true)
    #expect(throws: DatabaseError.self) { try Order.table.drop(db) }
    #expect(try tables() == ["crm.customer", "public.order"])
  }

  @Test("Records are written, found, changed and deleted there")
  func records() throws {
    var oslo = try Customer(id: nil, name: "Oslo").inserted(db)
    #expect(oslo.id == 1)
    var order = try Order(id: nil, customer: 1, total: 5, version: 0).inserted(db)
    order.total = 6
    try order.update(db)
    #expect(order.version == 1)
    try order.upsert(db)
    #expect(try Order.find(db, 1).total == 6)
    oslo.name = "Bergen"
    try oslo.save(db)
    _ = try Customer(id: 9, name: "Bergen").upsert(db, onConflict: Customer.columns.name)
    #expect(try Customer.fetchAll(db).map(\.name) == ["Bergen"])
    #expect(try Order.filter { $0.total > 5 }.update(db) { $0.total += 1 } == 1)
    #expect(try Order.filter { $0.id == 1 }.fetchOne(db)?.total == 7)
    // A key that is given moves the sequence of this table.
    _ = try Order(id: 50, customer: 1, total: 0, version: 0).inserted(db)
    #expect(try Order(id: nil, customer: 1, total: 0, version: 0).inserted(db).id == 51)
    try Order.find(db, 1).delete(db)
    #expect(try count("sales.\"order\"") == 2 && count("public.\"order\"") == 0)
    #expect(try db.value("SELECT count(*) FROM \(Order.table)", as: Int.self) == 2)
  }

  @Test("Batches are copied there, and their keys are numbered on")
  func batches() throws {
    _ = try Customer(id: 1, name: "Oslo").inserted(db)
    try Order.insert(
      db, contentsOf: (1...200).map { Order(id: $0, customer: 1, total: Double($0), version: 0) })
    #expect(try Order(id: nil, customer: 1, total: 0, version: 0).inserted(db).id == 201)
    try Order.upsert(
      db, contentsOf: (1...100).map { Order(id: $0, customer: 1, total: -1, version: 0) })
    #expect(try Order.filter { $0.total == -1 }.fetchCount(db) == 100)
    #expect(try count("public.\"order\"") == 0)
  }

  @Test("Joins and associations between schemas, also of two tables with the same name")
  func joins() throws {
    _ = try Customer(id: 1, name: "Oslo").inserted(db)
    _ = try Order(id: nil, customer: 1, total: 5, version: 0).inserted(db)
    _ = try PlainOrder(id: 7, customer: 1).inserted(db)
    let pairs = try Order.join(Customer.self) { $0.customer == $1.id }
      .join(PlainOrder.self) { $2.customer == $1.id }.fetchAll(db)
    #expect(pairs.count == 1 && pairs[0].1.name == "Oslo" && pairs[0].2.id == 7)
    let found = try Order.filter { order in
      Customer.filter { $0.id == order.customer && $0.name == "Oslo" }.exists
    }.fetchAll(db)
    #expect(found.count == 1)
  }

  @Test("A full-text index belongs to the table of its schema")
  func fullText() throws {
    try Customer.texts.create(db)
    _ = try Customer(id: 1, name: "The Old Harbour").inserted(db)
    #expect(try Customer.texts.differences(db) == [])
    #expect(try Customer.matching(Customer.texts, .all(of: "harbour")).fetchAll(db).count == 1)
    try Customer.texts.drop(db)
  }

  @Test("A schema is read with further ones, and compared with records; steps name them")
  func schemas() throws {
    let declared = try Schema(Customer.self, Order.self, PlainOrder.self, in: db)
    let found = try Schema(db, schemas: ["sales", "crm"])
    #expect(Set(found.tables.map(\.schema)) == [nil, "sales", "crm"])
    #expect(declared.differences(from: found) == [])
    #expect(declared.steps(from: found) == [])
    #expect(try Schema(db).tables.map(\.name) == ["order"])
    // The current schema may be named, too.
    let named = try Schema(db, schemas: ["sales", "public", "crm"])
    #expect(named.tables.count == 3 && declared.differences(from: named) == [])
    let before = declared.steps(from: Schema(tables: []))
    try db.executeStatements("DROP TABLE sales.\"order\", public.\"order\", crm.customer")
    for step in before { try step.execute(db) }
    #expect(try declared.differences(from: Schema(db, schemas: ["sales", "crm"])) == [])
    try db.executeStatements("CREATE TABLE sales.surplus (id bigint)")
    let surplus = try declared.differences(from: Schema(db, schemas: ["sales", "crm"]))
    #expect(surplus.map(\.table) == ["sales.surplus"])
    for step in try declared.steps(from: Schema(db, schemas: ["sales", "crm"])) {
      try step.execute(db)
    }
    #expect(try tables() == ["crm.customer", "public.order", "sales.order"])
  }

  @Test("Columns are added and tables rebuilt in the schema that is named")
  func alterations() throws {
    _ = try Customer(id: 1, name: "Oslo").inserted(db)
    _ = try Order(id: nil, customer: 1, total: 5.5, version: 0).inserted(db)
    #expect(try Set(NewOrder.table.differences(db).map(\.table)) == ["sales.order"])
    #expect(try NewOrder.table.addMissingColumns(db) == ["note"])
    try NewOrder.table.rebuild(db, losing: .values)
    #expect(try NewOrder.table.differences(db) == [])
    #expect(try NewOrder.fetchAll(db).map(\.total) == [Decimal(5.5)])
    #expect(try PlainOrder.table.differences(db) == [])
  }

  @Test("A view of another schema is read and compared")
  func views() throws {
    try db.executeStatements("CREATE VIEW crm.total AS SELECT count(*) AS places FROM crm.customer")
    #expect(try CustomerCount.table.differences(db) == [])
    #expect(try CustomerCount.fetchAll(db).map(\.places) == [0])
    try db.executeStatements("DROP VIEW crm.total; CREATE VIEW public.total AS SELECT 1 AS places")
    #expect(try CustomerCount.table.differences(db).map(\.kind) == [.view])
  }

  @Test("A database with several schemas is adopted")
  func adopted() throws {
    let migrator = Migrator([
      Migration("schemas", sql: "", postgres: "CREATE SCHEMA sales; CREATE SCHEMA crm"),
      Migration("tables") { db in
        try Customer.table.create(db)
        try Order.table.create(db)
        try PlainOrder.table.create(db)
      },
      Migration("note") { db in try NewOrder.table.addMissingColumns(db) },
    ])
    try migrator.migrate(db, adopting: "tables", schemas: ["sales", "crm"])
    #expect(try migrator.pending(db) == [])
    #expect(try db.tableExists("larder_migration"))
    let other = try Database.postgres(PostgresServer.shared.database())
    try migrator.migrate(other, adopting: "tables", schemas: ["sales", "crm"])
    #expect(try migrator.applied(other).allSatisfy { $0.duration != nil })
    try other.close()
  }
}

private struct CustomerCount: Record {
  var places: Int

  struct Columns: Sendable {
    let places = Column("places", \CustomerCount.places)
  }
  static let columns = Columns()
  static let table = Table(
    "total", CustomerCount.init, columns.places, schema: "crm", options: .view)
}
