import Larder
import PostgresSupport
import TestSupport
import Testing

/// A record with a column of each numeric type.
private struct Counter: Record, Equatable {
  var id: Int
  var int8: Int8
  var maybe16: Int16?
  var uint32: UInt32
  var uint64: UInt64
  var int: Int
  var float: Float
  var double: Double

  struct Columns: Sendable {
    let id = Column("id", \Counter.id, .primaryKey)
    let int8 = Column("int8", \Counter.int8)
    let maybe16 = Column("maybe16", \Counter.maybe16)
    let uint32 = Column("uint32", \Counter.uint32)
    let uint64 = Column("uint64", \Counter.uint64)
    let int = Column("int", \Counter.int)
    let float = Column("float", \Counter.float)
    let double = Column("double", \Counter.double)
  }
  static let columns = Columns()
  static let table = Table(
    "counter", Counter.init, columns.id, columns.int8, columns.maybe16, columns.uint32,
    columns.uint64, columns.int, columns.float, columns.double)

  static let least = Counter(
    id: 1, int8: .min, maybe16: .min, uint32: .min, uint64: .min, int: .min, float: 0.1,
    double: 0.1)
  static let greatest = Counter(
    id: 2, int8: .max, maybe16: .max, uint32: .max, uint64: UInt64(Int64.max), int: .max,
    float: .greatestFiniteMagnitude, double: 1)
  static let middle = Counter(
    id: 3, int8: 3, maybe16: nil, uint32: 3, uint64: 3, int: 3, float: 3, double: 3)
}

@Suite("Numbers that an update computes") struct AssignedNumberTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    if TestEngine.isPostgres {
      try Counter.table.create(db)
    } else {
      // The table isn't STRICT, like tables of other programs.
      for sql in try Counter.table.schema().statements {
        try db.executeUpdate(SQL(raw: sql.replacing(" STRICT", with: "")))
      }
    }
    try Counter.insert(db, contentsOf: [.least, .greatest, .middle])
  }

  private func refuses(_ change: (inout Assignments<Counter>) -> Void) throws {
    let error = failure(DatabaseError.self) { try Counter.all.update(db, change) }
    if TestEngine.isPostgres {
      #expect(error?.sqlState?.hasPrefix("22") == true)
    } else {
      #expect(error?.extendedCode == .constraintDatatype)
      #expect(error?.constraint?.kind == .datatype)
    }
    #expect(failure(DatabaseError.self) { try Counter.all.updated(db, change) } != nil)
    #expect(try Counter.order { $0.id }.fetchAll(db) == [.least, .greatest, .middle])
  }

  @Test("An update that computes a number out of its property's range throws and writes nothing")
  func outOfRange() throws {
    try refuses { $0.int8 += 1 }
    try refuses { $0.int8 -= 1 }
    try refuses { $0.int8 *= 100 }
    try refuses { $0.int8 = -$0.int8 }
    try refuses { $0.maybe16 += 1 }
    try refuses { $0.maybe16 -= 1 }
    try refuses { $0.uint32 -= 1 }
    try refuses { $0.uint32 += 1 }
    try refuses { $0.uint64 -= 1 }
    try refuses { $0.uint64 += 1 }
    try refuses { $0.int += 1 }
    try refuses { $0.int -= 1 }
    try refuses { $0.int = -$0.int }
    try refuses { $0.int = when($0.id == 3, then: 1 + $0.int).otherwise($0.int * 2) }
  }

  @Test("An update throws if an intermediate integer result overflows to a real")
  func intermediateOverflow() throws {
    try refuses { $0.int = $0.int * 4 / 8 }
    let half = Counter.filter { $0.id == 3 }
    try half.update(db) { $0.int = $0.int * 4 / 8 }
    #expect(try Counter.find(db, 3).int == 1)
  }

  @Test("An update may compute a type's least and greatest number, and NULL stays NULL")
  func inRange() throws {
    try Counter.filter { $0.id == 1 }.update(db) {
      $0.int8 += 127
      $0.int8 += 127
      $0.int8 += 1
      $0.int = -($0.int + 1)
      $0.uint64 += UInt64(Int64.max)
    }
    let first = try Counter.find(db, 1)
    #expect(first.int8 == 127)
    #expect(first.int == .max)
    #expect(first.uint64 == UInt64(Int64.max))
    try Counter.filter { $0.id == 3 }.update(db) { $0.maybe16 += 1 }
    #expect(try Counter.find(db, 3).maybe16 == nil)
  }

  @Test("An update rounds a Float as Swift does")
  func floats() throws {
    try Counter.filter { $0.id != 2 }.update(db) {
      $0.float += 0.2
      $0.double += 0.2
    }
    #expect(try Counter.find(db, 1).float == 0.1 as Float + 0.2)
    #expect(try Counter.find(db, 1).double == 0.1 + 0.2)
    #expect(try Counter.find(db, 3).float == 3.2)
    let doubled = { try Counter.filter { $0.id == 2 }.update(db) { $0.float *= 2 } }
    if TestEngine.isPostgres {
      #expect(throws: DatabaseError.self) { try doubled() }
    } else {
      _ = try doubled()
      #expect(try Counter.find(db, 2).float == .infinity)
    }
  }

  @Test("A schema can't call the functions that check an update's numbers", .onlySQLite(.functions))
  func schema() throws {
    let calls = [
      "larder_integer(1)", "larder_integer(1, 0, 2)", "larder_float(1)", "larder_kept(1, 0, 'x')",
    ]
    for call in calls {
      try db.executeUpdate(SQL(raw: "CREATE VIEW v AS SELECT \(call) AS x"))
      #expect(throws: DatabaseError.self) { try db.value("SELECT x FROM v", as: Double.self) }
      try db.executeUpdate("DROP VIEW v")
    }
    #expect(try db.value("SELECT larder_integer(NULL)", as: Int?.self) == .some(nil))
    #expect(throws: DatabaseError.self) { try db.value("SELECT larder_integer('1')", as: Int.self) }
    #expect(throws: DatabaseError.self) {
      try db.value("SELECT larder_integer(1, 3, 2)", as: Int.self)
    }
  }

  @Test("An update's SQL checks only the numbers that may be out of range", .onlySQLite(.functions))
  func text() throws {
    let log = Recorder<String>()
    var configuration = Configuration()
    configuration.trace = { log.add($0.sql) }
    let db = try Database.empty(configuration)
    try Counter.table.create(db)
    try Counter.all.update(db) {
      $0.int8 += 1
      $0.int += 1
      $0.float += 1
      $0.double += 1
      $0.uint32 = 7
    }
    #expect(
      log.elements.last == """
        UPDATE "counter" SET "int8" = larder_integer("counter"."int8" + ?, -128, 127), \
        "int" = larder_integer("counter"."int" + ?), \
        "float" = larder_float("counter"."float" + ?), "double" = "counter"."double" + ?, \
        "uint32" = ?
        """)
  }
}
