import Foundation
import Larder
import LarderPostgres
import PostgresSupport

/// Random values of the server's types, read, written again and compared with what the server says of them.
enum ServerTypes: Verb {
  static let help = """
    server-types [--count 100000] [--seed 1] [--json]
      Has the server make random values of each type that SQLite lacks: arrays, enumerations, domains, composite types, ranges,
      intervals, times, addresses, bits. Each is read, compared with the server's text or JSON of it, and written again,
      which has to leave it as it was. Typed conditions on arrays and ranges have to find the rows that SQL by hand finds.
    """
  static let options: [String: String?] = ["count": "100000", "seed": "1", "json": nil]

  /// How a value as it was read is compared: with the server's text, or with its JSON.
  private enum Form { case text, json, written }

  /// A random text with quotes, backslashes and the like; a random whole number. `n` is the row.
  private static let words =
    #"(ARRAY['a','b','','NULL','null','q"','b\c',',','{}','ä€😀',E'\n',' ','\"'])[1 + (random() * 12 + n * 0)::int]"#

  private static func list(_ element: String) -> String {
    """
    (SELECT coalesce(array_agg(CASE WHEN random() < 0.1 THEN NULL ELSE \(element.replacing("n * 0", with: "m * 0")) END), '{}')
     FROM generate_series(1, (random() * 4 + n * 0)::int) AS m)
    """
  }

  private static let integer = "((random() - 0.5) * 4e9)::bigint"
  private static let number = "round(((random() - 0.5) * 1e12)::numeric, (random() * 6)::int)"
  private static let moment =
    "(timestamptz '2000-01-01 00:00:00+00' + (random() - 0.5) * interval '300 years')"

  private static let types: [(name: String, value: String, form: Form)] = [
    ("text[]", list(words), .json), ("varchar(9)[]", list(words), .json),
    ("bigint[]", list(integer), .json), ("smallint[]", list("(random() * 9)::smallint"), .json),
    ("boolean[]", list("random() < 0.5"), .json), ("numeric[]", list(number), .json),
    ("uuid[]", list("gen_random_uuid()"), .written),
    ("bytea[]", list("decode(md5(random()::text), 'hex')"), .written),
    ("jsonb[]", list("to_jsonb(\(words))"), .json), ("float8[]", list("random() * 1e10"), .json),
    ("timestamptz[]", list(moment), .written), ("date[]", list("\(moment)::date"), .json),
    ("mood", "(enum_range(NULL::mood))[1 + (random() * 2)::int]", .text),
    ("mood[]", list("(enum_range(NULL::mood))[1 + (random() * 2)::int]"), .json),
    ("label", words, .text), ("place", "ROW(\(integer), \(words), \(list(words)))::place", .json),
    ("place[]", list("ROW(\(integer), \(words), \(list(words)))::place"), .json),
    ("int8range", "int8range(\(integer), NULL)", .text),
    ("int4range", "int4range((random() * 9)::int, 10 + (random() * 9)::int, '(]')", .text),
    ("numrange", "numrange(\(number) - 1e12, \(number) + 1e12, '[]')", .text),
    ("tstzrange", "tstzrange(\(moment), NULL, '()')", .text),
    ("daterange", "daterange(\(moment)::date, 'infinity')", .text),
    (
      "int4multirange", "int4multirange(int4range(0, (random() * 9)::int), int4range(20, 30))",
      .text
    ),
    (
      "interval",
      "make_interval((random() * 5 - 2)::int, (random() * 30 - 15)::int, 0, (random() * 9 - 4)::int, (random() * 50 - 25)::int, 0, round((random() * 100 - 50)::numeric, 6)::float8)",
      .text
    ),
    ("time", "(\(moment))::time", .text), ("timetz", "(\(moment))::timetz", .text),
    (
      "inet",
      "('10.' || (random() * 255)::int || '.0.' || (random() * 255)::int || '/' || 8 + (random() * 24)::int)::inet",
      .written
    ),
    (
      "cidr", "network(('2001:db8:' || to_hex((random() * 65535)::int) || '::/48')::inet)::cidr",
      .text
    ),
    ("macaddr", "substr(md5(random()::text || n), 1, 12)::macaddr", .text),
    ("bit(9)", "(random() * 511)::int::bit(9)", .text),
    ("money", "((random() - 0.5) * 1e6)::numeric::money", .written),
  ]

  static func run(_ options: Options) throws {
    var figures = Figures("server-types", unit: "values", options)
    figures.number = 16
    let server = try PostgresServer([])
    let db = try Database.postgres(try server.database())
    try db.executeStatements(
      """
      CREATE TYPE mood AS ENUM ('sad', 'it''s fair', 'happy');
      CREATE DOMAIN label AS text CHECK (value <> 'never');
      CREATE TYPE place AS (x bigint, "a name" text, tags text[]);
      CREATE SCHEMA rows
      """)
    try Shelf.table.create(db)
    _ = try db.value(
      "SELECT setseed(\(Double(figures.seed % 1000) / 1000))::text", as: String?.self)
    let count = try options.number("count")
    var round = 0
    while figures.tried < count {
      let (name, value, form) = types[round % types.count]
      let rows = 200
      let wrong = try db.inTransaction { db in try mismatches(db, name, value, form, rows) }
      for line in wrong.prefix(5) { report("\(name): \(line)") }
      figures.tried += rows
      figures.failed += wrong.count
      if round % types.count == 0 {
        let wrong = try db.inTransaction { db in try Shelf.mismatches(db) }
        for line in wrong.prefix(5) { report(line) }
        figures.tried += Shelf.conditionCount
        figures.failed += wrong.count
      }
      round += 1
    }
    figures.details = ["\(types.count) types"]
    try figures.end()
  }

  /// Makes rows of a type, reads and writes them, and returns what isn't right.
  private static func mismatches(
    _ db: Database, _ type: String, _ value: String, _ form: Form, _ rows: Int
  ) throws -> [String] {
    let type = SQL(raw: type)
    try db.executeUpdate("CREATE TABLE rows.v (id bigint, a \(type), b \(type))")
    defer { _ = try? db.executeUpdate("DROP TABLE IF EXISTS rows.v") }
    try db.executeUpdate(
      "INSERT INTO rows.v (id, a) SELECT n, \(SQL(raw: value)) FROM generate_series(1, \(rows)::bigint) AS n"
    )
    let comparison: SQL =
      switch form {
      case .text: "a::text = $1::text"
      case .json: "to_jsonb(a) = $1::text::jsonb"
      case .written: "$1::text IS NOT NULL"
      }
    let found = try db.executeQuery("SELECT id, a FROM rows.v ORDER BY id").map {
      (try $0.get("id", as: Int64.self), try $0.get("a", as: DatabaseValue.self))
    }
    var wrong: [String] = found.count == rows ? [] : ["\(found.count) rows"]
    for (id, value) in found {
      try db.executeUpdate("UPDATE rows.v SET b = \(value) WHERE id = \(id)")
      guard value != .null else { continue }
      let text =
        switch value {
        case .integer(let number): "\(number)"
        case .text(let text): text
        default: "\(value)"
        }
      let isSame = try db.value(
        "SELECT \(comparison) FROM rows.v WHERE id = $2::bigint", arguments: [text, id],
        as: Bool.self)
      if isSame != true { wrong.append("read as \(value)") }
    }
    wrong += try db.executeQuery(
      """
      SELECT a::text AS a, b::text AS b FROM rows.v
      WHERE a IS DISTINCT FROM b OR a::text IS DISTINCT FROM b::text
      """
    ).map {
      "\(try $0.get("a", as: String?.self) ?? "NULL") became \(try $0.get("b", as: String?.self) ?? "NULL")"
    }
    return wrong
  }
}

/// A record with arrays and ranges.
private struct Shelf: Record {
  var id: Int64
  var words: [String?]?
  var numbers: [Int]
  var days: Range<Int>?

  struct Columns: Sendable {
    let id = Column("id", \Shelf.id, .primaryKey)
    let words = Column("words", \Shelf.words, as: .array)
    let numbers = Column("numbers", \Shelf.numbers, as: .array)
    let days = Column("days", \Shelf.days, as: .range())
  }
  static let columns = Columns()
  static let table = Table(
    "shelf", Shelf.init, columns.id, columns.words, columns.numbers, columns.days)

  private static let some = ["a", "b", "", "NULL", "q\"", "b\\c", "{}"]
  static let conditionCount = 8 * some.count

  /// Compares typed conditions with SQL by hand, on random rows.
  static func mismatches(_ db: Database) throws -> [String] {
    try Shelf.all.delete(db)
    let records = (1...150).map { id in
      Shelf(
        id: id,
        words: id % 9 == 0
          ? nil
          : (0..<Int.random(in: 0...4)).map { _ in Bool.random() ? some.randomElement() ?? "" : nil
          },
        numbers: (0..<Int.random(in: 0...3)).map { _ in Int.random(in: 0...7) },
        days: id % 7 == 0 ? nil : Int.random(in: 0...4)..<Int.random(in: 5...9))
    }
    try Shelf.insert(db, contentsOf: records)
    var wrong: [String] = []
    func compare(
      _ name: String, _ sql: SQL, _ condition: (RecordFields<Shelf>) -> SQLExpression<Bool>
    ) throws {
      let typed = try Shelf.filter { condition($0) }.order { $0.id }.select { $0.id }.fetchAll(db)
      let byHand = try db.executeQuery("SELECT id FROM shelf WHERE \(sql) ORDER BY id")
        .map { try $0.get("id", as: Int64.self) }
      if typed != byHand { wrong.append("\(name): \(typed) instead of \(byHand)") }
    }
    for (number, word) in some.enumerated() {
      let other = some[(number + 3) % some.count]
      try compare("contains", "\(word)::text = ANY(words)") { $0.words.contains(word) }
      try compare(
        "not contains",
        "(\(word)::text = ANY(words)) IS NOT TRUE AND NOT coalesce(array_position(words, \(word)::text) IS NOT NULL, false)"
      ) {
        !$0.words.contains(word)
      }
      try compare("all", "words @> ARRAY[\(word)::text, \(other)::text]") {
        $0.words.contains(all: [word, other])
      }
      try compare("overlaps", "words && ARRAY[\(word)::text, \(other)::text]") {
        $0.words.overlaps([word, other])
      }
      try compare("number", "\(number)::bigint = ANY(numbers)") { $0.numbers.contains(number) }
      try compare("length", "cardinality(words) > \(number)::bigint") { $0.words.length > number }
      try compare("range", "days @> \(number)::bigint") { $0.days.contains(number) }
      try compare("ranges", "days && int8range(\(number)::bigint, \(number + 2)::bigint)") {
        $0.days.overlaps(number..<number + 2)
      }
    }
    let found = try Shelf.all.order { $0.id }.fetchAll(db)
    if found.map(\.words) != records.map(\.words) || found.map(\.numbers) != records.map(\.numbers)
      || found.map(\.days) != records.map(\.days)
    {
      wrong.append("records came back otherwise")
    }
    return wrong
  }
}
