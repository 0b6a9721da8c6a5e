import Foundation
import Larder
import PostgresSupport
import Testing

extension Drizzle {
  /// Queries of Drizzle's documentation in Larder's types. A comment has the number of lines there. The pages:
  ///
  /// - https://orm.drizzle.team/docs/select
  /// - https://orm.drizzle.team/docs/joins
  /// - https://orm.drizzle.team/docs/insert
  /// - https://orm.drizzle.team/docs/update
  /// - https://orm.drizzle.team/docs/guides/cursor-based-pagination
  /// - https://orm.drizzle.team/docs/guides/update-many-with-different-value
  @Suite("Queries of Drizzle's documentation")
  struct DrizzleQueryTests {
    let library: SQLComparison
    private var db: Database { library.db }

    init() throws { library = SQLComparison(db: try Drizzle.database()) }

    @Test("Drizzle: a filter by an optional term")
    func optionalFilter() throws {
      // There: 6 lines.
      let search = { (term: String?) in
        Post.filter { if let term { $0.title.like(term) } else { .value(true) } }
      }

      try library.expect(
        search("%ai%").order { $0.id },
        "SELECT * FROM posts WHERE lower(title) LIKE '%ai%' ORDER BY id")
      try library.expect(search(nil).order { $0.id }, "SELECT * FROM posts ORDER BY id")
    }

    @Test("Drizzle: orders with totals of their details")
    func totals() throws {
      // There: 16 lines.
      let query = Order.leftJoin(Detail.self) { $0.id == $1.order }
        .group { order, _ in (order.id, order.shipName, order.shipCity, order.shipCountry) }
        .select { order, detail in
          (
            order.id, order.shipName, order.shipCity, order.shipCountry, detail.product.count(),
            detail.quantity.sum(), (detail.quantity.real * detail.unitPrice).sum()
          )
        }
        .order { id, _, _, _, _, _, _ in id }

      try library.expect(
        query,
        """
        SELECT o.id, ship_name, ship_city, ship_country, count(product), sum(quantity),
        sum(quantity * unit_price) FROM orders o LEFT JOIN order_detail d ON d."order" = o.id
        GROUP BY o.id, ship_name, ship_city, ship_country ORDER BY o.id
        """)
    }

    @Test("Drizzle: pages by a cursor of two columns")
    func pages() throws {
      // There: 25 lines.
      let query = User.order { $0.firstName }
      let first = try query.page(db, limit: 3)
      let next = try query.page(db, after: first.next, limit: 3)

      #expect(first.rows.map(\.firstName) == ["Aaron", "Aaron", "Alex"])
      #expect(next.rows.map(\.firstName) == ["Alice"])
      #expect(next.next == nil)
    }

    @Test("Drizzle: a page of keys first, and then the rows")
    func deferredJoin() throws {
      // There: 10 lines.
      let query = User.filter {
        $0.id.in(User.order { $0.id }.limit(2, offset: 2).select { $0.id })
      }
      .order { $0.id }

      try library.expect(query, "SELECT * FROM users ORDER BY id LIMIT 2 OFFSET 2")
    }

    @Test("Drizzle: another value for each of many rows")
    func updateMany() throws {
      try library.expectChange(
        of: "SELECT * FROM users ORDER BY id",
        "UPDATE users SET city = CASE id WHEN 1 THEN 'New York' ELSE 'Chicago' END WHERE id IN (1, 3)"
      ) { db in
        // There: 27 lines.
        let inputs = CommonTable(rows: [(Int64(1), "New York"), (3, "Chicago")])
        try User.join(common: inputs) { $0.id == $1.columns.0 }
          .update(db) { $0.city = $1.columns.1 }
      }
    }

    @Test("Drizzle: what costs less than the mean is cheap, and returned")
    func updateBelowMean() throws {
      try library.expectChange(
        of: "SELECT * FROM products ORDER BY id",
        "UPDATE products SET cheap = true WHERE price < (SELECT avg(price) FROM products)"
      ) { db in
        // There: 12 lines.
        let mean = Product.select { $0.price.average() }
        let ids = try Product.filter { $0.price < first(of: mean) }
          .updated(db, returning: { $0.id }) { $0.cheap = true }

        #expect(ids.sorted { $0 ?? 0 < $1 ?? 0 } == [1, 3])
      }
    }

    @Test("Drizzle: an upsert by two columns")
    func upsert() throws {
      try library.expectChange(
        of: "SELECT first_name, last_name, city FROM users ORDER BY first_name, last_name",
        """
        INSERT INTO users (first_name, last_name, city, admin) VALUES ('Alex', 'Smith', 'Rome', false)
        ON CONFLICT (first_name, last_name) DO UPDATE SET city = excluded.city
        """
      ) { db in
        // There: 6 lines.
        let columns = User.columns
        try User(id: nil, firstName: "Alex", lastName: "Smith", city: "Rome", admin: false)
          .upsert(
            db, onConflict: columns.firstName, columns.lastName, updating: columns.city)
      }
    }

    @Test("Drizzle: the first user of each name, by DISTINCT ON")
    func distinctOn() throws {
      // There: 1 line.
      let query = User.order { $0.firstName }.distinct { $0.firstName }

      try library.expect(
        query,
        """
        SELECT * FROM users WHERE id IN (SELECT min(id) FROM users GROUP BY first_name)
        ORDER BY first_name
        """)
    }

    @Test("Drizzle: the participants of a group, by a table between")
    func manyToMany() throws {
      // There: 6 lines.
      let groups = try ChatGroup.filter { $0.id == 1 }.fetchAll(db, with: ChatGroup.members)

      #expect(groups.map(\.0.name) == ["Swift"])
      #expect(groups[0].1.compactMap(\.id).sorted() == [1, 3])
    }

    @Test("Drizzle: the first user becomes an administrator, by a count in the insert")
    func insertWithCount() throws {
      // There: 11 lines.
      try User.all.delete(db)
      let row = CommonTable(rows: [("Ann", "Lee")]).all
      try User.insert(
        db, User.columns.firstName, User.columns.lastName, User.columns.admin,
        from: row.select { ($0.columns.0, $0.columns.1, User.all.count == 0) })

      #expect(try User.fetchAll(db).map(\.admin) == [true])
    }
  }

  /// A database with a few rows of each table.
  fileprivate static func database() throws -> Database {
    let db = try Database.empty()
    try User.table.create(db)
    let users = [
      ("Alice", "Johnson"), ("Alex", "Smith"), ("Aaron", "Williams"), ("Aaron", "Brown"),
    ]
    try User.insert(
      db,
      contentsOf: users.map {
        User(id: nil, firstName: $0, lastName: $1, city: nil, admin: false)
      })
    try Post.table.create(db)
    try Post.insert(
      db,
      contentsOf: [("AI now", "Tech", 300), ("Tea", "Art", 10)].map {
        Post(id: nil, title: $0, category: $1, views: $2)
      })
    try Order.table.create(db)
    try Order.insert(
      db,
      contentsOf: ["Vins", "Toms"].map {
        Order(id: nil, shipName: $0, shipCity: "Reims", shipCountry: "FR")
      })
    try Detail.table.create(db)
    try Detail.insert(
      db,
      contentsOf: [(1, 3, 2.5, 4), (1, 1, 10, 1)].map {
        Detail(id: nil, order: $0, product: $1, unitPrice: $2, quantity: $3)
      })
    try Product.table.create(db)
    try Product.insert(
      db,
      contentsOf: [("Chai", 4.5), ("Wine", 30), ("Tofu", 2)].map {
        Product(id: nil, name: $0, price: $1, cheap: false)
      })
    try ChatGroup.table.create(db)
    try ChatGroup.insert(
      db, contentsOf: ["Swift", "SQL"].map { ChatGroup(id: nil, name: $0) })
    try Membership.table.create(db)
    try Membership.insert(
      db,
      contentsOf: [(1, 1), (2, 2), (3, 1), (3, 2)].map {
        Membership(id: nil, user: $0, group: $1)
      })
    return db
  }
}
