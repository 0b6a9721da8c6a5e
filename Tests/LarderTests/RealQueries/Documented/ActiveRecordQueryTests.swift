import Foundation
import Larder
import PostgresSupport
import Testing

extension ActiveRecord {
  /// Queries of Active Record's guide in Larder's types. A comment has the number of lines there. The page:
  /// https://guides.rubyonrails.org/active_record_querying.html
  @Suite("Queries of Active Record's guide")
  struct ActiveRecordQueryTests {
    let library: SQLComparison
    private var db: Database { library.db }

    init() throws { library = SQLComparison(db: try ActiveRecord.database()) }

    @Test("Active Record: customers with orders that were created in a range of time")
    func joinedRange() throws {
      // There: 2 lines.
      let day = Date(timeIntervalSince1970: 86_400)...Date(timeIntervalSince1970: 2 * 86_400)
      let query = Customer.filter { Customer.orders($0).filter { $0.created.in(day) }.exists }

      #expect(try query.order { $0.id }.fetchAll(db).map(\.lastName) == ["Smith", "Kim"])
    }

    @Test("Active Record: orders since a time, by a range without an end")
    func endlessRange() throws {
      // There: 1 line.
      let query = Order.filter { $0.created.in(Date(timeIntervalSince1970: 86_400)...) }

      #expect(try query.order { $0.id }.fetchAll(db).map(\.id) == [2, 3, 4])
    }

    @Test("Active Record: one condition or another")
    func either() throws {
      // There: 1 line.
      let query = Customer.filter { $0.lastName == "Smith" || $0.ordersCount.in([1, 3, 5]) }

      try library.expect(
        query.order { $0.id },
        "SELECT * FROM customer WHERE last_name = 'Smith' OR orders_count IN (1, 3, 5) ORDER BY id")
    }

    @Test("Active Record: a number that isn't in a list")
    func notInList() throws {
      // There: 1 line.
      let query = Customer.filter { !$0.ordersCount.in([1, 3, 5]) }

      try library.expect(
        query.order { $0.id },
        "SELECT * FROM customer WHERE orders_count NOT IN (1, 3, 5) ORDER BY id")
    }

    @Test("Active Record: the number of orders of each status")
    func countOfGroups() throws {
      // There: 1 line.
      let query = Order.all.group { $0.status }.select { ($0.status, count()) }

      try library.expect(
        query.order { status, _ in status },
        "SELECT status, count(*) FROM \"order\" GROUP BY status ORDER BY status")
    }

    @Test("Active Record: customers who have spent more than a sum")
    func having() throws {
      // There: 2 lines.
      let query = Order.all.group { $0.customer }.having { $0.total.sum() > 200 }
        .select { ($0.customer, $0.total.sum()) }

      try library.expect(
        query.order { customer, _ in customer },
        """
        SELECT customer, sum(total) FROM "order" GROUP BY customer HAVING sum(total) > 200
        ORDER BY customer
        """)
    }

    @Test("Active Record: all customers with the number of their reviews")
    func countOfAssociation() throws {
      // There: 1 line.
      let query = Customer.select { ($0.id, $0.lastName, Customer.reviews($0).count) }

      try library.expect(
        query.order { id, _, _ in id },
        """
        SELECT customer.id, last_name, count(review.id) FROM customer
        LEFT JOIN review ON review.customer = customer.id GROUP BY customer.id, last_name
        ORDER BY customer.id
        """)
    }

    @Test("Active Record: customers without reviews")
    func missing() throws {
      // There: 1 line.
      let query = Customer.filter { !Customer.reviews($0).exists }

      try library.expect(
        query.order { $0.id },
        """
        SELECT customer.* FROM customer LEFT JOIN review ON review.customer = customer.id
        WHERE review.id IS NULL ORDER BY customer.id
        """)
    }

    @Test("Active Record: customers with their orders and reviews")
    func includes() throws {
      // There: 1 line.
      let customers = try Customer.all.fetchAll(db, with: Customer.orders, Customer.reviews)

      #expect(customers.map(\.0.lastName) == ["Smith", "Kim", "Diaz"])
      #expect(customers.map(\.1.count) == [2, 2, 0])
      #expect(customers.map(\.2.count) == [2, 0, 1])
    }

    @Test("Active Record: a book that is locked while it is changed")
    func lock() throws {
      try library.expectChange(
        of: "SELECT * FROM book ORDER BY id",
        "UPDATE book SET title = 'Algorithms, second edition' WHERE id = 1"
      ) { db in
        // There: 5 lines.
        let books = try Book.order { $0.id }.claim(db, limit: 1) {
          $0.title = "Algorithms, second edition"
        }

        #expect(books.map(\.id) == [1])
      }
    }
  }

  /// A database with a few rows of each table.
  fileprivate static func database() throws -> Database {
    let db = try Database.empty()
    try Customer.table.create(db)
    try Customer.insert(
      db,
      contentsOf: [("Smith", 2), ("Kim", 3), ("Diaz", 0)].map {
        Customer(id: nil, lastName: $0, ordersCount: $1)
      })
    try Order.table.create(db)
    let orders: [(Int64, String, Double, Double)] = [
      (1, "shipped", 150, 0), (1, "packed", 60, 86_400), (2, "shipped", 90, 100_000),
      (2, "shipped", 100, 300_000),
    ]
    try Order.insert(
      db,
      contentsOf: orders.map {
        Order(
          id: nil, customer: $0, status: $1, total: $2, created: Date(timeIntervalSince1970: $3))
      })
    try Review.table.create(db)
    try Review.insert(
      db,
      contentsOf: [(1, 5), (3, 2), (1, 4)].map { Review(id: nil, customer: $0, rating: $1) })
    try Book.table.create(db)
    try Book.insert(
      db, contentsOf: ["Algorithms", "Ruby"].map { Book(id: nil, title: $0) })
    return db
  }
}
