import Larder
import PostgresSupport
import Testing

/// A record whose table has every kind of constraint.
private struct Resident: Record, Equatable {
  var id: Int64?
  var name: String?
  var city: Int64
  var email: String
  var phone: String
  var age: Int

  struct Columns: Sendable {
    let id = Column("id", \Resident.id, .primaryKey)
    let name = Column("name", \Resident.name)
    let city = Column("city", \Resident.city, .references(City.self))
    let email = Column("email", \Resident.email)
    let phone = Column("phone", \Resident.phone)
    let age = Column("age", \Resident.age, .check("age >= 0"))
  }
  static let columns = Columns()
  static let table = Table(
    "resident", Resident.init, columns.id, columns.name, columns.city, columns.email,
    columns.phone, columns.age, constraints: [.unique(columns.email, columns.phone)])
}

@Suite("Constraints that a record violates")
struct RecordConstraintTests {
  let db: Database
  private let kari = Resident(
    id: nil, name: "Kari", city: 1, email: "kari@example.no", phone: "1", age: 40)

  init() throws {
    db = try City.norway()
    try db.define(
      """
      CREATE TABLE resident (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
        city INTEGER NOT NULL REFERENCES city (id), email TEXT, phone TEXT,
        age INTEGER CHECK (age >= 0), UNIQUE (email, phone)) STRICT
      """)
    _ = try kari.inserted(db)
  }

  private func violation(_ change: (inout Resident) -> Void) -> ConstraintViolation? {
    var resident = kari
    resident.phone = "2"
    change(&resident)
    let inserted = failure(DatabaseError.self) { try resident.insert(db) }?.constraint
    let returned = failure(DatabaseError.self) { try resident.inserted(db) }?.constraint
    let batch = failure(RecordError.self) { try Resident.insert(db, contentsOf: [kari, resident]) }
    #expect(inserted == returned)
    #expect(batch != nil)
    return inserted
  }

  @Test("A constraint violation reports its kind, table and columns")
  func kinds() throws {
    let unique = violation { $0.phone = "1" }
    #expect(unique?.kind == .unique)
    #expect(unique?.table == "resident")
    #expect(unique?.columns == ["email", "phone"])
    let notNull = violation { $0.name = nil }
    #expect(notNull?.kind == .notNull)
    #expect(notNull?.columns == ["name"])
    let check = violation { $0.age = -1 }
    #expect(check?.kind == .check)
    #expect(check?.name == (TestEngine.isPostgres ? "resident_age_check" : "age >= 0"))
    let foreignKey = violation { $0.city = 99 }
    #expect(foreignKey?.kind == .foreignKey)
    let key = violation { $0.id = 1 }
    #expect(key?.kind == .primaryKey)
    #expect(key?.columns == ["id"])
  }

  @Test(
    "A value of the wrong type for a STRICT table reports a datatype violation",
    .onlySQLite(.anyTyped)
  )
  func datatype() throws {
    struct Loose: Record {
      var id: Int64?
      var name: String
      var city: Int
      var age: DatabaseValue

      struct Columns: Sendable {
        let id = Column("id", \Loose.id, .primaryKey)
        let name = Column("name", \Loose.name)
        let city = Column("city", \Loose.city)
        let age = Column("age", \Loose.age)
      }
      static let columns = Columns()
      static let table = Table(
        "resident", Loose.init, columns.id, columns.name, columns.city, columns.age)
    }
    var loose = Loose(id: nil, name: "Ann", city: 1, age: "forty")
    let error = failure(DatabaseError.self) { try loose.insert(db) }
    #expect(error?.constraint?.kind == .datatype)
    #expect(error?.constraint?.columns == ["age"])
    #expect(loose.id == nil)
  }

  @Test("A deferred foreign key fails a batch at its commit, and nothing is stored")
  func deferred() throws {
    try db.define(
      """
      CREATE TABLE later (id INTEGER PRIMARY KEY,
        city INTEGER REFERENCES city (id) DEFERRABLE INITIALLY DEFERRED)
      """)
    struct Later: Record {
      var id: Int64?
      var city: Int64

      struct Columns: Sendable {
        let id = Column("id", \Later.id, .primaryKey)
        let city = Column("city", \Later.city, .references(City.self, deferred: true))
      }
      static let columns = Columns()
      static let table = Table("later", Later.init, columns.id, columns.city)
    }
    let laters = (50...60).map { Later(id: nil, city: $0) }
    let error = failure(DatabaseError.self) { try Later.insert(db, contentsOf: laters) }
    #expect(error?.constraint?.kind == .foreignKey)
    #expect(try Later.fetchAll(db).isEmpty)
    #expect(!db.isInTransaction)
  }
}
