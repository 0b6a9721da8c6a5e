import Larder
import PostgresSupport
import TestSupport
import Testing

/// A shop, whose sales are chosen for it.
private struct Shop: Record, Equatable {
  var id: Int64?
  var town: String
  var least: Int

  struct Columns: Sendable {
    let id = Column("id", \Shop.id, .primaryKey)
    let town = Column("town", \Shop.town)
    let least = Column("least", \Shop.least)
  }
  static let columns = Columns()
  static let table = Table("shop", Shop.init, columns.id, columns.town, columns.least)
}

/// A sale with a key of two columns.
private struct Sale: Record, Equatable {
  var shop: Int64
  var number: Int
  var amount: Int
  var tags: [String]

  struct Columns: Sendable {
    let shop = Column("shop", \Sale.shop, .primaryKey)
    let number = Column("number", \Sale.number, .primaryKey)
    let amount = Column("amount", \Sale.amount)
    let tags = Column("tags", \Sale.tags, as: .array)
  }
  static let columns = Columns()
  static let table = Table(
    "sale", Sale.init, columns.shop, columns.number, columns.amount, columns.tags)
}

/// A record without a key.
private struct Note: Record, Equatable {
  var shop: Int64
  var text: String

  struct Columns: Sendable {
    let shop = Column("shop", \Note.shop)
    let text = Column("text", \Note.text)
  }
  static let columns = Columns()
  static let table = Table(
    "note", Note.init, columns.shop, columns.text, options: .noPrimaryKey)
}

@Suite("Joins with rows that are chosen for each row")
struct LateralJoinTests {
  let db: Database
  private let shops: [Shop]
  private let sales: [Sale]

  init() throws {
    db = try Database.empty()
    try Shop.table.create(db)
    try Sale.table.create(db)
    try Note.table.create(db)
    var generator = SeededGenerator(seed: 5)
    shops = (1...40).map {
      Shop(
        id: Int64($0), town: ["Oslo", "Voss", "Bergen"][$0 % 3],
        least: Int.random(in: 0..<8, using: &generator))
    }
    sales = (0..<400).map { number in
      Sale(
        shop: Int64.random(in: 1...60, using: &generator), number: number,
        amount: Int.random(in: 0..<12, using: &generator), tags: ["t\(number % 3)"])
    }
    try Shop.insert(db, contentsOf: shops)
    try Sale.insert(db, contentsOf: sales)
    try Note.insert(db, contentsOf: [Note(shop: 1, text: "a"), Note(shop: 1, text: "a")])
  }

  /// The first sales of a shop, as Swift finds them.
  private func best(_ shop: Shop, _ count: Int) -> [Sale] {
    let own = sales.filter { $0.shop == shop.id && $0.amount >= shop.least }
    return Array(own.sorted { ($1.amount, $0.number) < ($0.amount, $1.number) }.prefix(count))
  }

  @Test("Each row gets the first rows of its own query", arguments: [0, 1, 3, 1_000])
  func first(_ count: Int) throws {
    let found = try Shop.join(lateral: { shop in
      Sale.filter { $0.shop == shop.id && $0.amount >= shop.least }
        .order { ($0.amount.desc, $0.number) }.limit(count)
    })
    .order { ($0.id, $1.amount.desc, $1.number) }.fetchAll(db)
    let expected = shops.flatMap { shop in best(shop, count).map { (shop, $0) } }
    #expect(found.map(\.0) == expected.map(\.0))
    #expect(found.map(\.1) == expected.map(\.1))
  }

  @Test("A left join keeps rows without any, and rows that an offset skips aren't found")
  func left() throws {
    let found = try Shop.all.leftJoin(lateral: { shop in
      Sale.filter { $0.shop == shop.id }.order { $0.number }.limit(2, offset: 3)
    })
    .order { ($0.id, $1.number) }.fetchAll(db)
    let expected = shops.flatMap { shop -> [(Shop, Sale?)] in
      let own = sales.filter { $0.shop == shop.id }.dropFirst(3).prefix(2)
      return own.isEmpty ? [(shop, nil)] : own.map { (shop, $0) }
    }
    #expect(found.map(\.0) == expected.map(\.0))
    #expect(found.map(\.1) == expected.map(\.1))
    #expect(expected.contains { $0.1 == nil })
  }

  @Test("A table is joined with rows of its own, and two tables with rows of a third")
  func itself() throws {
    let next = try Sale.join(lateral: { sale in
      Sale.filter { $0.shop == sale.shop && $0.number > sale.number }.order { $0.number }.limit(1)
    })
    .order { sale, _ in sale.number }.fetchAll(db)
    let expected = sales.compactMap { sale in
      sales.first { $0.shop == sale.shop && $0.number > sale.number }.map { (sale, $0) }
    }
    #expect(next.map(\.0) == expected.map(\.0))
    #expect(next.map(\.1) == expected.map(\.1))

    let joined = Sale.filter { $0.number < 100 }.join(Shop.self) { $0.shop == $1.id }
    let pairs = try joined.leftJoin(lateral: { sale, shop in
      Shop.filter { $0.town == shop.town && $0.id > sale.shop }.order { $0.id }.limit(1)
    })
    .order { sale, _, _ in sale.number }.fetchAll(db)
    let neighbours = sales.prefix(100).compactMap { sale -> (Int, Shop?)? in
      guard let shop = shops.first(where: { $0.id == sale.shop }) else { return nil }
      return (
        sale.number, shops.first { $0.town == shop.town && ($0.id ?? 0) > sale.shop }
      )
    }
    #expect(pairs.map(\.0.number) == neighbours.map(\.0))
    #expect(pairs.map(\.2) == neighbours.map(\.1))
    #expect(
      try joined.join(lateral: { sale, _ in Sale.filter { $0.number == sale.number } })
        .fetchCount(db) == pairs.count)
  }

  @Test("Further steps work on the joined rows")
  func steps() throws {
    let query = Shop.join(lateral: { shop in
      Sale.filter { $0.shop == shop.id }.order { ($0.amount.desc, $0.number) }.limit(2)
    })
    let all = shops.flatMap { shop in
      sales.filter { $0.shop == shop.id }
        .sorted { ($1.amount, $0.number) < ($0.amount, $1.number) }.prefix(2).map { (shop, $0) }
    }
    #expect(try query.fetchCount(db) == all.count)
    #expect(
      try query.filter { $1.amount > 6 }.fetchCount(db) == all.count { $0.1.amount > 6 })
    let sums = try query.group { shop, _ in shop.town }.select { ($0.town, $1.amount.sum()) }
      .fetchAll(db)
    for (town, sum) in sums {
      #expect(sum == all.filter { $0.0.town == town }.reduce(0) { $0 + $1.1.amount })
    }
    #expect(sums.count == 3)
    let page = try query.order { shop, _ in shop.town }.page(db, limit: 7)
    let rest = try query.order { shop, _ in shop.town }.page(db, after: page.next, limit: 1_000)
    #expect(page.rows.count + rest.rows.count == all.count)
    #expect(try Shop.filter { _ in query.exists }.fetchCount(db) == shops.count)
    let tagged = try query.filter { $1.tags.contains("t1") }.select { $1.number }.fetchAll(db)
    #expect(Set(tagged) == Set(all.filter { $0.1.tags == ["t1"] }.map(\.1.number)))
  }

  @Test("Grouped rows are refused, and on SQLite a record without a key")
  func refused() throws {
    #expect(throws: DatabaseError.self) {
      try Shop.join(lateral: { shop in Sale.filter { $0.shop == shop.id }.group { $0.amount } })
        .fetchAll(db)
    }
    let notes = Shop.join(lateral: { shop in Note.filter { $0.shop == shop.id }.limit(1) })
    if TestEngine.isPostgres {
      #expect(try notes.fetchAll(db).map(\.1) == [Note(shop: 1, text: "a")])
    } else {
      #expect(throws: DatabaseError.self) { try notes.fetchAll(db) }
    }
  }

  @Test("SQLite looks the chosen rows up by their keys", .enabled(if: !TestEngine.isPostgres))
  func plan() throws {
    let query = Shop.join(lateral: { shop in Sale.filter { $0.shop == shop.id }.limit(2) })
    let plan = try query.explain(db).description
    #expect(!plan.contains("SCAN sale"), "\(plan)")
  }
}
