import Foundation
import Larder
import ProofSupport
import TestSupport

/// SQL that is only looked at, or refused, has no effect. SQLite runs many PRAGMAs while it compiles
/// them, also those whose text turns out to be wrong.
enum CompileTimeEffects: ProofRow {
  static let name = "compile-time-effects"
  static let number = 15
  static let unit = "statements looked at or refused"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    var result = ProofResult()
    let pragmas = try Database().executeQuery("PRAGMA pragma_list")
      .map { try $0.get(at: 0, as: String.self) }
    let statements = LookedAtStatements.all(pragmas: pragmas)

    func look(_ place: String, _ ways: [Way], _ db: Database) throws {
      var before = try ConnectionState(db, pragmas: pragmas)
      for sql in statements {
        for way in ways where options.goesOn(after: result.tried) {
          result.tried += 1
          if way.run(db, sql), way.isRefused {
            result.failures.append("\(place), \(way.name): “\(sql)” isn't refused")
          }
        }
        // Asked once for all ways: none makes up for another.
        let after = try ConnectionState(db, pragmas: pragmas)
        if after != before {
          result.failures.append("\(place): “\(sql)”: \(after.differences(from: before))")
          before = after
        }
      }
    }

    for path in [nil, folder + "/database.db"] {
      let db = try Database(path: path)
      try prepare(db)
      try look(path == nil ? "memory" : "file", Way.connection, db)
      for sql in LookedAtStatements.effective {
        let before = try ConnectionState(db, pragmas: pragmas)
        try db.executeUpdate(SQL(raw: sql))
        result.tried += 1
        if try ConnectionState(db, pragmas: pragmas) == before {
          result.failures.append("“\(sql)” is run, and has no effect that shows")
        }
      }
    }
    for path in [nil, folder + "/queue.db"] {
      let queue = try DatabaseQueue(path: path)
      try queue.inDatabase(prepare)
      try queue.read { db in
        try look(path == nil ? "read of a queue in memory" : "read of a queue", Way.scope, db)
      }
    }
    let pool = try DatabasePool(path: folder + "/pool.db")
    try pool.inDatabase(prepare)
    try pool.read { try look("read of a pool", Way.scope, $0) }
    return result
  }

  private static func prepare(_ db: Database) throws {
    try db.executeStatements(
      """
      CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      INSERT INTO town VALUES (1, 'Oslo'), (2, 'Bergen');
      """)
  }
}

/// One way to look at a statement, or to have it refused.
private struct Way: Sendable {
  let name: String
  /// Whether it has to throw.
  var isRefused = false
  private let body: @Sendable (Database, String) throws -> Void

  init(
    _ name: String, isRefused: Bool = false,
    _ body: @escaping @Sendable (Database, String) throws -> Void
  ) {
    self.name = name
    self.isRefused = isRefused
    self.body = body
  }

  /// True if nothing was thrown.
  func run(_ db: Database, _ sql: String) -> Bool { (try? body(db, sql)) != nil }

  static let connection = [
    Way("validate") { try $0.validate(SQL(raw: $1)) },
    Way("prepare") { try $0.prepare(SQL(raw: $1)).close() },
    Way("prepare, columns and reset") {
      let statement = try $0.prepare(SQL(raw: $1))
      _ = statement.columnNames
      try statement.reset()
    },
    Way("a second statement", isRefused: true) {
      try $0.executeUpdate(SQL(raw: $1 + "; SELECT 1"))
    },
    Way("as the second statement", isRefused: true) {
      try $0.executeUpdate(SQL(raw: "DELETE FROM town;" + $1))
    },
    Way("as the second statement of a query", isRefused: true) {
      _ = try $0.executeQuery(SQL(raw: "SELECT 1;" + $1))
    },
    Way("text that doesn't end", isRefused: true) {
      try $0.executeStatements(SQL(raw: $1 + " ( ("))
    },
    Way("an argument too many", isRefused: true) { try $0.executeUpdate(SQL(raw: $1), 1, 2) },
    Way("an argument too many for a query", isRefused: true) {
      _ = try $0.executeQuery(SQL(raw: $1), arguments: [1, 2])
    },
    Way("an argument too many for a value", isRefused: true) {
      _ = try $0.value(SQL(raw: $1), 1, 2, as: Int.self)
    },
    Way("an argument by a name that isn't there", isRefused: true) {
      try $0.prepare(SQL(raw: $1)).execute(arguments: ["town": 1])
    },
  ]

  /// Where what changes nothing works.
  static let scope = [
    Way("executeUpdate") { try $0.executeUpdate(SQL(raw: $1)) },
    Way("executeQuery") { try $0.executeQuery(SQL(raw: $1)).forEach { _ in } },
    Way("executeStatements") { try $0.executeStatements(SQL(raw: $1)) },
    Way("validate") { try $0.validate(SQL(raw: $1)) },
  ]
}
