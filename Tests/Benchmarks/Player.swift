import Larder

/// The row that the benchmarks write and read.
struct Player: Record {
  var id: Int64
  var name: String
  var score: Int
  var ratio: Double
  var email: String?

  struct Columns: Sendable {
    let id = Column("id", \Player.id, .primaryKey)
    let name = Column("name", \Player.name)
    let score = Column("score", \Player.score)
    let ratio = Column("ratio", \Player.ratio)
    let email = Column("email", \Player.email)
  }
  static let columns = Columns()
  static let table = Larder.Table(
    "player", Player.init, columns.id, columns.name, columns.score, columns.ratio, columns.email)

  static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL,
      ratio REAL NOT NULL, email TEXT)
    """

  /// Names of about 20 bytes; every third has no e-mail address.
  static func many(_ count: Int) -> [Player] {
    (1...count).map { (number: Int) -> Player in
      let email: String? = number % 3 == 0 ? nil : "player\(number)@example.org"
      return Player(
        id: Int64(number), name: "Player number \(100_000 + number)", score: number &* 7 % 1000,
        ratio: Double(number) / 3, email: email)
    }
  }
}
