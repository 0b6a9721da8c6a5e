import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

private struct Chore: Record, Equatable {
  var id: Int64?
  var due: Int
  var worker: Int?

  struct Columns: Sendable {
    let id = Column("id", \Chore.id, .primaryKey)
    let due = Column("due", \Chore.due, .indexed)
    let worker = Column("worker", \Chore.worker)
  }
  static let columns = Columns()
  static let table = Table("chore", Chore.init, columns.id, columns.due, columns.worker)
}

@Suite(
  "Rows that PostgreSQL's clients claim",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct ClaimedRowTests {
  @Test(
    "Eight connections claim each row exactly once",
    arguments: [PostgresConfiguration.Isolation.readCommitted, .serializable])
  func once(_ isolation: PostgresConfiguration.Isolation) throws {
    var configuration = PostgresConfiguration()
    configuration.isolation = isolation
    configuration.retryLimit = .seconds(600)
    let pool = try PostgresPool(TestEngine.schema(), configuration: configuration)
    try pool.inTransaction { db in
      try Chore.table.create(db)
      try Chore.insert(
        db, contentsOf: (0..<400).map { Chore(id: nil, due: $0 / 7, worker: nil) })
    }
    let all = Lock<[Int64]>([])
    let workers = (0..<8).map { number in
      Worker {
        var ids: [Int64] = []
        while true {
          let claimed = try pool.inTransaction { db in
            try Chore.filter { $0.worker == nil }.order { ($0.due, $0.id) }
              .claim(db, limit: 1 + number) { $0.worker = .value(number) }
          }
          if claimed.isEmpty { break }
          let isOrdered = zip(claimed, claimed.dropFirst()).allSatisfy {
            ($0.due, $0.id ?? 0) < ($1.due, $1.id ?? 0)
          }
          #expect(isOrdered)
          ids += claimed.compactMap(\.id)
        }
        all.withLock { [ids] in $0 += ids }
      }
    }
    for worker in workers { try worker.end() }
    let ids = all.withLock { $0 }
    #expect(ids.count == 400)
    #expect(Set(ids).count == 400)
    try pool.close()
  }

  @Test("Rows that another connection has locked are skipped without waiting")
  func skipped() throws {
    var configuration = PostgresConfiguration()
    configuration.isolation = .readCommitted
    let pool = try PostgresPool(TestEngine.schema(), configuration: configuration)
    try pool.inTransaction { db in
      try Chore.table.create(db)
      try Chore.insert(db, contentsOf: (1...3).map { Chore(id: nil, due: $0, worker: nil) })
    }
    let waiting = Chore.filter { $0.worker == nil }.order { $0.due }
    try pool.inTransaction { db in
      let mine = try waiting.claim(db, limit: 2) { $0.worker = 1 }
      #expect(mine.map(\.due) == [1, 2])
      try Worker {
        try pool.inTransaction { db in
          let others = try waiting.claim(db, limit: 2) { $0.worker = 2 }
          #expect(others.map(\.due) == [3])
        }
      }.end()
    }
    try pool.close()
  }
}
