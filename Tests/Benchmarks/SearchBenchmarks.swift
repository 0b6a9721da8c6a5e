import CSQLite
import FoundationEssentials
import Larder

/// Search as one types, over 234,000 cities, by rank and with snippets: the same SQL, built anew by Larder and
/// stepped through in C.
enum SearchBenchmarks {
  static let all = [ranked]

  private static let texts = ["san", "zur", "new yo", "vill", "al kh", "bei"]
  private static let searches = 60

  private static let ranked = Benchmark(
    name: "ranked search", count: { InstructionCount.calls(searches, $0.rows) },
    countedRows: (12, 36),
    makeReference: { reference, players in
      try Metropolis.fill { try reference.execute($0) }
      let statement = try reference.prepare(Metropolis.search("san").sql.text)
      let isCopied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      let calls = InstructionCount.calls(searches, players.count)
      return .init {
        for number in 0..<calls {
          let text = texts[number % texts.count]
          let pattern = text.split(separator: " ").map { "\"\($0)\"*" }.joined(separator: " ")
          for (index, value) in ["<b>", "</b>", "…", pattern].enumerated() {
            sqlite3_bind_text(statement, Int32(index + 1), value, -1, isCopied)
          }
          sqlite3_bind_int64(statement, 5, 20)
          var found: [(Metropolis, String, Double)] = []
          var code = sqlite3_step(statement)
          while code == SQLITE_ROW {
            let city = Metropolis(
              id: sqlite3_column_int64(statement, 0), name: Reference.text(statement, 1),
              country: Reference.text(statement, 2),
              population: Int(sqlite3_column_int64(statement, 3)))
            found.append((city, Reference.text(statement, 4), sqlite3_column_double(statement, 5)))
            code = sqlite3_step(statement)
          }
          try reference.check(code == SQLITE_DONE ? SQLITE_OK : code)
          sqlite3_reset(statement)
          sink &+= found.count
        }
      }
    },
    makeLarder: { side, players in
      try Metropolis.fill { try side.db.executeStatements(SQL(raw: $0)) }
      let calls = InstructionCount.calls(searches, players.count)
      return .init {
        for number in 0..<calls {
          sink &+= try Metropolis.search(texts[number % texts.count]).fetchAll(side.db).count
        }
      }
    })
}

/// A city of the world.
private struct Metropolis: Record {
  var id: Int64?
  var name: String
  var country: String
  var population: Int

  struct Columns: Sendable {
    let id = Column("id", \Metropolis.id, .primaryKey)
    let name = Column("name", \Metropolis.name)
    let country = Column("country", \Metropolis.country)
    let population = Column("population", \Metropolis.population)
  }
  static let columns = Columns()
  static let table = Larder.Table(
    "metropolis", Metropolis.init, columns.id, columns.name, columns.country, columns.population)
  static let text = FullTextIndex(of: Metropolis.self, \.name, prefixes: [2, 3])

  static func search(_ text: String) -> Selection<(Metropolis, String, Double)> {
    matching(Metropolis.text, .allPrefixes(of: text)).order { $0.rank }
      .select { ($0, $0.snippet(\.name, mark: "<b>", "</b>"), $0.rank) }
      .limit(20)
  }

  /// The sample's cities, each with others that are called after it: as many as there are in the world.
  static func fill(_ execute: (String) throws -> Void) throws {
    var file = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { file.deleteLastPathComponent() }
    let csv = try String(
      contentsOf: file.appendingPathComponent("Sample/Data/world-cities.csv"), encoding: .utf8)
    let rowCount = InstructionCount.tableRows(234_000)
    let names = csv.split(maxSplits: rowCount + 1, whereSeparator: \.isNewline).dropFirst()
      .prefix(rowCount)
      .map {
        $0.split(separator: ",", maxSplits: 2)[1].replacing("\"", with: "").replacing(
          "'", with: "''")
      }
    let others = ["", " Alta", " Nord", "-sur-Mer", " Heights", " Junction", " 2"]
    for sql in try table.schema().statements { try execute(sql) }
    for entry in try text.schema() { try execute(entry.sql ?? "") }
    try execute("BEGIN")
    var number = 0
    for other in others {
      for name in names where number < rowCount {
        number += 1
        try execute(
          "INSERT INTO metropolis VALUES (\(number), '\(name)\(other)', 'X', \(number * 31 % 999_983))"
        )
      }
    }
    try execute("INSERT INTO metropolis_text(metropolis_text) VALUES ('optimize')")
    try execute("COMMIT")
  }
}
