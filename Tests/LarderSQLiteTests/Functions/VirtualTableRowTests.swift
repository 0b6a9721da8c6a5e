import FoundationEssentials
import LarderSQLite
import LarderVirtualTables
import Synchronization
import TestSupport
import Testing

@Suite("Requests to virtual tables")
struct VirtualTableRowTests {
  private final class Asked: Sendable {
    let requests = Mutex<[VirtualTableRequest]>([])
    var last: VirtualTableRequest? { requests.withLock(\.last) }
  }

  /// Creates a virtual table of people with the keys name and town, which are compared as Swift strings.
  private func makePeople(_ rows: [[DatabaseValue]]) throws -> Database {
    let db = try Database()
    try db.createModule("people") { _ in
      VirtualTable(columns: ["name", "town"], keys: ["name", "town"]) { equals in
        rows.filter { row in
          (equals["name"].map { $0 == row[0] } ?? true)
            && (equals["town"].map { $0 == row[1] } ?? true)
        }
      }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.person USING people")
    return db
  }

  @Test("An OR of two keys of a virtual table finds each matching row once")
  func either() throws {
    let db = try makePeople([
      ["Ann", "rome"], ["Bob", "oslo"], ["Bob", "rome"], ["Cid", "oslo"],
    ])
    #expect(
      try db.texts(
        "SELECT name || ' ' || town FROM person WHERE name = 'Bob' OR town = 'rome' ORDER BY 1")
        == ["Ann rome", "Bob oslo", "Bob rome"])
  }

  @Test("An OR of two keys of a virtual table finds all rows that are equal in every column")
  func equalRows() throws {
    let db = try makePeople([
      ["Bob", "rome"], ["Bob", "oslo"], ["Bob", "rome"], ["Bob", "rome"], ["Ann", "rome"],
    ])
    #expect(
      try db.value("SELECT count(*) FROM person WHERE name = 'Bob' OR town = 'rome'") == 5)
    #expect(
      try db.value("SELECT count(*) FROM person WHERE town = 'rome' OR name = 'Bob'") == 5)
  }

  @Test(
    "A virtual table's texts that are canonically equivalent but differ in bytes are different rows"
  )
  func canonicallyEqualRows() throws {
    let db = try makePeople([["e\u{301}", "rome"], ["\u{e9}", "rome"], ["\u{e9}", "oslo"]])
    #expect(
      try db.value("SELECT count(*) FROM person WHERE name = '\u{e9}' OR town = 'rome'") == 3)
    #expect(try db.value("SELECT count(*) FROM person WHERE name = 'e\u{301}'") == 1)
  }

  @Test("An OR of two argument lists of a table-valued function finds the rows of both")
  func eitherArgument() throws {
    let db = try Database()
    try db.createFunction(TableFunction("series") { (from: Int, to: Int) in Array(from...to) })
    #expect(
      try db.integers(
        """
        SELECT value FROM series
        WHERE (argument_1 = 1 AND argument_2 = 3) OR (argument_1 = 2 AND argument_2 = 4) ORDER BY 1
        """) == [1, 2, 2, 3, 3, 4])
  }

  @Test(
    "A virtual table's key can be compared with another collation",
    arguments: [
      "name = 'BOB' COLLATE NOCASE", "name COLLATE NOCASE IN ('x', 'BOB')",
      "name COLLATE RTRIM = 'Bob  '", "'bob' = name COLLATE NOCASE",
    ])
  func collations(condition: String) throws {
    let db = try makePeople([["Bob", "rome"], ["Ann", "oslo"]])
    #expect(try db.texts(SQL(raw: "SELECT name FROM person WHERE \(condition)")) == ["Bob"])
    try db.executeUpdate(
      "CREATE TEMP VIEW anyone AS SELECT name COLLATE NOCASE AS name FROM person")
    #expect(try db.texts("SELECT name FROM anyone WHERE name = 'BOB'") == ["Bob"])
  }

  @Test(
    "A virtual table gets requests for its column's declared collation and BINARY, not for others")
  func declaredCollation() throws {
    let db = try Database()
    let asked = Asked()
    try db.createModule("people") { _ in
      VirtualTable(.init("name", .text, collation: "NOCASE", by: [.value, .order])) {
        request in
        asked.requests.withLock { $0.append(request) }
        return [["ann"], ["Bob"], ["BOB"]] as [[DatabaseValue]]
      }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.person USING people")
    #expect(try db.texts("SELECT name FROM person WHERE name = 'bob'") == ["Bob", "BOB"])
    #expect(asked.last?.value == ["name": "bob"])
    #expect(
      try db.texts("SELECT name FROM person WHERE name = 'BOB' COLLATE BINARY") == ["BOB"])
    #expect(asked.last?.value == ["name": "BOB"])
    #expect(
      try db.texts("SELECT name FROM person WHERE name = 'BOB ' COLLATE RTRIM") == ["BOB"])
    #expect(asked.last?.value == [:])
  }

  @Test("An IN list finds a virtual table's rows by a custom collation")
  func ownCollation() throws {
    let db = try Database()
    try db.createCollation("length") { first, second in
      if first.utf8.count == second.utf8.count { return .orderedSame }
      return first.utf8.count < second.utf8.count ? .orderedAscending : .orderedDescending
    }
    try db.createModule("people") { _ in
      VirtualTable(.init("name", .text, collation: "length", by: .value)) { _ in
        [["ann"], ["bo"], ["cid"]] as [[DatabaseValue]]
      }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.person USING people")
    #expect(try db.texts("SELECT name FROM person WHERE name IN ('xxx', 'y')") == ["ann", "cid"])
    #expect(try db.texts("SELECT name FROM person WHERE name = 'xx'") == ["bo"])
  }

  @Test(
    "Values are converted to the type of a virtual table's key, and NULL or other types find nothing"
  )
  func types() throws {
    let db = try Database()
    let asked = Asked()
    try db.createModule("cities") { _ in
      VirtualTable(
        VirtualColumn("id", .integer, by: .value),
        VirtualColumn("zip", .text, by: .value)
      ) { request in
        asked.requests.withLock { $0.append(request) }
        let rows: [[DatabaseValue]] = [[7, "0150"], [nil, "7"], [8, nil]]
        return rows.filter { row in
          (request.value["id"].map { $0 == row[0] } ?? true)
            && (request.value["zip"].map { $0 == row[1] } ?? true)
        }
      }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.city USING cities")
    try db.executeUpdate("CREATE TABLE wanted (number INTEGER, text TEXT)")
    try db.executeUpdate("INSERT INTO wanted VALUES (150, '7'), (NULL, NULL), (7, '0150')")
    for condition in ["id = 7", "id = '7'", "id = 7.0", "id = ' 7 '", "zip = '0150'"] {
      #expect(
        try db.texts(SQL(raw: "SELECT zip FROM city WHERE \(condition)")) == ["0150"],
        "\(condition)")
      #expect(asked.last?.value.count == 1)
    }
    for condition in ["id = NULL", "id = 7.5", "id = 'x'", "id = x'37'", "zip = x'37'"] {
      asked.requests.withLock { $0 = [] }
      #expect(
        try db.value(SQL(raw: "SELECT count(*) FROM city WHERE \(condition)")) == 0,
        "\(condition)")
      #expect(asked.last == nil)
    }
    #expect(try db.value("SELECT count(*) FROM city WHERE id IS NULL") == 1)
    #expect(try db.value("SELECT count(*) FROM city WHERE zip IS NULL") == 1)
    // A text that is compared with a numeric column is converted to a number.
    #expect(
      try db.texts("SELECT zip FROM city JOIN wanted ON zip = number ORDER BY 1") == ["0150", "7"])
    #expect(
      try db.texts("SELECT zip FROM city JOIN wanted ON zip = text ORDER BY 1") == ["0150", "7"])
    #expect(try db.texts("SELECT zip FROM city JOIN wanted ON id = text") == ["0150"])
  }

  @Test("A virtual table's request has the ranges, order and limit that its columns support")
  func requests() throws {
    let db = try Database()
    let asked = Asked()
    try db.createModule("numbers") { _ in
      VirtualTable(.init("n", .integer, by: [.range, .order]), "name") {
        request -> [[DatabaseValue]] in
        asked.requests.withLock { $0.append(request) }
        let numbers = (0..<100).filter { number in
          guard case .integer(let least)? = request.range["n"]?.lower?.value else { return true }
          return number >= least
        }
        let isDescending = request.order.first?.isDescending == true
        return (isDescending ? numbers.reversed() : numbers).map { [.integer(Int64($0)), nil] }
      }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.number USING numbers")
    #expect(try db.integers("SELECT n FROM number WHERE n BETWEEN 97.5 AND 98") == [98])
    for end in [asked.last?.range["n"]?.lower, asked.last?.range["n"]?.upper] {
      #expect(end?.value == 98 && end?.isIncluded == true)
    }
    #expect(
      try db.integers("SELECT n FROM number WHERE n > 5 ORDER BY n DESC LIMIT 2 OFFSET 1")
        == [98, 97])
    #expect(asked.last?.order.map(\.column) == ["n"])
    #expect(asked.last?.order.first?.isDescending == true)
    let least = asked.last?.range["n"]?.lower
    #expect(least?.value == 5 && least?.isIncluded == false)
    if SQLiteLibrary.versionNumber >= 3_038_000 { #expect(asked.last?.limit == 3) }
    #expect(try db.integers("SELECT n FROM number ORDER BY name, n LIMIT 1") == [0])
    #expect(asked.last?.order.isEmpty == true)
  }

  @Test("A virtual table's rows in the wrong order or with values of the wrong type throw")
  func wrongRows() throws {
    let db = try Database()
    try db.createModule("numbers") { _ in
      VirtualTable(.init("n", .integer, by: .order), primaryKey: "n") { _ in
        [[2], [1]] as [[DatabaseValue]]
      }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.number USING numbers")
    #expect(try db.integers("SELECT n FROM number") == [2, 1])
    let order = #expect(throws: DatabaseError.self) {
      try db.integers("SELECT n FROM number ORDER BY n")
    }
    #expect(order?.message.contains("order") == true)
    for (row, word) in [(["x"], "type"), ([nil], "NULL")] as [([DatabaseValue], String)] {
      try db.createModule("wrong") { _ in
        VirtualTable(.init("n", .integer), primaryKey: "n") { _ in [row] }
      }
      try db.executeUpdate("CREATE VIRTUAL TABLE temp.\(identifier: word) USING wrong")
      let error = #expect(throws: DatabaseError.self) {
        try db.integers("SELECT n FROM \(identifier: word)")
      }
      #expect(error?.code == .mismatch && error?.message.contains(word) == true)
    }
  }
}
