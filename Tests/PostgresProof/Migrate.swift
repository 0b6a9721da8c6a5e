import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport

/// Processes that migrate one database at the same time.
enum Migrate: Verb {
  static let help = """
    migrate [--processes 8] [--migrations 40] [--kill] [--seed 1]
      So many processes apply the same migrations to one database at the same time; with --kill they are killed
      at random moments, and others take their places. Each migration has to be applied once, none by half.
    """
  static let options: [String: String?] = [
    "processes": "8", "migrations": "40", "kill": nil, "seed": "1",
  ]
  static let child = "migrate-child"

  /// Each writes a line, takes a moment, and writes another one.
  private static func migrator(_ count: Int) -> Migrator {
    Migrator(
      [Migration("create line") { db in try db.executeUpdate("CREATE TABLE line (number BIGINT)") }]
        + (1...count).map { number in
          Migration("line \(number)") { db in
            try db.executeUpdate("INSERT INTO line VALUES (?)", number)
            _ = try db.value("SELECT pg_sleep(0.01)::text", as: String.self)
            try db.executeUpdate("INSERT INTO line VALUES (?)", -number)
          }
        })
  }

  static func runChild(_ arguments: [String]) throws {
    guard arguments.count == 3, let count = Int(arguments[2]) else { throw Wrong("no child") }
    try migrator(count).migrate(try onePool(arguments[1]))
  }

  static func run(_ options: Options) throws {
    let (processes, count) = (try options.number("processes"), try options.number("migrations"))
    var random = SeededGenerator(seed: UInt64(try options.number("seed")))
    let server = try PostgresServer()
    func start() throws -> ChildProcess {
      try ChildProcess.again(child, server.address, "\(count)")
    }
    var children = try (0..<processes).map { _ in try start() }
    var kills = 0
    // Until one has come to the end, which shows that all is applied.
    while options.has("kill"), !children.contains(where: \.hasEnded) {
      Thread.sleep(forTimeInterval: Double.random(in: 0.01...0.1, using: &random))
      let index = Int.random(in: 0..<processes, using: &random)
      guard !children[index].hasEnded else { break }
      children[index].kill()
      kills += 1
      children[index] = try start()
    }
    let codes = children.map { $0.end() }
    let pool = try onePool(server.address)
    let (lines, applied) = try pool.read { db in
      (
        try db.executeQuery("SELECT number FROM line").map { try $0.get(at: 0, as: Int.self) },
        try migrator(count).applied(db).count
      )
    }
    let halves = (1...count).filter { lines.contains($0) != lines.contains(-$0) }
    let twice = Set(lines.filter { line in lines.count { $0 == line } > 1 })
    report(
      "\(applied - 1) of \(count) migrations by \(processes) processes and \(kills) that were killed: "
        + "\(lines.count) of \(2 * count) lines, \(twice.count) twice, \(halves.count) half")
    guard applied == count + 1, lines.count == 2 * count, twice.isEmpty, halves.isEmpty else {
      throw Wrong("a migration was lost, or applied twice or by half")
    }
    guard codes.allSatisfy({ $0 == 0 }) else { throw Wrong("a process has failed: \(codes)") }
    if options.has("kill"), kills == 0 { throw Wrong("none was killed: take more migrations") }
  }
}
