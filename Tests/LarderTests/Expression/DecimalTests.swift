import Foundation
import Larder
import TestSupport
import PostgresSupport
import Testing

private struct Price: RawRepresentable, DatabaseValueConvertible, Equatable {
  var rawValue: Decimal
}

private struct Account: Record, Equatable {
  var id: Int
  var balance: Decimal
  var limit: Decimal?
  var fee: Price

  struct Columns: Sendable {
    let id = Column("id", \Account.id, .primaryKey)
    let balance = Column("balance", \Account.balance)
    let limit = Column("limit", \Account.limit)
    let fee = Column("fee", \Account.fee)
  }
  static let columns = Columns()
  static let table = Table(
    "account", Account.init, columns.id, columns.balance, columns.limit, columns.fee)

  init(id: Int, balance: Decimal, limit: Decimal?, fee: Price) {
    (self.id, self.balance, self.limit, self.fee) = (id, balance, limit, fee)
  }

  init(_ id: Int, _ balance: String, _ limit: String? = nil, fee: String = "0") {
    self.init(
      id: id, balance: Decimal(string: balance) ?? .nan,
      limit: limit.flatMap { Decimal(string: $0) },
      fee: Price(rawValue: Decimal(string: fee) ?? .nan))
  }
}

@Suite("Decimals in queries") struct DecimalTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try Account.table.create(db)
    try Account.insert(
      db,
      contentsOf: [
        Account(1, "9", "1.5", fee: "2"), Account(2, "10", "-3", fee: "10"),
        Account(3, "100.5", nil, fee: "1"), Account(4, "-0.5", "100", fee: "1.5"),
        Account(5, "12345678901234567890.12", "9.99", fee: "1.50"),
      ])
    // Another program may have written a decimal with leading and trailing zeros.
    try db.executeUpdate(#"UPDATE account SET balance = '009.00' WHERE id = 1"#)
  }

  private func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }

  private func ids(
    _ condition: (RecordFields<Account>) -> SQLExpression<Bool>
  ) throws -> [Int] {
    let query = Account.filter(condition).order { $0.id }.select { $0.id }
    _ = query.snapshot
    return try query.fetchAll(db)
  }

  @Test("Decimals compare by value, however many zeros they are written with")
  func comparison() throws {
    #expect(try ids { $0.balance > 9 } == [2, 3, 5])
    #expect(try ids { $0.balance >= 9 } == [1, 2, 3, 5])
    #expect(try ids { $0.balance < 10 } == [1, 4])
    #expect(try ids { $0.balance <= $0.limit } == [4])
    #expect(try ids { $0.balance == 9 } == [1])
    #expect(try ids { $0.balance != 9 } == [2, 3, 4, 5])
    #expect(try ids { $0.limit == nil } == [3])
    #expect(try ids { $0.limit != nil } == [1, 2, 4, 5])
    #expect(try ids { $0.limit > 2 } == [4, 5])
    #expect(try ids { $0.balance.between(-1...10) } == [1, 2, 4])
    #expect(try ids { $0.limit.between(-3...9) } == [1, 2])
    #expect(try ids { $0.balance.in([9, 10, 11]) } == [1, 2])
    #expect(try ids { !$0.limit.in([nil, 100]) } == [1, 2, 5])
    #expect(try ids { $0.balance.in(Account.all.select { $0.balance }) } == [1, 2, 3, 4, 5])
    #expect(try ids { .value(9) == $0.balance } == [1])
    #expect(try ids { .value(10) > $0.balance } == [1, 4])
    let price = Price(rawValue: try decimal("1.5"))
    #expect(try ids { $0.fee == price } == [4, 5])
    #expect(try ids { $0.fee > price } == [1, 2])
    #expect(try ids { $0.fee == .value(price) } == [4, 5])
  }

  @Test("Decimals are ordered, and paged through, by value")
  func order() throws {
    #expect(try Account.order { $0.balance }.fetchAll(db).map(\.id) == [4, 1, 2, 3, 5])
    #expect(try Account.order { $0.limit.desc }.fetchAll(db).map(\.id) == [4, 5, 1, 2, 3])
    #expect(
      try Account.order { $0.limit.asc.nullsLast }.fetchAll(db).map(\.id) == [2, 1, 5, 4, 3])
    #expect(
      try Account.all.order(byColumnNamed: "balance").fetchAll(db).map(\.id) == [4, 1, 2, 3, 5])
    for query in [Account.order { $0.balance }, Account.order { $0.limit.desc }] {
      var ids: [Int] = []
      var next: String?
      repeat {
        let page = try query.page(db, after: next, limit: 2)
        ids += page.rows.map(\.id)
        next = page.next
      } while next != nil
      #expect(try ids == query.fetchAll(db).map(\.id))
    }
  }

  @Test("Decimals are added, subtracted and multiplied exactly in SQL")
  func arithmetic() throws {
    let five = Account.filter { $0.id == 5 }
    #expect(
      try five.select { $0.balance + 1 }.fetchOne(db) == decimal("12345678901234567891.12"))
    #expect(
      try five.select { $0.balance - $0.limit }.fetchOne(db)
        == decimal("12345678901234567880.13"))
    #expect(
      try five.select { $0.balance * 3 }.fetchOne(db) == decimal("37037036703703703670.36"))
    #expect(
      try five.select { (-$0.balance).magnitude }.fetchOne(db)
        == decimal("12345678901234567890.12"))
    let negative = Account.filter { $0.id == 4 }
    #expect(try negative.select { -$0.balance }.fetchOne(db) == decimal("0.5"))
    #expect(try negative.select { $0.balance.magnitude }.fetchOne(db) == decimal("0.5"))
    #expect(try negative.select { $0.balance * $0.balance }.fetchOne(db) == decimal("0.25"))
    #expect(try ids { $0.balance + $0.balance > 18 } == [2, 3, 5])
    #expect(try ids { $0.limit + 1 == $0.limit - -1 } == [1, 2, 3, 4, 5])
  }

  @Test("Decimal arithmetic works with values alone, without a column")
  func values() throws {
    let (ten, tenth) = (try decimal("10"), try decimal("0.1"))
    let query = Account.limit(1).select { _ in
      (
        SQLExpression<Decimal>.value(ten) - tenth,
        when(SQLExpression<Decimal?>.value(nil).isNull, then: 1).otherwise(0)
      )
    }
    #expect(try query.fetchOne(db)?.0 == decimal("9.9"))
    #expect(try query.fetchOne(db)?.1 == 1)
  }

  @Test(
    "Decimal arithmetic throws on overflow, and on a stored text that isn't a number",
    .onlySQLite(.anyTyped)
  )
  func overflow() throws {
    let square = Account.all.select { $0.balance * $0.balance * $0.balance }
    #expect(
      failure(DatabaseError.self) { try square.fetchAll(db) }?.extendedCode == .constraintDatatype)
    let before = try Account.fetchAll(db)
    #expect(throws: DatabaseError.self) {
      try Account.all.update(db) { $0.balance = $0.balance * $0.balance * $0.balance }
    }
    #expect(try Account.fetchAll(db) == before)
    try db.executeUpdate("UPDATE account SET balance = 'none' WHERE id = 2")
    #expect(throws: DatabaseError.self) { try Account.filter { $0.balance > 1 }.fetchCount(db) }
    #expect(throws: DatabaseError.self) { try Account.order { $0.balance }.fetchAll(db) }
  }

  @Test("Decimals can be assigned in an update, also by += and *=")
  func assignment() throws {
    try Account.all.update(db) {
      $0.balance += 1
      $0.limit += 1
      $0.balance *= 2
    }
    #expect(
      try Account.order { $0.id }.fetchAll(db).map(\.balance)
        == ["20", "22", "203", "1", "24691357802469135782.24"].map { try decimal($0) })
    #expect(try db.value("SELECT CAST(\"limit\" AS TEXT) FROM account WHERE id = 4") == "101")
    try Account.all.update(db) { $0.balance = 3 }
    #expect(try db.value("SELECT DISTINCT CAST(balance AS TEXT) FROM account") == "3")
    try Account.all.update(db) { $0.balance = when($0.id == 1, then: 7).otherwise($0.balance) }
    #expect(try ids { $0.balance == 7 } == [1])
  }

  @Test("Decimals are aggregated exactly, with and without groups, windows and set operations")
  func aggregates() throws {
    let all = Account.all
    #expect(
      try all.select { $0.balance.sum() }.fetchOne(db) == decimal("12345678901234568009.12"))
    #expect(try all.select { $0.balance.min() }.fetchOne(db) == decimal("-0.5"))
    #expect(
      try all.select { $0.balance.max() }.fetchOne(db) == decimal("12345678901234567890.12"))
    #expect(try all.select { $0.limit.max() }.fetchOne(db) == 100)
    #expect(try all.filter { $0.id > 9 }.select { $0.limit.sum() }.fetchOne(db) == .some(nil))
    #expect(
      try all.select { $0.balance.min().filter(where: $0.id < 3) }.fetchOne(db) == 9)
    try db.executeUpdate("UPDATE account SET balance = '10.0' WHERE id IN (1, 3)")
    #expect(try all.select { $0.balance.count(distinct: true) }.fetchOne(db) == 3)
    #expect(
      try all.filter { $0.id < 4 }.select { $0.balance.sum(distinct: true) }.fetchOne(db) == 10)
    #expect(try all.select { $0.balance }.distinct().fetchAll(db).count == 3)
    #expect(
      try all.group { $0.balance }.having { _ in count() > 1 }.select { ($0.balance, count()) }
        .fetchAll(db).map(\.1) == [3])
    let running = all.order { $0.id }.select {
      $0.limit.sum().over(orderBy: $0.id.asc, rows: -1...0)
    }
    #expect(
      try running.fetchAll(db)
        == ["1.5", "-1.5", "-3", "100", "109.99"].map { try decimal($0) })
    let least = all.order { $0.id }.select { $0.limit.min().over(orderBy: $0.id.asc) }
    #expect(try least.fetchAll(db) == [try decimal("1.5"), -3, -3, -3, -3])
    let before = all.order { $0.id }.select { $0.balance.lag().over(orderBy: $0.id.asc) }
    #expect(try before.fetchAll(db).prefix(2) == [nil, 10])
    let union = all.select { $0.balance }.union(all.select { $0.fee.cast(to: Decimal.self) })
    #expect(try union.fetchAll(db).count == 6)
    #expect(try union.order(byColumn: 1, descending: true).fetchOne(db) == union.fetchAll(db).max())
    let records = Account.filter { $0.id < 3 }.union(all: Account.filter { $0.id > 3 })
    #expect(
      try records.order(byColumn: 3).fetchAll(db).map(\.limit)
        == [-3, 1.5, 9.99, 100].map { try decimal("\($0)") })
    #expect(try records.order(byColumn: 3).order(byColumn: 1).limit(1).fetchAll(db).count == 1)
  }

  @Test("Records that differ only in a Decimal's spelling are equal in DISTINCT and UNION")
  func sets() throws {
    struct Rate: Record, Equatable {
      var area: String
      var rate: Decimal
      struct Columns: Sendable {
        let area = Column("area", \Rate.area)
        let rate = Column("rate", \Rate.rate)
      }
      static let columns = Columns()
      static let table = Table(
        "rate", Rate.init, columns.area, columns.rate, options: .noPrimaryKey)
    }
    try Rate.table.create(db)
    try db.executeUpdate(
      "INSERT INTO rate VALUES ('a', '1'), ('a', '1.00'), ('b', '01'), ('b', '2')")
    let one = Rate(area: "a", rate: 1)
    let all = [one, Rate(area: "b", rate: 1), Rate(area: "b", rate: 2)]
    let distinct = Rate.all.distinct().order { $0.area }.order { $0.rate }
    #expect(
      distinct.snapshot.hasPrefix(
        #"SELECT DISTINCT "rate"."area", larder_decimal("rate"."rate") FROM "rate" ORDER BY"#))
    #expect(try distinct.fetchAll(db) == all)
    #expect(try distinct.fetchCount(db) == 3)
    #expect(try distinct.limit(1).fetchOne(db) == one)
    let foreign = Rate.filter { $0.area != "b" && $0.rate == 1 }
    let union = foreign.union(Rate.all).order(byColumn: 1).order(byColumn: 2)
    #expect(try union.fetchAll(db) == all)
    #expect(try foreign.limit(1).intersect(foreign.limit(1, offset: 1)).fetchAll(db) == [one])
    #expect(try foreign.limit(1).except(foreign.limit(1, offset: 1)).fetchAll(db).isEmpty)
    let joined = Rate.join(Rate.self) { $0.area == $1.area }.distinct()
    #expect(try joined.fetchCount(db) == 5)
    let common = CommonTable("rates", Rate.select { ($0.area, $0.rate) })
    #expect(try common.all.distinct().fetchAll(db).count == 3)
    // A query that compares no whole rows reads the column directly.
    #expect(!Rate.all.snapshot.contains("larder"))
  }

  @Test("Decimals keep their type in subqueries, common tables and SQL functions")
  func elsewhere() throws {
    let greatest = Account.all.select { $0.limit.max() }
    #expect(try ids { $0.limit == first(of: greatest) } == [4])
    #expect(try ids { $0.balance.greatest(10) == 10 } == [1, 2, 4])
    #expect(try ids { $0.balance.least($0.fee.cast(to: Decimal.self)) > 1 } == [1, 2, 5])
    #expect(try ids { $0.limit.coalesce(0) == 0 } == [3])
    #expect(try ids { $0.balance.cast(to: Double.self) > 100.25 } == [3, 5])
    let table = CommonTable("t", Account.all.select { ($0.id, $0.balance) })
    #expect(
      try table.all.filter { $0.columns.1 > 9 }.order { $0.columns.1.desc }
        .select { $0.columns.0 }.fetchAll(db) == [5, 3, 2])
    if TestEngine.isPostgres { return }
    try db.createFunction("half", argumentCount: 1) { _ in "0.50" }
    #expect(try ids { function("half", $0.balance, as: Decimal.self) == -$0.balance } == [4])
    #expect(
      try Account.filter { $0.id == 1 }
        .select { _ in SQLExpression<Decimal>(sql: "'1.50'") + SQLExpression<Decimal>(sql: "2") }
        .fetchOne(db) == decimal("3.5"))
    let json = SQLExpression<String>(sql: #"'{"a": 9}'"#)["a"].as(Decimal.self)
    #expect(try ids { $0.balance == json } == [1])
  }

  @Test(
    "Decimals in another program's NUMERIC or REAL columns compare and compute as numbers",
    .onlySQLite(.anyTyped)
  )
  func numericColumn() throws {
    try db.executeStatements(
      """
      DROP TABLE account;
      CREATE TABLE account (
        id INTEGER PRIMARY KEY, balance DECIMAL(10, 2), "limit" NUMERIC, fee REAL);
      INSERT INTO account VALUES (1, 9, 0.1, 1), (2, 10.5, 0.3, 1.5), (3, '100', NULL, 2);
      """)
    #expect(
      try Account.fetchAll(db)
        == [
          Account(1, "9", "0.1", fee: "1"), Account(2, "10.5", "0.3", fee: "1.5"),
          Account(3, "100", nil, fee: "2"),
        ])
    #expect(try ids { $0.balance > 9 } == [2, 3])
    #expect(try ids { $0.limit * 3 == 0.3 } == [1])
    #expect(try Account.order { $0.balance.desc }.fetchAll(db).map(\.id) == [3, 2, 1])
    #expect(try Account.all.select { $0.limit.sum() }.fetchOne(db) == decimal("0.4"))
  }

  @Test("Another dialect can replace the Decimal functions with its own operators")
  func dialect() {
    struct Numeric: Dialect {
      func placeholder(_ number: Int) -> String { "$\(number)" }
      func typeName(of type: ColumnType) -> String { "" }
      func rewrite(_ fragment: SQLFragment) -> SQLFragment? {
        guard case .form(let form, let operands, _) = fragment.content else { return nil }
        return switch (form, operands.count) {
        case (.decimal, 1), (.decimalKey, 1): rewrite(operands[0]) ?? operands[0]
        case (.decimalAdd, 2): "\(operands[0]) + \(operands[1])"
        default: nil
        }
      }
    }
    let query = Account.filter { $0.balance + 1 > 2 && $0.limit == 3 }.order { $0.balance }
      .select { $0.balance.max() }
    #expect(
      query.sql(in: Numeric()).text == """
        SELECT max("account"."balance") FROM "account" \
        WHERE "account"."balance" + $1 > $2 AND "account"."limit" IS $3 \
        ORDER BY "account"."balance"
        """)
    #expect(
      query.sql.text == """
        SELECT larder_decimal(max(larder_decimal_key("account"."balance"))) FROM "account" \
        WHERE larder_decimal_key(larder_decimal_add("account"."balance", ?)) \
        > larder_decimal_key(?) AND larder_decimal("account"."limit") IS ? \
        ORDER BY larder_decimal_key("account"."balance")
        """)
  }

  @Test(
    "A Decimal column adds no constraint, and a view can't call the Decimal functions",
    .onlySQLite(.functions))
  func schema() throws {
    #expect(try Account.table.schema().sql.contains(#""balance" TEXT NOT NULL"#))
    try db.executeUpdate("CREATE VIEW v AS SELECT larder_decimal(balance) AS b FROM account")
    #expect(throws: DatabaseError.self) { try db.value("SELECT b FROM v", as: String.self) }
  }

  @Test("Decimal functions in SQL agree with Swift for random operands", .onlySQLite(.functions))
  func random() throws {
    var generator = SeededGenerator(seed: 18)
    func number() -> Decimal {
      let digits = Int.random(in: 1...18, using: &generator)
      let value = Int64.random(in: 0..<Int64(pow(10.0, Double(digits))), using: &generator)
      return Decimal(
        sign: Bool.random(using: &generator) ? .plus : .minus,
        exponent: Int.random(in: -6...2, using: &generator), significand: Decimal(value))
    }
    for _ in 0..<2_000 {
      let (a, b) = (number(), Bool.random(using: &generator) ? number() : number() / 1)
      let rows = try db.executeQuery(
        """
        SELECT larder_decimal_add(\(a), \(b)), larder_decimal_subtract(\(a), \(b)),
          larder_decimal_multiply(\(a), \(b)), larder_decimal_key(\(a)) < larder_decimal_key(\(b)),
          larder_decimal(larder_decimal_key(\(a))), larder_decimal(\(a)) = larder_decimal(\(b))
        """)
      #expect(try rows.next())
      #expect(try rows.get(at: 0, as: Decimal.self) == a + b)
      #expect(try rows.get(at: 1, as: Decimal.self) == a - b)
      #expect(try rows.get(at: 2, as: Decimal.self) == a * b)
      #expect(try rows.get(at: 3, as: Bool.self) == (a < b))
      #expect(try rows.get(at: 4, as: Decimal.self) == a)
      #expect(try rows.get(at: 5, as: Bool.self) == (a == b))
    }
  }
}
