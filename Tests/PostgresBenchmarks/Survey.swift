import Larder

/// A record with seven columns of JSON. C reads their texts only.
struct Survey: Record {
  struct Answer: Codable, Sendable {
    var question: String
    var points: Int
    var note: String?
  }

  struct Place: Codable, Sendable {
    var latitude: Double
    var longitude: Double
  }

  var id: Int64
  var tags: [String]
  var points: [Int]
  var place: Place
  var answers: [Answer]
  var counts: [String: Int]
  var best: Answer?
  var pairs: [[String]]

  struct Columns: Sendable {
    let id = Column("id", \Survey.id, .primaryKey)
    let tags = Column("tags", \Survey.tags, as: .json)
    let points = Column("points", \Survey.points, as: .json)
    let place = Column("place", \Survey.place, as: .json)
    let answers = Column("answers", \Survey.answers, as: .json)
    let counts = Column("counts", \Survey.counts, as: .json)
    let best = Column("best", \Survey.best, as: .json)
    let pairs = Column("pairs", \Survey.pairs, as: .json)
  }
  static let columns = Columns()
  static let table = Table(
    "survey", Survey.init, columns.id, columns.tags, columns.points, columns.place, columns.answers,
    columns.counts, columns.best, columns.pairs)

  /// How many rows there are beside so many others.
  static func count(of rows: Int) -> Int { max(1, rows / 10) }

  static func make(_ db: Database, _ rows: Int) throws {
    if try db.tableExists("survey") { try db.executeUpdate("DROP TABLE survey") }
    try table.create(db)
    try insert(
      db,
      contentsOf: (1...count(of: rows)).map { number in
        let answer = Answer(question: "Question \(number % 7)", points: number % 10, note: nil)
        return Survey(
          id: Int64(number), tags: ["tag \(number % 30)", "all"], points: [number, 2, 3, 4],
          place: Place(latitude: Double(number % 90) + 0.25, longitude: 8.5),
          answers: [answer, answer], counts: ["yes": number % 9, "no": 2],
          best: number % 2 == 0 ? answer : nil, pairs: [["a", "b"], ["c"]])
      })
  }
}
