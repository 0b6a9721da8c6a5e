import FoundationEssentials
import LarderSQLite
import Testing

@Suite("Custom aggregates and collations")
struct AggregateTests {
  /// Creates an aggregate that returns the longest text of a group, or NULL without rows.
  private func createLongest(in db: Database) throws {
    try db.createAggregate(
      "longest", argumentCount: 1, initial: String?.none,
      step: { longest, arguments in
        let text = try String(databaseValue: arguments[0])
        if text.count > longest?.count ?? -1 { longest = text }
      }, final: { $0 })
  }

  @Test("A custom aggregate computes one value from all rows")
  func allRows() throws {
    let db = try makeCities()
    try createLongest(in: db)
    #expect(try db.value("SELECT longest(name) FROM city", as: String.self) == "Bergen")
  }

  @Test("A custom aggregate has a separate state for each group")
  func groups() throws {
    let db = try makeCities()
    try createLongest(in: db)
    #expect(
      try db.texts(
        "SELECT longest(name) FROM city GROUP BY population > 1000000 ORDER BY 1")
        == ["Bergen", "Lagos"])
  }

  @Test("A custom aggregate without rows returns the final value of its initial state")
  func noRows() throws {
    let db = try makeCities()
    try createLongest(in: db)
    #expect(
      try db.value("SELECT longest(name) FROM city WHERE id > 9", as: String?.self) == .some(nil))
    #expect(
      try db.texts("SELECT longest(name) FROM city WHERE id > 9 GROUP BY population").isEmpty)
  }

  @Test("A custom aggregate that is used twice in one statement has separate states")
  func twice() throws {
    let db = try makeCities()
    try createLongest(in: db)
    let rows = try db.executeQuery("SELECT longest(name), longest(name || population) FROM city")
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: String.self) == "Bergen")
    #expect(try rows.get(at: 1, as: String.self) == "Lagos15388000")
  }

  @Test("An error in a custom aggregate's `step` makes the statement throw, and the next one works")
  func stepThrows() throws {
    let db = try makeCities()
    try createLongest(in: db)
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT longest(population) FROM city", as: String.self)
    }
    #expect(error?.message.contains("String") == true)
    #expect(try db.value("SELECT longest(name) FROM city", as: String.self) == "Bergen")
  }

  @Test("An error in a custom aggregate's `final` makes the statement throw its code and message")
  func finalThrows() throws {
    let db = try makeCities()
    try db.createAggregate(
      "refuse", argumentCount: 1, initial: 0, step: { count, _ in count += 1 },
      final: { throw DatabaseError(code: .constraint, message: "\($0) cities are too many") })
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT refuse(name) FROM city", as: Int.self)
    }
    #expect(error?.code == .constraint)
    #expect(error?.message == "4 cities are too many")
  }

  @Test("A statement with a removed aggregate can't be compiled")
  func remove() throws {
    let db = try makeCities()
    try createLongest(in: db)
    try db.removeFunction("longest", argumentCount: 1)
    #expect(throws: DatabaseError.self) { try db.validate("SELECT longest(name) FROM city") }
  }

  private final class Token: Sendable {}

  @Test("A custom aggregate's state is released, also when the query isn't read to its end")
  func state() throws {
    weak var kept: Token?
    let db = try makeCities()
    do {
      let token = Token()
      kept = token
      try db.createAggregate(
        "gather", argumentCount: 1, initial: [Token](), step: { tokens, _ in tokens.append(token) },
        final: { $0.count })
    }
    let rows = try db.executeQuery("SELECT gather(name) FROM city GROUP BY id")
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: Int.self) == 1)
    rows.close()
    #expect(kept != nil)
    try db.removeFunction("gather", argumentCount: 1)
    #expect(kept == nil)
  }

  // MARK: Collations

  @Test("A custom collation is used in ORDER BY and in comparisons")
  func collation() throws {
    let db = try makeCities()
    try db.createCollation("by_length") { left, right in
      left.count == right.count
        ? .orderedSame : left.count < right.count ? .orderedAscending : .orderedDescending
    }
    #expect(
      try db.texts("SELECT name FROM city ORDER BY name COLLATE by_length")
        == ["北京市", "Oslo", "Lagos", "Bergen"])
    #expect(
      try db.value("SELECT 'Oslo' = 'Bonn' COLLATE by_length", as: Bool.self) == true)
    #expect(
      try db.texts("SELECT name FROM city WHERE name > '12345' COLLATE by_length") == ["Bergen"])
  }

  @Test("A statement with a missing or removed collation throws when it is compiled")
  func missingCollation() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT name FROM city ORDER BY name COLLATE backwards"
    let error = #expect(throws: DatabaseError.self) { try db.validate(sql) }
    #expect(error?.message == "no such collation sequence: backwards")
    try db.createCollation("backwards") { left, right in
      left == right ? .orderedSame : left < right ? .orderedDescending : .orderedAscending
    }
    #expect(try db.texts(sql).last == "Bergen")
    try db.removeCollation("backwards")
    #expect(throws: DatabaseError.self) { try db.texts(sql) }
  }

  @Test("A custom aggregate with `inverse` can be a window function, and one without can't")
  func window() throws {
    let db = try makeCities()
    func create(_ name: String, takesOut: Bool) throws {
      let takeOut: @Sendable (inout [String], [DatabaseValue]) throws -> Void = {
        names, arguments in
        let gone = try String(databaseValue: arguments[0])
        if gone == "Lagos", arguments.count > 1 { throw CancellationError() }
        names.removeFirst()
      }
      try db.createAggregate(
        name, initial: [String](), step: { $0.append(try String(databaseValue: $1[0])) },
        inverse: takesOut ? takeOut : nil, final: { $0.joined(separator: "+") })
    }
    try create("names", takesOut: true)
    try create("all_names", takesOut: false)
    let frame = "OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM city ORDER BY id"
    #expect(
      try db.texts(SQL(raw: "SELECT names(name) \(frame)"))
        == ["Bergen", "Bergen+Oslo", "Oslo+Lagos", "Lagos+北京市"])
    #expect(
      try db.texts("SELECT names(name) FROM (SELECT name FROM city ORDER BY id LIMIT 9)")
        == ["Bergen+Oslo+Lagos+北京市"])
    #expect(throws: DatabaseError.self) {
      try db.texts(SQL(raw: "SELECT all_names(name) \(frame)"))
    }
    try db.executeUpdate("INSERT INTO city VALUES (5, 'Rome', 1, 1)")
    #expect(throws: DatabaseError.self) {
      try db.texts(SQL(raw: "SELECT names(name, 1) \(frame)"))
    }
    #expect(
      try db.texts("SELECT all_names(name) FROM city WHERE id = 2 OR id = 1") == ["Bergen+Oslo"])
  }
}
