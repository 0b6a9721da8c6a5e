import Larder
import Testing

@Suite("Comparing nullable and non-null columns")
struct OptionalComparisonTests {
  let db: Database

  init() throws {
    db = try .world()
    try Nation.insert(
      db,
      contentsOf: [
        Nation(code: "DE", name: "Germany", capital: "Berlin"),
        Nation(code: "SG", name: "Singapore", capital: "Singapore"),
      ])
    try Nation.filter { $0.code == "CN" }.delete(db)
  }

  /// The condition's SQL and the codes of the countries for which it holds.
  private func line(
    _ condition: (RecordFields<Nation>) -> SQLExpression<Bool>
  ) throws -> String {
    let query = Nation.filter(condition).order { $0.code }
    let sql = query.snapshot.replacing(#""country"."#, with: "")
      .components(between: " WHERE ", and: " ORDER BY ")
    return "\(sql): \(try query.fetchAll(db).map(\.code).joined(separator: " "))"
  }

  @Test("NULL differs from every value and is neither less nor greater, on either side")
  func comparisons() throws {
    let lines = [
      try line { $0.capital == $0.name }, try line { $0.name == $0.capital },
      try line { $0.capital != $0.name }, try line { $0.name != $0.capital },
      try line { $0.capital < $0.name }, try line { $0.name < $0.capital },
      try line { $0.capital <= $0.name }, try line { $0.name <= $0.capital },
      try line { $0.capital > $0.name }, try line { $0.name > $0.capital },
      try line { $0.capital >= $0.name }, try line { $0.name >= $0.capital },
    ]
    #expect(
      lines.joined(separator: "\n") == """
        "capital" IS "name": SG
        "name" IS "capital": SG
        "capital" IS NOT "name": AQ DE NO
        "name" IS NOT "capital": AQ DE NO
        "capital" < "name": DE
        "name" < "capital": NO
        "capital" <= "name": DE SG
        "name" <= "capital": NO SG
        "capital" > "name": NO
        "name" > "capital": DE
        "capital" >= "name": NO SG
        "name" >= "capital": DE SG
        """)
  }
}

extension String {
  /// The text between two texts that each occur once.
  fileprivate func components(between start: String, and end: String) -> String {
    guard let from = firstRange(of: start)?.upperBound, let to = firstRange(of: end)?.lowerBound
    else { return self }
    return String(self[from..<to])
  }
}
