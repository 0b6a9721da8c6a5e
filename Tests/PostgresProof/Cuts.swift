import Foundation
import Larder
import LarderPostgres
import PostgresSupport

private struct Line: Record {
  var point: Int
  var part: Int

  struct Columns: Sendable {
    let point = Column("point", \Line.point)
    let part = Column("part", \Line.part)
  }
  static let columns = Columns()
  static let table = Table(
    "line", Line.init, columns.point, columns.part, options: .noPrimaryKey)
}

/// Connections that are cut after any number of bytes.
enum Cuts: Verb {
  static let help = """
    cuts [--points 1000] [--tokens]
      Has a proxy cut the connection at so many points, which are spread over all bytes of an insert, a
      transaction, a COPY, a query and migrations. What was acknowledged has to be there, once; what threw has
      to be there as a whole or not at all, and not at all unless the error says that nobody knows (08007).
      With --tokens commits have tokens, by which each is settled: nothing is unknown then.
    """
  static let options: [String: String?] = ["points": "1000", "tokens": nil]

  /// What is cut: how many rows it writes, and what it does with a pool and the number of the point.
  private static let work:
    [(name: String, rows: Int, run: @Sendable (PostgresPool, Int) throws -> Void)] = [
      (
        "insert", 1,
        { pool, point in
          try pool.inTransaction { db in
            var line = Line(point: point, part: 0)
            try line.insert(db)
          }
        }
      ),
      (
        "transaction", 3,
        { pool, point in
          try pool.inTransaction { db in
            for part in 0..<3 {
              var line = Line(point: point, part: part)
              try line.insert(db)
            }
          }
        }
      ),
      (
        "copy", 500,
        { pool, point in
          try pool.inTransaction { db in
            try Line.insert(db, contentsOf: (0..<500).map { Line(point: point, part: $0) })
          }
        }
      ),
      (
        "query", 0,
        { pool, _ in
          let sum = try pool.read { db in
            try Line.filter { $0.point == -1 }.fetchAll(db).reduce(0) { $0 + $1.part }
          }
          if sum != 499 * 500 / 2 { throw Wrong("the query's sum is \(sum)") }
        }
      ),
      ("migrate", 2, { pool, point in try migrator(point).migrate(pool) }),
    ]

  private static func migrator(_ point: Int) -> Migrator {
    Migrator([
      Migration("first \(point)") { db in
        var line = Line(point: point, part: 0)
        try line.insert(db)
      },
      Migration("second \(point)") { db in
        var line = Line(point: point, part: 1)
        try line.insert(db)
      },
    ])
  }

  private struct Tally {
    var acknowledged = 0, unknown = 0, refused = 0
    var lost: [Int] = [], twice: [Int] = [], half: [Int] = []
  }

  static func run(_ options: Options) throws {
    let points = try options.number("points")
    let server = try PostgresServer()
    let tokens = options.has("tokens")
    let direct = try onePool(server.address, commitTokens: tokens)
    try Migrator([]).migrate(direct)
    try direct.inTransaction { db in
      try Line.table.create(db)
      try Line.insert(db, contentsOf: (0..<500).map { Line(point: -1, part: $0) })
    }
    let proxy = try Proxy(to: server.folder)
    let address = server.address.replacing(server.folder, with: proxy.folder)
    var isWrong = false
    for (index, work) in work.enumerated() {
      // Each work knows only its own migrations.
      try direct.inTransaction { db in
        try db.executeUpdate("DROP TABLE IF EXISTS larder_migration")
      }
      let count = (points + index) / Self.work.count
      let first = 1_000_000 * (index + 1)
      let pool = try onePool(address, commitTokens: tokens)
      let before = proxy.statistics.bytes
      try work.run(pool, first)
      let bytes = proxy.statistics.bytes - before
      var tally = Tally()
      for number in 1...count {
        if work.name == "migrate" {
          try direct.inTransaction { db in try db.executeUpdate("DROP TABLE larder_migration") }
        }
        try cut(
          work, point: first + number, after: 1 + (number - 1) * bytes / count, proxy, address,
          direct, tokens: tokens, &tally)
      }
      report(
        "\(work.name): \(count) points in \(bytes) bytes, \(tally.acknowledged) acknowledged, "
          + "\(tally.unknown) unknown, \(tally.refused) refused; \(tally.lost.count) lost, "
          + "\(tally.twice.count) twice, \(tally.half.count) half")
      if tokens, tally.unknown > 0 { throw Wrong("\(tally.unknown) commits are unknown") }
      for (what, points) in [("lost", tally.lost), ("twice", tally.twice), ("half", tally.half)]
      where !points.isEmpty {
        isWrong = true
        complain("\(work.name), \(what): \(points.prefix(20))")
      }
    }
    report("\(proxy.statistics.cuts) cuts")
    if isWrong { throw Wrong("something was lost, or done twice or half") }
  }

  private static func cut(
    _ work: (name: String, rows: Int, run: @Sendable (PostgresPool, Int) throws -> Void),
    point: Int, after bytes: Int, _ proxy: Proxy, _ address: String, _ direct: PostgresPool,
    tokens: Bool, _ tally: inout Tally
  ) throws {
    var isAcknowledged = false
    var mayBeThere = false
    let pool = try onePool(address, commitTokens: tokens)
    proxy.cut(after: bytes, once: true)
    do {
      try work.run(pool, point)
      isAcknowledged = true
      tally.acknowledged += 1
    } catch {
      mayBeThere = (error as? DatabaseError)?.sqlState == "08007"
      if mayBeThere { tally.unknown += 1 } else { tally.refused += 1 }
    }
    proxy.cut(after: .max)
    // A migrator goes on where it was, whatever became of the last attempt.
    if work.name == "migrate" { try migrator(point).migrate(direct) }
    let parts = try direct.read { db in
      try Line.filter { $0.point == point }.order { $0.part }.fetchAll(db).map(\.part)
    }
    let all = Array(0..<work.rows)
    let isExpected = isAcknowledged || work.name == "migrate"
    if parts == all || parts.isEmpty && mayBeThere { return }
    if isExpected, parts.count < all.count { return tally.lost.append(point) }
    if !isExpected, parts.isEmpty { return }
    if parts.count > all.count { tally.twice.append(point) } else { tally.half.append(point) }
  }
}
