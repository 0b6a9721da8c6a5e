import Larder

/// A record of any kind, as `search` finds it.
enum Place: Encodable {
  case country(Country)
  case division(Division)
  case city(City)

  private enum Key: CodingKey {
    case kind
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(kind, forKey: .kind)
    switch self {
    case .country(let country): try country.encode(to: encoder)
    case .division(let division): try division.encode(to: encoder)
    case .city(let city): try city.encode(to: encoder)
    }
  }

  var kind: String {
    switch self {
    case .country: "country"
    case .division(let division): division.level.rawValue
    case .city: "city"
    }
  }

  var name: String {
    switch self {
    case .country(let country): country.name
    case .division(let division): division.name
    case .city(let city): city.name
    }
  }

  /// What other commands know it by.
  var code: String {
    switch self {
    case .country(let country): country.code
    case .division(let division): "\(division.code)"
    case .city(let city): city.id.map { "\($0)" } ?? ""
    }
  }

  var country: String {
    switch self {
    case .country(let country): country.code
    case .division: "CN"
    case .city(let city): city.country
    }
  }

  var population: Int? {
    switch self {
    case .country(let country): country.population
    case .division: nil
    case .city(let city): city.population
    }
  }
}
