import Foundation
import Larder

/// The records of Active Record's guide.
enum ActiveRecord {
  struct Customer: Record, Equatable {
    var id: Int64?
    var lastName: String
    var ordersCount: Int

    struct Columns: Sendable {
      let id = Column("id", \Customer.id, .primaryKey)
      let lastName = Column("last_name", \Customer.lastName)
      let ordersCount = Column("orders_count", \Customer.ordersCount)
    }
    static let columns = Columns()
    static let table = Table(
      "customer", Customer.init, columns.id, columns.lastName, columns.ordersCount)
    static let orders = HasMany(columns.id, Order.columns.customer)
    static let reviews = HasMany(columns.id, Review.columns.customer)
  }

  struct Order: Record, Equatable {
    var id: Int64?
    var customer: Int64
    var status: String
    var total: Double
    var created: Date

    struct Columns: Sendable {
      let id = Column("id", \Order.id, .primaryKey)
      let customer = Column("customer", \Order.customer)
      let status = Column("status", \Order.status)
      let total = Column("total", \Order.total)
      let created = Column("created", \Order.created)
    }
    static let columns = Columns()
    static let table = Table(
      "order", Order.init, columns.id, columns.customer, columns.status, columns.total,
      columns.created)
  }

  struct Review: Record, Equatable {
    var id: Int64?
    var customer: Int64
    var rating: Int

    struct Columns: Sendable {
      let id = Column("id", \Review.id, .primaryKey)
      let customer = Column("customer", \Review.customer)
      let rating = Column("rating", \Review.rating)
    }
    static let columns = Columns()
    static let table = Table("review", Review.init, columns.id, columns.customer, columns.rating)
  }

  struct Book: Record, Equatable {
    var id: Int64?
    var title: String

    struct Columns: Sendable {
      let id = Column("id", \Book.id, .primaryKey)
      let title = Column("title", \Book.title)
    }
    static let columns = Columns()
    static let table = Table("book", Book.init, columns.id, columns.title)
  }
}
