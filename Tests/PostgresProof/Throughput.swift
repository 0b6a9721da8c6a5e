import Foundation
import Larder
import LarderPostgres
import PostgresSupport

private struct Package: Record {
  var id: Int64
  var fetches: Int

  struct Columns: Sendable {
    let id = Column("id", \Package.id, .primaryKey)
    let fetches = Column("fetches", \Package.fetches)
  }
  static let columns = Columns()
  static let table = Table("package", Package.init, columns.id, columns.fetches)
}

private struct Version: Record {
  var id: Int64
  var package: Int64
  var name: String
  var fetches: Int

  struct Columns: Sendable {
    let id = Column("id", \Version.id, .primaryKey)
    let package = Column("package", \Version.package, .references(Package.self))
    let name = Column("name", \Version.name)
    let fetches = Column("fetches", \Version.fetches)
  }
  static let columns = Columns()
  static let table = Table(
    "version", Version.init, columns.id, columns.package, columns.name, columns.fetches)
}

/// Workers that each write many rows in a transaction, without an index for what they read.
enum Throughput: Verb {
  static let help = """
    throughput [--rounds 16] [--seconds 1] [--packages 200] [--versions 50] [--isolation serializable] [--seed 1] [--json]
      1, 4, 8 and 16 workers fetch packages at random, and one in turn with them: each time they read the package's
      versions, which no index finds, write all of them anew and count. None may do less than 0.9 of what one does, and
      no fetch gets lost.
    """
  static let options: [String: String?] = [
    "rounds": "16", "seconds": "1", "packages": "200", "versions": "50",
    "isolation": "serializable", "seed": "1", "json": nil,
  ]

  static func run(_ options: Options) throws {
    let name = options.text("isolation").replacing("-", with: " ")
    guard let isolation = PostgresConfiguration.Isolation(rawValue: name) else {
      throw Wrong("--isolation is serializable, repeatable-read or read-committed")
    }
    let (rounds, seconds) = (try options.number("rounds"), try options.number("seconds"))
    let (packages, versions) = (try options.number("packages"), try options.number("versions"))
    var figures = Figures("throughput", unit: "fetches", options)
    for workers in [1, 4, 8, 16] {
      let server = try PostgresServer()
      func pool(_ connections: Int) throws -> PostgresPool {
        var configuration = PostgresConfiguration()
        configuration.connections = connections
        configuration.isolation = isolation
        configuration.retryLimit = .seconds(600)
        return try PostgresPool(server.address, configuration: configuration)
      }
      let (alone, company) = (try pool(1), try pool(workers))
      try alone.inTransaction { db in
        try Package.table.create(db)
        try Version.table.create(db)
        try Package.insert(
          db, contentsOf: (1...packages).map { Package(id: Int64($0), fetches: 0) })
        try Version.insert(db, contentsOf: rows(of: 1...packages, versions))
      }
      // In turn, since the machine may have other things to do meanwhile.
      var (one, many) = (0, 0)
      for _ in 0..<rounds {
        one += try run(alone, 1, seconds, packages)
        many += try run(company, workers, seconds, packages)
      }
      let counted = try alone.read {
        try $0.value("SELECT sum(fetches)::bigint FROM package", as: Int.self)
      }
      let share = Double(many) / Double(max(1, one))
      func rate(_ count: Int) -> String {
        String(format: "%.1f", Double(count) / Double(seconds * rounds))
      }
      figures.details.append(
        "\(workers) workers: \(rate(many)) a second, one: \(rate(one)), "
          + "\(String(format: "%.2f", share)) of one, \(company.statistics.retries) run again, "
          + "at most \(company.statistics.mostAttempts) attempts")
      report(figures.details.last ?? "")
      if counted != one + many {
        throw Wrong("\(one + many) fetches, of which \(counted ?? 0) are there")
      }
      figures.tried += one + many
      if workers > 1, share < 0.9 { figures.failed += 1 }
    }
    try figures.end()
  }

  private static func rows(of packages: ClosedRange<Int>, _ count: Int) -> [Version] {
    packages.flatMap { package in
      (0..<count).map { number in
        Version(
          id: Int64(package * count + number), package: Int64(package), name: "1.\(number)",
          fetches: 0)
      }
    }
  }

  private static func run(
    _ pool: PostgresPool, _ workers: Int, _ seconds: Int, _ packages: Int
  ) throws -> Int {
    let count = Lock(0)
    let end = ContinuousClock.now + .seconds(seconds)
    try onThreads(workers) { _ in
      while ContinuousClock.now < end {
        let id = Int64.random(in: 1...Int64(packages))
        try pool.inTransaction { db in
          var known = try Version.filter { $0.package == id }.fetchAll(db)
          for index in known.indices { known[index].fetches += 1 }
          try Version.upsert(db, contentsOf: known)
          try Package.filter { $0.id == id }.update(db) { $0.fetches += 1 }
        }
        count.withLock { $0 += 1 }
      }
    }
    return count.withLock { $0 }
  }
}
