import CSQLite
import Larder

/// The sample's `search` and `children`: the same SQL, built anew by Larder and stepped through in C.
enum GazetteerBenchmarks {
  static let all = [search, children]

  private static let texts = ["san", "zur", "new york", "北京", "o'f", "ville"]
  private static let searches = 200
  private static let provinces = Array(stride(from: 110_000, through: 340_000, by: 10_000))

  static let search = Benchmark(
    name: "search", count: { InstructionCount.calls(searches, $0.rows) }, countedRows: (24, 72),
    makeReference: { reference, players in
      try reference.execute(Town.schema)
      try reference.execute(Town.rows)
      let statement = try reference.prepare(Town.named("san").sql.text)
      let calls = InstructionCount.calls(searches, players.count)
      return .init {
        for number in 0..<calls {
          let text = texts[number % texts.count]
          reference.bind(Town.pattern(text), statement, 1)
          reference.bind(text, statement, 2)
          sqlite3_bind_int64(statement, 3, 20)
          var found: [Town] = []
          while sqlite3_step(statement) == SQLITE_ROW { found.append(Town(statement)) }
          sqlite3_reset(statement)
          sink &+= found.count
        }
      }
    },
    makeLarder: { side, players in
      try side.db.executeStatements(SQL(raw: Town.schema))
      try side.db.executeStatements(SQL(raw: Town.rows))
      let calls = InstructionCount.calls(searches, players.count)
      return .init {
        for number in 0..<calls {
          sink &+= try Town.named(texts[number % texts.count]).fetchAll(side.db).count
        }
      }
    })

  static let children = Benchmark(
    name: "children",
    count: { InstructionCount.calls(searches, $0.rows) * provinces.count }, countedRows: (5, 15),
    makeReference: { reference, players in
      try reference.execute(District.schema)
      let statement = try reference.prepare(District.children(of: 110_000).sql.text)
      let calls = InstructionCount.calls(searches, players.count)
      return .init {
        for _ in 0..<calls {
          for code in provinces {
            sqlite3_bind_int64(statement, 1, Int64(code))
            sqlite3_bind_int64(statement, 2, Int64(code + 9_999))
            sqlite3_bind_int64(statement, 3, 100)
            sqlite3_bind_int64(statement, 4, 0)
            var found: [District] = []
            while sqlite3_step(statement) == SQLITE_ROW { found.append(District(statement)) }
            sqlite3_reset(statement)
            sink &+= found.count
          }
        }
      }
    },
    makeLarder: { side, players in
      try side.db.executeStatements(SQL(raw: District.schema))
      let calls = InstructionCount.calls(searches, players.count)
      return .init {
        for _ in 0..<calls {
          for code in provinces {
            sink &+= try District.children(of: code).fetchAll(side.db).count
          }
        }
      }
    })
}

extension Reference {
  fileprivate func bind(_ text: String, _ statement: OpaquePointer, _ index: Int32) {
    // Copied, since it outlives the call.
    sqlite3_bind_text(
      statement, index, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
  }
}

/// A city as the sample has it.
struct Town: Record {
  var id: Int64?
  var name: String
  var latitude: Double
  var longitude: Double
  var country: String
  var population: Int

  struct Columns: Sendable {
    let id = Column("id", \Town.id, .primaryKey)
    let name = Column("name", \Town.name)
    let latitude = Column("latitude", \Town.latitude)
    let longitude = Column("longitude", \Town.longitude)
    let country = Column("country", \Town.country)
    let population = Column("population", \Town.population)
  }
  static let columns = Columns()
  static let table = Larder.Table(
    "town", Town.init, columns.id, columns.name, columns.latitude, columns.longitude,
    columns.country, columns.population)

  static let schema = """
    CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, latitude REAL NOT NULL,
      longitude REAL NOT NULL, country TEXT NOT NULL, population INTEGER NOT NULL) STRICT;
    CREATE VIRTUAL TABLE town_text USING fts5(
      name, content='town', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
    """

  /// As many as the sample has, under names such as “San Fallon 17”.
  static var rows: String {
    """
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(InstructionCount.tableRows(34_006))),
      first(i, word) AS (VALUES (0, 'San'), (1, 'Zürich'), (2, 'New York'), (3, '北京市'),
        (4, 'O''Fallon'), (5, 'Villeneuve'), (6, 'Oslo'), (7, 'Lavāsān')),
      last(i, word) AS (VALUES (0, 'José'), (1, 'Höngg'), (2, 'Fallon'), (3, 'Park'), (4, 'Ridge'))
    INSERT INTO town SELECT n, first.word || ' ' || last.word || ' ' || n, n % 170 - 85 + 0.25,
      n % 350 - 175 + 0.75, 'CN', n * 31 % 999983
    FROM number JOIN first ON first.i = n * 7 % 97 JOIN last ON last.i = n % 5
    UNION ALL SELECT n + 100000, 'Place ' || n, 1.5, 2.5, 'NO', n FROM number;
    INSERT INTO town_text(town_text) VALUES ('rebuild');
    """
  }

  static func pattern(_ text: String) -> String {
    text.split(separator: " ").map { "\"\($0)\"*" }.joined(separator: " ")
  }

  static func named(_ text: String) -> Query<Town> {
    filter {
      SQLExpression(
        sql: """
          \($0.id.sql) IN (SELECT rowid FROM town_text WHERE town_text MATCH \(pattern(text)))
          """)
    }
    .order { [($0.name.collate("NOCASE") == text).desc, $0.population.desc] }
    .limit(20)
  }
}

extension Town {
  /// The town of the row that a statement stands on.
  fileprivate init(_ statement: OpaquePointer) {
    self.init(
      id: sqlite3_column_int64(statement, 0), name: Reference.text(statement, 1),
      latitude: sqlite3_column_double(statement, 2), longitude: sqlite3_column_double(statement, 3),
      country: Reference.text(statement, 4), population: Int(sqlite3_column_int64(statement, 5)))
  }
}

/// A division of China as the sample has it.
struct District: Record {
  var code: Int
  var name: String
  var longitude: Double?
  var latitude: Double?

  struct Columns: Sendable {
    let code = Column("code", \District.code, .primaryKey)
    let name = Column("name", \District.name)
    let longitude = Column("longitude", \District.longitude)
    let latitude = Column("latitude", \District.latitude)
  }
  static let columns = Columns()
  static let table = Larder.Table(
    "district", District.init, columns.code, columns.name, columns.longitude, columns.latitude)

  /// 24 provinces with 12 cities and 120 districts each.
  static let schema = """
    CREATE TABLE district (code INTEGER PRIMARY KEY, name TEXT NOT NULL, longitude REAL,
      latitude REAL) STRICT;
    WITH RECURSIVE province(code) AS (
        SELECT 110000 UNION ALL SELECT code + 10000 FROM province WHERE code < 340000),
      city(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM city WHERE n < 12),
      part(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM part WHERE n < 10)
    INSERT INTO district SELECT code + city.n * 100 + part.n, '石家庄市' || city.n, 114.514793,
      CASE part.n WHEN 0 THEN NULL ELSE 38.042228 END
    FROM province, city, part WHERE city.n > 0 OR part.n = 0;
    """

  static func children(of code: Int) -> Query<District> {
    filter { $0.code > code && $0.code <= code + 9_999 }.order { $0.code }
      .filter { $0.code % 100 == 0 }
  }
}

extension District {
  /// The district of the row that a statement stands on.
  fileprivate init(_ statement: OpaquePointer) {
    func real(_ index: Int32) -> Double? {
      sqlite3_column_type(statement, index) == SQLITE_NULL
        ? nil : sqlite3_column_double(statement, index)
    }
    self.init(
      code: Int(sqlite3_column_int64(statement, 0)), name: Reference.text(statement, 1),
      longitude: real(2), latitude: real(3))
  }
}
