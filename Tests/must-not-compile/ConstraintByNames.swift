// one error: name the record's columns: .unique(columns.country, columns.name)
import Larder
struct P: Record {
  var id: Int64?; var name: String; var country: String
  struct Columns: Sendable {
    let id = Column("id", \P.id, .primaryKey); let name = Column("name", \P.name)
    let country = Column("country", \P.country)
  }
  static let columns = Columns()
  static let table = Table(
    "p", P.init, columns.id, columns.name, columns.country,
    constraints: [.unique("country", "name")])
}
