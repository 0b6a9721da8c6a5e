import LarderMacros

/// A province, city or district of China, of `china-divisions.csv`.
///
/// The six digits of its code say where it belongs: 11 00 00 is a province, 11 01 00 a city of it,
/// and 11 01 01 a district of that. What is below a division is therefore a range of codes.
@Record
struct Division: Equatable {
  @Column(.primaryKey) var code: Int
  var name: String
  var longitude: Double?
  var latitude: Double?
}

extension Division {
  enum Level: String, Encodable {
    case province, city, district
  }

  static let codes = 110_000...829_999

  static func level(of code: Int) -> Level {
    if code.isMultiple(of: 10_000) { return .province }
    return code.isMultiple(of: 100) ? .city : .district
  }

  /// The codes of the divisions that it belongs to, from the province down to itself.
  static func path(to code: Int) -> [Int] {
    switch level(of: code) {
    case .province: [code]
    case .city: [code / 10_000 * 10_000, code]
    case .district: [code / 10_000 * 10_000, code / 100 * 100, code]
    }
  }

  var level: Level { Self.level(of: code) }
  var parent: Int? { Self.path(to: code).dropLast().last }

  /// All that is below it, each division behind the one that it belongs to.
  var below: Query<Division> {
    let last = code + (level == .province ? 9_999 : level == .city ? 99 : 0)
    return Self.filter { [code] in $0.code > code && $0.code <= last }.order { $0.code }
  }

  /// The divisions that belong to it and to none below it.
  var children: Query<Division> {
    level == .province ? below.filter { $0.code % 100 == 0 } : below
  }

  /// Their names, of which the beginnings are found.
  static let text = FullTextIndex(of: Division.self, \.name)

  /// Those whose names begin with a text.
  static func withWords(of text: String, limit: Int) -> Query<FullTextMatch<Division>> {
    matching(Division.text, .allPrefixes(of: text))
      .order { [($0.name == text).desc, $0.code.asc] }
      .limit(limit)
  }

  /// The most characters of an address: longer texts aren't looked at as such.
  private static let longestAddress = 40

  /// Those to which a text leads from above, such as 北京市东城区, or 北京东城区: the names of divisions one after
  /// the other, of which some may be left out or shortened.
  static func atAddress(_ text: String, _ db: Database) throws -> [Division] {
    let text = text.filter { !$0.isWhitespace }
    guard (3...longestAddress).contains(text.count) else { return [] }
    let endings = text.indices.dropFirst().map { String(text[$0...]) }
    let candidates = try filter { $0.name.in(endings) }.order { $0.code }.fetchAll(db)
    let ancestors = Set(candidates.flatMap { path(to: $0.code).dropLast() })
    let names = Dictionary(
      try filter { $0.code.in(Array(ancestors)) }.fetchAll(db).map { ($0.code, $0.name) }
    ) { first, _ in first }
    return candidates.filter { division in
      var rest = text.dropLast(division.name.count)
      for name in path(to: division.code).dropLast().compactMap({ names[$0] }) {
        if rest.hasPrefix(name) {
          rest = rest.dropFirst(name.count)
        } else if rest.hasPrefix(name.dropLast()), name.count > 2 {
          rest = rest.dropFirst(name.count - 1)
        }
      }
      return rest.isEmpty
    }
  }

  /// Those in whose names a text occurs anywhere.
  static func containing(_ text: String, limit: Int) -> Query<Division> {
    filter { $0.name.contains(text) }.order { $0.code }.limit(limit)
  }
}

extension Division: Encodable {
  private enum CodingKeys: CodingKey {
    case code, name, level, parent, longitude, latitude
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encode(name, forKey: .name)
    try container.encode(level, forKey: .level)
    try container.encodeIfPresent(parent, forKey: .parent)
    try container.encodeIfPresent(longitude, forKey: .longitude)
    try container.encodeIfPresent(latitude, forKey: .latitude)
  }
}
