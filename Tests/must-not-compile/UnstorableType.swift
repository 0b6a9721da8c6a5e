// one error: nothing says how the type is stored: write as: .json
import Larder
struct Color: Codable, Sendable { var r: Int }
struct P: Record {
  var id: Int64?; var n: Int; var c: Color
  struct Columns: Sendable {
    let id = Column("id", \P.id, .primaryKey); let n = Column("n", \P.n, .default(0));
    let c = Column("c", \P.c)
  }
  static let columns = Columns()
  static let table = Table("p", P.init, columns.id, columns.n, columns.c)
}
