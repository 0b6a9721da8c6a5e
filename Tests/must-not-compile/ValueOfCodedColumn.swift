// one error: only the column's coding can store values of this type: write .value
import Larder
struct Color: Codable, Sendable, Hashable { var r: Int }
struct P: Record {
  var id: Int64?; var n: Int; var c: Color
  struct Columns: Sendable {
    let id = Column("id", \P.id, .primaryKey); let n = Column("n", \P.n, .default(0));
    let c = Column("c", \P.c, as: .json)
  }
  static let columns = Columns()
  static let table = Table("p", P.init, columns.id, columns.n, columns.c)
}
func f(_ x: Color) { _ = P.filter { $0.c == x } }
