import FoundationEssentials
import LarderSQLite
import LarderVirtualTables
import Synchronization
import TestSupport
import Testing

@Suite("Table-valued functions")
struct TableFunctionTests {
  private let series = TableFunction("series") { (from: Int, to: Int) in
    from <= to ? Array(from...to) : []
  }

  private let words = TableFunction("words", columns: "place", "word") { (text: String) in
    text.split(separator: " ").enumerated().map { ($0.offset, String($0.element)) }
  }

  // MARK: Rows

  @Test("A table-valued function that returns a sequence has a row for each of its values")
  func values() throws {
    let db = try Database()
    try db.createFunction(series)
    #expect(try db.integers("SELECT value FROM series(3, 6)") == [3, 4, 5, 6])
    #expect(try db.integers("SELECT * FROM series(3, 6) WHERE value % 2 = 0") == [4, 6])
    #expect(try db.integers("SELECT value FROM series(3, 2)") == [])
    #expect(try db.integers("SELECT rowid FROM series(3, 6)") == [1, 2, 3, 4])
    #expect(try db.value("SELECT sum(value) FROM series(1, 1000000)") == 500_000_500_000)
  }

  @Test("A table-valued function that returns tuples has several columns")
  func tuples() throws {
    let db = try Database()
    try db.createFunction(words)
    let rows = try db.executeQuery("SELECT * FROM words('Oslo Bergen')")
    #expect(rows.columnNames == ["place", "word"])
    #expect(
      try rows.map { "\(try $0.get("place", as: Int.self)) \(try $0.get("word", as: String.self))" }
        == ["0 Oslo", "1 Bergen"])
  }

  @Test("A table-valued function's default column names are `value`, or `c1`, `c2` for tuples")
  func defaultNames() throws {
    let db = try Database()
    try db.createFunction(TableFunction("one") { [1] })
    try db.createFunction(TableFunction("two") { [(1, "x")] })
    #expect(try db.executeQuery("SELECT * FROM one").columnNames == ["value"])
    #expect(try db.executeQuery("SELECT * FROM two()").columnNames == ["c1", "c2"])
  }

  @Test(
    "A table-valued function's arguments and values are passed unchanged",
    arguments: [
      nil, 42, 0.1, "", "before\0after", "北京市", .blob([]), .blob([0, 1]), .integer(.min), true,
    ] as [DatabaseValue])
  func storableValues(value: DatabaseValue) throws {
    let db = try Database()
    try db.createFunction(TableFunction("same") { (value: DatabaseValue) in [value] })
    try db.createFunction(TableFunction("constant") { [(value, 1)] })
    #expect(try db.value("SELECT value FROM same(\(value))", as: DatabaseValue.self) == value)
    #expect(try db.value("SELECT c1 FROM constant", as: DatabaseValue.self) == value)
  }

  @Test("A table-valued function can return optionals, dates, UUIDs and types with raw values")
  func types() throws {
    enum Size: String, DatabaseValueConvertible { case small, large }
    var configuration = Configuration()
    configuration.dateFormat = .iso8601
    let db = try Database(configuration: configuration)
    let id = UUID()
    try db.createFunction(
      TableFunction("kinds") { (date: Date) in
        [(date, Int?.none, id, Size.large, Float(0.5), UInt8(7), true)]
      })
    let rows = try db.executeQuery(
      "SELECT * FROM kinds(\(Date(timeIntervalSince1970: 0)))")
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: String.self) == "1970-01-01T00:00:00.000Z")
    #expect(try rows.get(at: 0, as: Date.self) == Date(timeIntervalSince1970: 0))
    #expect(try rows.get(at: 1, as: Int?.self) == nil)
    #expect(try rows.get(at: 2, as: UUID.self) == id)
    #expect(try rows.get(at: 3, as: Size.self) == .large)
    #expect(try rows.get(at: 4, as: Double.self) == 0.5)
    #expect(try rows.get(at: 5, as: DatabaseValue.self) == .integer(7))
    #expect(try rows.get(at: 6, as: DatabaseValue.self) == .integer(1))
  }

  @Test("A table-valued function that returns a closure has rows until the closure returns `nil`")
  func generated() throws {
    let db = try Database()
    try db.createFunction(
      TableFunction("countdown") { (from: Int) in
        var number = from
        return {
          number -= 1
          return number >= 0 ? number : nil
        }
      })
    try db.createFunction(
      TableFunction("squares", columns: "n", "square") { (limit: Int) in
        var number = 0
        return { () throws -> (Int, Double)? in
          number += 1
          return number > limit ? nil : (number, Double(number * number))
        }
      })
    #expect(try db.integers("SELECT value FROM countdown(3)") == [2, 1, 0])
    #expect(try db.value("SELECT sum(square) FROM squares(3)") == 14.0)
  }

  @Test("A table-valued function's closure is called only for the rows that are read")
  func lazy() throws {
    let db = try Database()
    let counter = Counter()
    try db.createFunction(
      TableFunction("endless") {
        { () -> Int? in counter.count.add(1, ordering: .relaxed).newValue }
      })
    #expect(try db.integers("SELECT value FROM endless LIMIT 3") == [1, 2, 3])
    #expect(counter.number <= 4)
    let rows = try db.executeQuery("SELECT value FROM endless")
    #expect(try rows.next())
    rows.close()
    #expect(counter.number <= 6)
  }

  // MARK: Arguments

  @Test("A table-valued function's argument may be a column of another table in the join")
  func lateral() throws {
    let db = try makeCities()
    try db.createFunction(series)
    try db.createFunction(words)
    #expect(
      try db.texts(
        "SELECT name || value FROM city, series(1, city.id) WHERE city.id < 3 ORDER BY 1")
        == ["Bergen1", "Oslo1", "Oslo2"])
    // This also works if the function precedes that table, and in a LEFT JOIN without a match.
    #expect(
      try db.texts("SELECT word FROM words(city.name) JOIN city WHERE city.id = 2") == ["Oslo"])
    #expect(
      try db.value(
        "SELECT count(*) FROM city LEFT JOIN series(3, city.id) AS s ON TRUE WHERE s.value IS NULL")
        == 2)
  }

  @Test(
    "Queries of a table-valued function may have any WHERE condition beside its arguments",
    arguments: [
      ("value = 2 OR value = 4", [2, 4]), ("value = 1 OR city.id = 2", [1, 2, 3, 4]),
      ("value IN (1, 9) OR name = 'Bergen' AND city.id = value", [1]), ("series.rowid = 3", [3]),
      ("value BETWEEN 2 AND 3 AND NOT value = 2", [3]), ("value IS NULL", []),
      ("value IN (SELECT city.id FROM city)", [1, 2, 3, 4]),
      (
        "EXISTS (SELECT 1 FROM series(city.id, 4) AS other WHERE other.value = series.value)",
        [2, 3, 4]
      ),
    ])
  func conditions(condition: String, values: [Int]) throws {
    let db = try makeCities()
    try db.createFunction(series)
    let sql: SQL = """
      SELECT value FROM city JOIN series(1, city.id + 2)
      WHERE city.id = 2 AND (\(SQL(raw: condition))) ORDER BY value
      """
    #expect(try db.integers(sql) == values)
  }

  @Test(
    "A table-valued function's arguments are hidden columns that WHERE can set and SELECT can read")
  func hidden() throws {
    let db = try Database()
    try db.createFunction(series)
    #expect(
      try db.integers("SELECT value FROM series WHERE argument_1 = 1 AND argument_2 = 2") == [1, 2])
    #expect(try db.integers("SELECT argument_2 FROM series(1, 2)") == [2, 2])
    #expect(try db.integers("SELECT value FROM series(1, 2) WHERE argument_2 = 3") == [])
    #expect(
      try db.integers("SELECT value FROM series(1, 2) WHERE argument_2 IN (2, 3) ORDER BY 1")
        == [1, 2])
  }

  @Test("A table-valued function's argument of an optional type may be omitted")
  func optional() throws {
    let db = try Database()
    try db.createFunction(
      TableFunction("steps") { (to: Int, by: Int?) in
        Array(stride(from: 0, through: to, by: by ?? 1))
      })
    #expect(try db.integers("SELECT value FROM steps(2)") == [0, 1, 2])
    #expect(try db.integers("SELECT value FROM steps(4, 2)") == [0, 2, 4])
    #expect(try db.integers("SELECT value FROM steps(2, NULL)") == [0, 1, 2])
    let error = #expect(throws: DatabaseError.self) {
      try db.executeQuery("SELECT value FROM steps").next()
    }
    #expect(error?.message == "argument 1 of steps is missing")
  }

  @Test(
    "A wrong number of arguments for a table-valued function throws an error that says what is wrong"
  )
  func wrongCount() throws {
    let db = try Database()
    try db.createFunction(series)
    for (sql, message) in [
      ("SELECT * FROM series", "argument 1 of series is missing"),
      ("SELECT * FROM series(1)", "argument 2 of series is missing"),
      ("SELECT * FROM series(1, 2, 3)", "too many arguments on series() - max 2"),
    ] {
      let error = #expect(throws: DatabaseError.self) {
        try db.executeQuery(SQL(raw: sql)).next()
      }
      #expect(error?.message == message)
      #expect(error?.code == .error)
    }
  }

  @Test("A table-valued function's argument of the wrong type makes the statement throw")
  func wrongKind() throws {
    let db = try Database()
    try db.createFunction(series)
    for sql in [
      "SELECT * FROM series('1', 2)", "SELECT * FROM series(1, 2.5)",
      "SELECT * FROM series(1, NULL)",
      "SELECT * FROM series(x'00', 1)",
    ] {
      let error = #expect(throws: DatabaseError.self) {
        try db.executeQuery(SQL(raw: sql)).next()
      }
      #expect(error?.code == .error)
      #expect(error?.message.contains("Int") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("argument") == true, "\(error?.message ?? "")")
      #expect(error?.sql == sql)
    }
  }
}

private final class Counter: Sendable {
  let count = Atomic<Int>(0)
  var number: Int { count.load(ordering: .relaxed) }
}

extension Database {
  /// The first column of all rows, as integers.
  func integers(_ sql: SQL) throws -> [Int] {
    try executeQuery(sql).map { try $0.get(at: 0) }
  }
}
