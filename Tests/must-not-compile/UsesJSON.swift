// compiles
import Larder
struct Address: Codable, Sendable { var city: String; var floors: [Int] }
struct House: Record {
  var id: Int64?
  var address: Address
  var notes: [String: Int]?
  var text: String
  struct Columns: Sendable {
    let id = Column("id", \House.id, .primaryKey)
    let address = Column("address", \House.address, .validJSON, as: .json)
    let notes = Column("notes", \House.notes, as: .json)
    let text = Column("text", \House.text)
  }
  static let columns = Columns()
  static let table = Table(
    "house", House.init, columns.id, columns.address, columns.notes, columns.text,
    indexes: [.index(on: columns.address["city"], as: String.self)])
}
func f(_ db: Database, _ city: String, _ none: Int?) throws {
  _ = House.filter { $0.address["city"] == city && $0.address["floors"][-1] > 3 }
  _ = House.filter { $0.notes["a"] == none || $0.notes["b"].in([1, 2]) || $0.text[0].isNull }
  _ = House.all.leftJoin(House.self) { $0.address["city"] == $1.text }.filter {
    $1.address["city"] != "x"
  }
  _ = House.filter { $0.notes["a"] == nil || $0.text["b"] != nil && !($0.text[0] == nil) }
  _ = House.select { ($0.text["a"].as(String.self, strict: false), count()) }
  _ = House.select { $0.text["a"].as(JSON<Address>.self).jsonArray() }
  try House.all.update(db) {
    $0.address["city"] = "Oslo"
    $0.address["floors"][0] = 5
    $0.address["floors"] = .value([1, 2])
    $0.address["share"] = 0.5
    $0.address["isNew"] = true
    $0.address["gone"] = nil
    $0.notes["a"] = JSONExpression($0.id)
    $0.text["x"]["y"] = $0.address["city"]
    $0.text["z"].remove()
    $0.text.json.patch(["a": city])
  }
}
