// one error: only a property with a Codable type can be stored as JSON
import LarderMacros

struct Mayor: Sendable { var name: String }

@Record
struct City {
  @Column(.primaryKey) var name: String
  @Column(as: .json) var mayor: Mayor
}
