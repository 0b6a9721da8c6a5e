import Foundation
import Larder

/// The records of SQLAlchemy's tutorial.
enum SQLAlchemy {
  struct User: Record, Equatable {
    var id: Int64?
    var name: String
    var fullname: String?

    struct Columns: Sendable {
      let id = Column("id", \User.id, .primaryKey)
      let name = Column("name", \User.name)
      let fullname = Column("fullname", \User.fullname)
    }
    static let columns = Columns()
    static let table = Table("user_account", User.init, columns.id, columns.name, columns.fullname)
    static let addresses = HasMany(columns.id, Address.columns.user)
  }

  struct Address: Record, Equatable {
    var id: Int64?
    var user: Int64
    var email: String

    struct Columns: Sendable {
      let id = Column("id", \Address.id, .primaryKey)
      let user = Column("user", \Address.user)
      let email = Column("email", \Address.email)
    }
    static let columns = Columns()
    static let table = Table("address", Address.init, columns.id, columns.user, columns.email)
  }

  struct Part: Record, Equatable {
    var id: Int64?
    var part: String
    var subPart: String
    var quantity: Int

    struct Columns: Sendable {
      let id = Column("id", \Part.id, .primaryKey)
      let part = Column("part", \Part.part)
      let subPart = Column("sub_part", \Part.subPart)
      let quantity = Column("quantity", \Part.quantity)
    }
    static let columns = Columns()
    static let table = Table(
      "part", Part.init, columns.id, columns.part, columns.subPart, columns.quantity)
  }
}
