import CPostgresReference
import Foundation
import Larder
import LarderPostgres

/// What both sides do.
enum Work {
  case insert, copy, find, transactions, fetchAll, stream, fetchJSON

  /// How many rows or calls there are, so that each takes some tens of milliseconds.
  func count(of rows: Int) -> Int {
    switch self {
    case .insert, .find: max(1, rows / 10)
    case .transactions: max(1, rows / 20)
    case .fetchJSON: Survey.count(of: rows)
    case .copy, .fetchAll, .stream: rows
    }
  }

  var needsEmptyTable: Bool { self == .insert || self == .copy }

  /// Microseconds for each of them; none while instructions are counted.
  func measure(_ rows: Int, _ body: () throws -> Void) throws -> Double {
    if Self.countsInstructions {
      try countedWork(body)
      return 0
    }
    let time = try ContinuousClock().measure(body)
    return time / .microseconds(1) / Double(count(of: rows))
  }

  /// Whether `valgrind --tool=callgrind` counts the client's instructions, without a clock.
  nonisolated(unsafe) static var countsInstructions = false

  /// What empties the table comes last.
  static let all: [(name: String, limit: Double?, work: Work)] = [
    ("find", 1.3, .find), ("fetch-all", 1.5, .fetchAll), ("stream", nil, .stream),
    ("fetch-json", 3, .fetchJSON),
    ("transactions", 1.3, .transactions), ("insert", 1.3, .insert), ("copy", 1.3, .copy),
  ]
}

/// The row that the benchmarks write and read.
struct Town: Record {
  var id: Int64
  var name: String
  var population: Int
  var area: Double
  var country: String?

  struct Columns: Sendable {
    let id = Column("id", \Town.id, .primaryKey)
    let name = Column("name", \Town.name)
    let population = Column("population", \Town.population)
    let area = Column("area", \Town.area)
    let country = Column("country", \Town.country)
  }
  static let columns = Columns()
  static let table = Table(
    "town", Town.init, columns.id, columns.name, columns.population, columns.area, columns.country)

  /// Names of about 20 bytes; every third has no country.
  static func many(_ count: Int) -> [Town] {
    (1...count).map { (number: Int) -> Town in
      let population = number &* 7919 % 1_000_000
      return Town(
        id: Int64(number), name: "Town number \(100_000 + number)", population: population,
        area: Double(number) / 3, country: number % 3 == 0 ? nil : "Norway")
    }
  }
}

/// Records on a pool.
final class LarderSide {
  private let pool: PostgresPool
  private let towns: [Town]

  init(_ address: String, _ rows: Int) throws {
    pool = try PostgresPool(address)
    towns = Town.many(rows)
    try pool.inTransaction { db in
      if try db.tableExists("town") { try db.executeUpdate("DROP TABLE town") }
      try Town.table.create(db)
      try Town.insert(db, contentsOf: towns)
      try Survey.make(db, rows)
    }
  }

  func measure(_ work: Work) throws -> Double {
    if work.needsEmptyTable { try pool.inTransaction { try $0.executeUpdate("TRUNCATE town") } }
    let count = work.count(of: towns.count)
    return try work.measure(towns.count) {
      switch work {
      case .insert:
        try pool.inTransaction { db in for var town in towns[..<count] { try town.insert(db) } }
      case .copy: try pool.inTransaction { try Town.insert($0, contentsOf: towns) }
      case .find:
        try pool.read { db in
          for id in 1...count { sink += try Town.find(db, Int64(id)).population }
        }
      case .transactions:
        for id in 1...count {
          try pool.inTransaction { db in
            try Town.filter { $0.id == Int64(id) }.update(db) { $0.population += 1 }
          }
        }
      case .fetchAll: sink += try pool.read { try Town.fetchAll($0).count }
      case .fetchJSON: sink += try pool.read { try Survey.fetchAll($0).count }
      case .stream: try pool.read { try Town.forEach($0) { sink += $0.population } }
      }
    }
  }
}

/// Work whose instructions are counted.
private struct CountedWork {
  let body: () throws -> Void
  var error: (any Error)?
}

/// Runs a closure in a C function, which callgrind knows by its name: it counts while that runs. The pointer
/// is valid during the call.
func countedWork(_ body: () throws -> Void) throws {
  try withoutActuallyEscaping(body) { try countedWork(escaping: $0) }
}

private func countedWork(escaping body: @escaping () throws -> Void) throws {
  var work = CountedWork(body: body)
  withUnsafeMutablePointer(to: &work) { pointer in
    reference_counted(
      { pointer in
        guard let work = pointer?.assumingMemoryBound(to: CountedWork.self) else { return }
        do { try work.pointee.body() } catch { work.pointee.error = error }
      }, pointer)
  }
  if let error = work.error { throw error }
}

nonisolated(unsafe) var sink = 0

/// libpq by hand. Its transactions are serializable, as a pool's are.
final class Reference {
  private let connection: OpaquePointer
  private var cities: [reference_city]

  struct Failure: Error {}

  init(_ address: String, _ rows: Int) throws {
    let serializable = " options='-c default_transaction_isolation=serializable'"
    guard let connection = reference_open(address + serializable) else { throw Failure() }
    self.connection = connection
    cities = Town.many(rows).map {
      reference_city(
        id: $0.id, name: strdup($0.name), population: Int64($0.population), area: $0.area,
        country: $0.country.flatMap { strdup($0) })
    }
    try check(reference_copy(connection, cities, Int32(cities.count)))
  }

  deinit {
    reference_close(connection)
    for city in cities {
      free(city.name)
      free(city.country)
    }
  }

  private func check(_ code: Int32) throws { if code != 0 { throw Failure() } }

  func measure(_ work: Work) throws -> Double {
    if work.needsEmptyTable { try check(reference_empty(connection)) }
    let rows = Int32(cities.count)
    let count = Int32(work.count(of: cities.count))
    return try work.measure(cities.count) {
      var sum: Int64 = 0
      switch work {
      case .insert: try check(reference_insert(connection, cities, count))
      case .copy: try check(reference_copy(connection, cities, rows))
      case .find: try check(reference_find(connection, count, &sum))
      case .transactions: try check(reference_transactions(connection, count))
      case .stream: try check(reference_stream(connection, &sum))
      case .fetchAll:
        var all: UnsafeMutablePointer<reference_city>?
        var read: Int32 = 0
        try check(reference_fetch_all(connection, &all, &read))
        reference_free(all, read)
      case .fetchJSON:
        try check(reference_fetch_texts(connection, "SELECT * FROM survey ORDER BY id", &sum))
      }
      sink += Int(sum & 1)
    }
  }
}
