import Foundation
import Larder

/// The records of Drizzle's documentation.
enum Drizzle {
  struct User: Record, Equatable {
    var id: Int64?
    var firstName: String
    var lastName: String
    var city: String?
    var admin: Bool

    struct Columns: Sendable {
      let id = Column("id", \User.id, .primaryKey)
      let firstName = Column("first_name", \User.firstName)
      let lastName = Column("last_name", \User.lastName)
      let city = Column("city", \User.city)
      let admin = Column("admin", \User.admin)
    }
    static let columns = Columns()
    static let table = Table(
      "users", User.init, columns.id, columns.firstName, columns.lastName, columns.city,
      columns.admin, constraints: [.unique(columns.firstName, columns.lastName)])
  }

  struct Post: Record, Equatable {
    var id: Int64?
    var title: String
    var category: String
    var views: Int

    struct Columns: Sendable {
      let id = Column("id", \Post.id, .primaryKey)
      let title = Column("title", \Post.title)
      let category = Column("category", \Post.category)
      let views = Column("views", \Post.views)
    }
    static let columns = Columns()
    static let table = Table(
      "posts", Post.init, columns.id, columns.title, columns.category, columns.views)
  }

  struct Order: Record, Equatable {
    var id: Int64?
    var shipName: String
    var shipCity: String
    var shipCountry: String

    struct Columns: Sendable {
      let id = Column("id", \Order.id, .primaryKey)
      let shipName = Column("ship_name", \Order.shipName)
      let shipCity = Column("ship_city", \Order.shipCity)
      let shipCountry = Column("ship_country", \Order.shipCountry)
    }
    static let columns = Columns()
    static let table = Table(
      "orders", Order.init, columns.id, columns.shipName, columns.shipCity, columns.shipCountry)
  }

  struct Detail: Record, Equatable {
    var id: Int64?
    var order: Int64
    var product: Int64
    var unitPrice: Double
    var quantity: Int

    struct Columns: Sendable {
      let id = Column("id", \Detail.id, .primaryKey)
      let order = Column("order", \Detail.order)
      let product = Column("product", \Detail.product)
      let unitPrice = Column("unit_price", \Detail.unitPrice)
      let quantity = Column("quantity", \Detail.quantity)
    }
    static let columns = Columns()
    static let table = Table(
      "order_detail", Detail.init, columns.id, columns.order, columns.product, columns.unitPrice,
      columns.quantity)
  }

  struct Product: Record, Equatable {
    var id: Int64?
    var name: String
    var price: Double
    var cheap: Bool

    struct Columns: Sendable {
      let id = Column("id", \Product.id, .primaryKey)
      let name = Column("name", \Product.name)
      let price = Column("price", \Product.price)
      let cheap = Column("cheap", \Product.cheap)
    }
    static let columns = Columns()
    static let table = Table(
      "products", Product.init, columns.id, columns.name, columns.price, columns.cheap)
  }

  struct ChatGroup: Record, Equatable {
    var id: Int64?
    var name: String

    struct Columns: Sendable {
      let id = Column("id", \ChatGroup.id, .primaryKey)
      let name = Column("name", \ChatGroup.name)
    }
    static let columns = Columns()
    static let table = Table("chat_groups", ChatGroup.init, columns.id, columns.name)
    static let members = HasManyThrough(
      columns.id, Membership.columns.group, Membership.columns.user, User.columns.id)
  }

  struct Membership: Record, Equatable {
    var id: Int64?
    var user: Int64
    var group: Int64

    struct Columns: Sendable {
      let id = Column("id", \Membership.id, .primaryKey)
      let user = Column("user", \Membership.user)
      let group = Column("group", \Membership.group)
    }
    static let columns = Columns()
    static let table = Table(
      "users_to_chat_groups", Membership.init, columns.id, columns.user, columns.group)
  }
}
