import Foundation
import Larder
import PostgresSupport
import Testing

/// An event with one date in the connection's format and others in formats of their own.
struct Event: Record {
  var id: Int64?
  var at: Date
  var text: Date
  var milliseconds: Date
  var end: Date?

  struct Columns: Sendable {
    let id = Column("id", \Event.id, .primaryKey)
    let at = Column("at", \Event.at)
    let text = Column("text", \Event.text, as: .iso8601)
    let milliseconds = Column("milliseconds", \Event.milliseconds, as: .unixMilliseconds)
    let end = Column("end", \Event.end)
  }
  static let columns = Columns()
  static let table = Table(
    "event", Event.init, columns.id, columns.at, columns.text, columns.milliseconds, columns.end)
}

@Suite("Functions in queries")
struct FunctionTests {
  let db: Database

  init() throws { db = try .world() }

  /// The values of an expression for all places, in the order of their ids.
  private func values<V: DatabaseValueConvertible>(
    _ make: (RecordFields<Place>) -> SQLExpression<V>
  ) throws -> [V] {
    try Place.order { $0.id }.select { make($0) }.fetchAll(db)
  }

  @Test("coalesce replaces NULL and gives a non-Optional result")
  func coalesce() throws {
    #expect(text { $0.elevation.coalesce(0) } == #"coalesce("elevation", ?)"#)
    #expect(try values { $0.elevation.coalesce(-1) } == [43.5, 4, 23, -1])
    #expect(try values { $0.elevation.coalesce($0.population.cast(to: Double.self)) }[3] == 120_000)
    #expect(try Place.filter { $0.elevation.coalesce(0) == 0 }.fetchCount(db) == 1)
    #expect(Place.filter { $0.elevation.coalesce(0) == 0 }.snapshot.hasSuffix(", ?) = ?"))
  }

  @Test("CASE takes the first condition that holds")
  func cases() throws {
    let size = { (place: RecordFields<Place>) in
      when(place.population > 10_000_000, then: "huge")
        .when(place.population > 500_000, then: "large").otherwise("small")
    }
    #expect(
      text(size) == """
        CASE WHEN "population" > ? THEN ? WHEN "population" > ? THEN ? ELSE ? END
        """)
    #expect(try values(size) == ["huge", "huge", "large", "small"])
    #expect(
      try values { when($0.level == .district, then: $0.name).otherwiseNull }
        == [nil, nil, nil, "北戴河区"])
    #expect(
      try values { when($0.id == 1, then: $0.name + "!").otherwise($0.country) }
        == ["北京市!", "CN", "NO", "CN"])
  }

  @Test("Text functions and coalesce work where both operands are nullable")
  func nullable() throws {
    #expect(
      try Nation.order { $0.code }.select { $0.capital.length }.fetchAll(db) == [nil, 3, 4])
    let both = Nation.leftJoin(Place.self) { $0.capital == $1.name }.order { $0.0.code }
      .select { nation, place in place.name.coalesce(nation.capital) }
    #expect(both.snapshot.contains(#"coalesce("place"."name", "country"."capital")"#))
    #expect(try both.fetchAll(db) == [nil, "北京市", "Oslo"])
  }

  @Test("cast, sign, magnitude, rounded, least and greatest compute as in SQL")
  func numbers() throws {
    #expect(text { $0.population.cast(to: String.self) } == #"CAST("population" AS TEXT)"#)
    #expect(try values { $0.population.cast(to: String.self) }[2] == "709037")
    #expect(try values { $0.elevation.cast(to: Int?.self) } == [43, 4, 23, nil])
    #expect(text { -(-$0.population) } == #"-(-"population")"#)
    #expect(text { $0.population - -$0.population } == #""population" - -"population""#)
    #expect(try values { (-$0.population).magnitude }[2] == 709_037)
    #expect(text { $0.elevation.coalesce(0).rounded(-1) }.hasPrefix("round("))
    #expect(try values { $0.elevation.coalesce(0).rounded() } == [44, 4, 23, 0])
    #expect(try values { $0.elevation.rounded() } == [44, 4, 23, nil])
    #expect(try values { (-$0.elevation).magnitude } == [43.5, 4, 23, nil])
    #expect(try Place.select { $0.population.average().rounded(1) }.fetchOne(db) == 11_898_256.8)
    #expect(text { $0.population.least(5) } == #"min("population", ?)"#)
    #expect(
      try values { $0.population.least(1_000_000) } == [1_000_000, 1_000_000, 709_037, 120_000])
    #expect(try values { $0.population.greatest($0.population * 2) }[3] == 240_000)
  }

  @Test("Bit operators and remainders are parenthesized only where precedence requires it")
  func bits() throws {
    #expect(
      text { ($0.population + 1) % 7 & 3 | 1 << 2 }
        == #"("population" + ?) % ? & ? | ?"#)
    #expect(text { ($0.population & 1) + 1 } == #"("population" & ?) + ?"#)
    #expect(text { ~($0.population << 2) } == #"~("population" << ?)"#)
    #expect(try values { $0.population % 1000 } == [95, 895, 37, 0])
    #expect(try values { ($0.population & 0xFF) | 0x100 }[3] == (120_000 & 0xFF | 0x100))
    #expect(try values { ~($0.population >> 4) }[3] == ~(120_000 >> 4))
  }

  @Test("substring and position count Unicode scalars from 0")
  func texts() throws {
    #expect(text { $0.name.substring(from: 1) } == #"substr("name", ?)"#)
    #expect(try values { $0.name.substring(from: 0, count: 2) } == ["北京", "上海", "Os", "北戴"])
    #expect(try values { $0.name.substring(from: -1) } == ["市", "市", "o", "区"])
    #expect(try values { $0.name.substring(from: .max, count: .min) }[0] == "")
    #expect(try values { $0.name.replacing("北", with: "南") }[0] == "南京市")
    #expect(try values { ("  " + $0.name + " ").trimmed }[2] == "Oslo")
    #expect(text { $0.name.position(of: "市") } == #"nullif(instr("name", ?), 0) - 1"#)
    #expect(try values { $0.name.position(of: "市") } == [2, 2, nil, nil])
  }

  @Test("Text functions work on nullable text, and no pattern matches NULL")
  func nullableTexts() throws {
    let query = Nation.filter { $0.capital.hasPrefix("Os") || $0.capital.like("北%") }
    #expect(try query.fetchCount(db) == 2)
    #expect(try Nation.filter { !$0.capital.contains("O") }.fetchAll(db).map(\.code) == ["CN"])
    let names = Nation.order { $0.code }
      .select { ($0.capital.uppercased, $0.capital.substring(from: 0, count: 1)) }
    #expect(try names.fetchAll(db).map(\.0) == [nil, "北京市", "OSLO"])
    #expect(try names.fetchAll(db).map(\.1) == [nil, "北", "O"])
  }

  @Test(
    "strftime formats a date from each storage format",
    arguments: [
      DateFormat.secondsSince1970, .unixMilliseconds, .julianDay, .iso8601, .sqlDateTime,
      .sqlDateTimeMilliseconds, .iso8601Seconds,
    ])
  func dates(_ format: DateFormat) throws {
    var configuration = Configuration()
    configuration.dateFormat = format
    let db = try Database.empty(configuration)
    if TestEngine.isPostgres {
      try Event.table.create(db)
    } else {
      try db.define(
        "CREATE TABLE event (id INTEGER PRIMARY KEY, at, text, milliseconds, \"end\")")
    }
    let date = Date(timeIntervalSince1970: 1_795_249_993)  // 2026-11-21 08:59:53
    try Event.insert(
      db, contentsOf: [Event(id: 1, at: date, text: date, milliseconds: date, end: nil)])
    let pattern = "%Y-%m-%d %H:%M"
    let selection = Event.all.select {
      (
        $0.at.strftime(pattern), $0.text.strftime(pattern), $0.milliseconds.strftime(pattern),
        $0.end.strftime(pattern)
      )
    }
    #expect(
      selection.snapshot == """
        SELECT strftime(?, CASE ? WHEN 0 THEN CASE typeof("event"."at") WHEN 'real' \
        THEN CAST("event"."at" AS INTEGER) - ("event"."at" < CAST("event"."at" AS INTEGER)) \
        ELSE "event"."at" END WHEN 1 THEN "event"."at" / 1000.0 ELSE "event"."at" END, ?), \
        strftime(?, "event"."text"), \
        strftime(?, "event"."milliseconds" / 1000.0, 'unixepoch'), \
        strftime(?, CASE ? WHEN 0 THEN CASE typeof("event"."end") WHEN 'real' \
        THEN CAST("event"."end" AS INTEGER) - ("event"."end" < CAST("event"."end" AS INTEGER)) \
        ELSE "event"."end" END WHEN 1 THEN "event"."end" / 1000.0 ELSE "event"."end" END, ?) FROM "event"
        """)
    let row = try #require(try selection.fetchOne(db))
    #expect(row.0.hasPrefix("2026-11-21 0"))
    #expect(row.1 == row.0 && row.2 == row.0 && row.3 == nil)
  }

  @Test("`function` calls a function of the program by its quoted name", .refused(.functions))
  func ownFunctions() throws {
    try db.createFunction("twice", argumentCount: 1) { arguments in
      guard case .integer(let number) = arguments[0] else { return nil }
      return number * 2
    }
    #expect(
      text { function("twice", $0.population, as: Int.self) }
        == #""twice"("population")"#)
    #expect(try values { function("twice", $0.population + 1, as: Int.self) }[3] == 240_002)
    #expect(try values { _ in function("twice", .value(4), as: Int.self) }[0] == 8)
    for name in [#"twice"(1); DROP TABLE place; --"#, "", "no\0pe", "nothing"] {
      #expect(throws: DatabaseError.self) {
        try values { function(name, $0.population, as: Int.self) }
      }
    }
    #expect(try Place.all.fetchCount(db) == 4)
  }

  @Test(
    "A raw SQL expression can stand in select, filter, group, having, order and update",
    .onlySQLite(.catalog)
  )
  func fragments() throws {
    let two = 2
    func raw<V>(_ sql: SQL) -> SQLExpression<V> { SQLExpression<V>(sql: sql) }
    #expect(
      try values { SQLExpression<Int>(sql: "length(\($0.name.sql)) + \(two)") * 10 }
        == [50, 50, 60, 60])
    let query = Place.filter { raw("\($0.id.sql) < \(4)") && $0.population > raw("\(5) OR 1") }
      .group { SQLExpression<String>(sql: "substr(\($0.country.sql), 1, \(two))") }
      .having { _ in raw("count(*) >= \(1)") }
      .order { SQLExpression<Int>(sql: "max(\($0.population.sql)) * \(-1)") }
    #expect(
      query.snapshot.hasSuffix(
        """
        WHERE ("place"."id" < ?) AND "place"."population" > (? OR 1) \
        GROUP BY (substr("place"."country", 1, ?)) HAVING (count(*) >= ?) \
        ORDER BY (max("place"."population") * ?)
        """))
    #expect(query.sql.arguments == [4, 5, 2, 1, -1])
    #expect(try query.select { $0.country }.fetchAll(db) == ["CN", "NO"])
    #expect(
      try Place.filter { $0.id == raw("\(3)") }.update(db) { $0.population = raw("\(7) * 6") } == 1)
    #expect(try Place.find(db, 3).population == 42)
  }

  @Test("`greatest` takes the greater of a column and a value")
  func greatest() throws {
    #expect(text { $0.population.greatest(5) } == #"max("population", ?)"#)
    #expect(try values { $0.population.greatest(800_000) }[2...] == [800_000, 800_000])
  }

  @Test(
    "A view and a trigger use the date format they are created with",
    arguments: [
      DateFormat.secondsSince1970, .unixMilliseconds, .julianDay, .iso8601, .sqlDateTime,
      .sqlDateTimeMilliseconds, .iso8601Seconds,
    ])
  func datesOfView(format: DateFormat) throws {
    var configuration = Configuration()
    configuration.dateFormat = format
    let db = try Database(configuration: configuration)
    try Event.table.create(db)
    let date = Date(timeIntervalSince1970: 1_795_249_993)
    try Event.insert(
      db, contentsOf: [Event(id: 1, at: date, text: date, milliseconds: date, end: nil)])
    let years = Event.filter { $0.at == date && $0.text == date }
      .select { ($0.at.strftime("%Y"), $0.end.strftime("%Y")) }
    try SchemaEntry.view("years", columns: ["at", "end"], as: years.sql, dateFormat: format)
      .create(db)
    #expect(try db.value("SELECT at FROM years", as: String.self) == "2026")
    #expect(try db.value("SELECT \"end\" FROM years", as: String?.self) == .some(nil))
    try SchemaEntry.trigger(
      "dated", "AFTER DELETE", on: "event",
      run: "INSERT INTO event VALUES (2, \(date), '', 0, NULL)", dateFormat: format
    ).create(db)
    try db.executeUpdate("DELETE FROM event")
    // A Julian day is exact to about 40 microseconds.
    let kept = try db.value("SELECT at FROM event", as: Date.self)
    #expect(try abs(#require(kept).timeIntervalSince(date)) < 0.000_05)
  }

  @Test("A collation in a CASE condition doesn't apply to the result of the CASE")
  func choiceByCollation() throws {
    let byName = Place.filter { place in
      when(place.name.collate("NOCASE") == "oslo", then: place.population).otherwise(0) > 5
    }
    #expect(
      byName.snapshot.hasSuffix(
        "COLLATE \"NOCASE\" = ? THEN \"place\".\"population\" ELSE ? END > ?"))
    #expect(try byName.fetchAll(db).map(\.name) == ["Oslo"])
    let text = Place.filter { place in
      when(place.name.collate("NOCASE") == "oslo", then: place.name).otherwise("") == "OSLO"
    }
    #expect(try text.fetchCount(db) == 0)
  }
}
