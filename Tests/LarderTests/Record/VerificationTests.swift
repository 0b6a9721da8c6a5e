import Foundation
import Larder
import Testing

/// A place with several columns of the same type, and with codings.
private struct Site: Record {
  var id: Int64?
  var name: String
  var district: String
  var founded: Date
  var seen: Date?
  var tags: [String]

  struct Columns: Sendable {
    let id = Column("id", \Site.id, .primaryKey)
    let name = Column("name", \Site.name)
    let district = Column("district", \Site.district)
    let founded = Column("founded", \Site.founded, as: .format(.sqlDate))
    let seen = Column("seen", \Site.seen, as: .iso8601)
    let tags = Column("tags", \Site.tags, as: .json)
  }
  static let columns = Columns()
  static let table = places { Site($0, $1, $2, $3, $4, $5) }

  init(
    _ id: Int64?, _ name: String, _ district: String, _ founded: Date, _ seen: Date?,
    _ tags: [String]
  ) {
    (self.id, self.name, self.district) = (id, name, district)
    (self.founded, self.seen, self.tags) = (founded, seen, tags)
  }
}

private func places(
  _ make: @escaping @Sendable (Int64?, String, String, Date, Date?, [String]) -> Site
) -> Table<Site> {
  let columns = Site.columns
  return Table(
    "site", { make($0, $1, $2, $3, $4, $5) }, columns.id, columns.name, columns.district,
    columns.founded, columns.seen, columns.tags)
}

@Suite("Verifying declarations in tests")
struct VerificationTests {
  private let day = Date(timeIntervalSince1970: 86_400)

  private func problem(_ table: Table<Site>, _ samples: Site...) -> String? {
    let error = failure(RecordError.self) { for sample in samples { try table.verify(sample) } }
    guard case .declaration("site", let problem)? = error else { return nil }
    return problem
  }

  @Test("`verify` accepts a right declaration with values that its codings keep")
  func right() throws {
    try Site.table.verify(
      Site(1, "Oslo", "Frogner", day, day + 0.125, ["a", "b"]),
      Site(nil, "Bergen", "Årstad", day, nil, []))
    try City.table.verify(City.norwegian[0])
  }

  @Test("`verify` finds exchanged parameters of the initializer, if the sample's values differ")
  func exchanged() throws {
    let table = places { Site($0, $2, $1, $3, $4, $5) }
    #expect(
      problem(table, Site(1, "Oslo", "Frogner", day, nil, []))?
        .hasPrefix("its initializer takes “district” where it is given “name”") == true)
    #expect(problem(table, Site(1, "Oslo", "Oslo", day, nil, [])) == nil)
  }

  @Test("`verify` reports all problems at once")
  func several() throws {
    let table = places { Site($0, $1.lowercased(), $2, $3, $4, $5 + ["more"]) }
    #expect(
      problem(table, Site(1, "Oslo", "Frogner", day + 1, day + 0.0001, [])) == """
        the initializer changes the value of “name”; \
        the initializer changes the value of “tags”; \
        “founded” isn't read back as the value that was stored; \
        “seen” isn't read back as the value that was stored
        """)
  }

  @Test("`verify` reports codings that throw when they store or read")
  func throwing() throws {
    struct Sign: Record {
      var id: Int
      var kind: Character
      var shape: Character
      static let columns = (
        Column("id", \Sign.id, .primaryKey),
        Column(
          "kind", \Sign.kind,
          as: ColumnCoding<Character>(
            encode: { (kind) throws -> String in throw ConversionError(.notExact, type(of: kind)) },
            decode: { Character($0) })),
        Column(
          "shape", \Sign.shape,
          as: ColumnCoding<Character>(
            encode: { String($0) },
            decode: { (text: String) throws -> Character in
              throw ConversionError(.malformed, type(of: text))
            }))
      )
      static let table = Table("sign", Sign.init, columns.0, columns.1, columns.2)
    }
    let error = recordFailure { try Sign.table.verify(Sign(id: 1, kind: "a", shape: "b")) }
    #expect(error?.contains("“kind” can't be stored: ") == true)
    #expect(error?.contains("“shape” can't be read back: ") == true)
  }

  @Test("`verify` without a sample reports a wrong declaration")
  func wrong() throws {
    let table = Table(
      "site", { (id: Int64?, _: Int64?) in Site(id, "", "", Date(), nil, []) }, Site.columns.id,
      Column("other", \Site.id))
    #expect(
      recordFailure { try table.verify() }?.contains("“id” and “other” have the same key path")
        == true)
  }
}
