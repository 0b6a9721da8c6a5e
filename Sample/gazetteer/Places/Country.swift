import LarderMacros

/// A country of `countries.csv`.
@Record
struct Country: Encodable, Equatable {
  @Column(.primaryKey) var code: String
  @Column(.unique) var iso3: String
  var name: String
  var capital: String?
  var continent: String
  /// In square kilometres.
  var area: Double
  var population: Int
  var currency: String?
  @Column(as: .separatedByCommas) var languages: [String]
  /// The codes of the countries next to it.
  @Column(as: .separatedByCommas) var neighbours: [String]
}

extension ColumnCoding where Value == [String] {
  /// Text such as `ES,FR`.
  static var separatedByCommas: ColumnCoding {
    ColumnCoding(
      encode: { $0.joined(separator: ",") },
      decode: { (text: String) in text.split(separator: ",").map(String.init) })
  }
}

extension Country {
  /// Those whose names begin with a text, or whose code it is.
  static func named(_ text: String) -> Query<Country> {
    filter {
      $0.name.like(text.pattern + "%", escape: "\\") || $0.code == text.uppercased()
    }
    .order { $0.population.desc }
  }

  /// Those in whose names a text occurs anywhere.
  static func containing(_ text: String) -> Query<Country> {
    filter { $0.name.like("%" + text.pattern + "%", escape: "\\") }
      .order { $0.population.desc }
  }

  /// The name of a continent by its code.
  static func continentName(_ code: String) -> String {
    [
      "AF": "Africa", "AN": "Antarctica", "AS": "Asia", "EU": "Europe", "NA": "North America",
      "OC": "Oceania", "SA": "South America",
    ][code] ?? code
  }
}

extension String {
  /// A pattern for LIKE that only the text itself is matched by; `\` is its escape.
  var pattern: String {
    var pattern = ""
    for character in self {
      if "%_\\".contains(character) { pattern += "\\" }
      pattern.append(character)
    }
    return pattern
  }
}
