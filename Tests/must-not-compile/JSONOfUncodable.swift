// one error: only a property with a Codable type can be stored as JSON
import Larder

struct Mayor: Sendable { var name: String }
struct Town: Sendable { var mayor: Mayor? }

func column() { _ = Column("mayor", \Town.mayor, as: .json) }
