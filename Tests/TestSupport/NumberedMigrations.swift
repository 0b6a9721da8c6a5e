import Larder

/// Migrations of some hundred statements each, that a process applies until it is killed: what shows that
/// none is half applied, and none is applied twice.
package enum NumberedMigrations {
  private static let rowCount = 200

  package static func migrator(count: Int) -> Migrator { Migrator((0..<count).map(migration)) }

  private static func migration(_ number: Int) -> Migration {
    var sql = "CREATE TABLE IF NOT EXISTS done (number); CREATE TABLE city_\(number) (name TEXT);"
    for row in 0..<rowCount { sql += "INSERT INTO city_\(number) VALUES ('city \(row)');" }
    sql += "CREATE INDEX city_\(number)_name ON city_\(number) (name);"
    sql += "INSERT INTO done VALUES (\(number));"
    return Migration("city \(number)", sql: SQL(raw: sql))
  }

  /// How many are applied, and what is wrong with the file.
  package static func check(_ db: Database) throws -> (applied: Int, problems: [String]) {
    var problems: [String] = []
    func expect<T: Equatable>(_ what: String, _ found: T, _ expected: T) {
      if found != expected { problems.append("\(what): \(found) instead of \(expected)") }
    }
    let integrity = try db.value("PRAGMA integrity_check", as: String.self)
    expect("integrity check", integrity, "ok")
    let names = try Migrator([]).applied(db).map(\.name)
    expect("migrations", names, names.indices.map { "city \($0)" })
    let objects = try db.schema().map(\.name).filter { $0.hasPrefix("city_") }
    expect(
      "schema", Set(objects), Set(names.indices.flatMap { ["city_\($0)", "city_\($0)_name"] }))
    for index in names.indices {
      let count = try db.value("SELECT count(*) FROM \(identifier: "city_\(index)")", as: Int.self)
      expect("rows of city_\(index)", count, rowCount)
    }
    if !names.isEmpty {
      let done = try db.fetch(Int.self, "SELECT number FROM done ORDER BY rowid")
      expect("what was done", done, Array(names.indices))
    }
    return (names.count, problems)
  }

  /// Applies as many, and tells the parent process when each begins and has ended.
  package static func migrate(_ queue: DatabaseQueue, count: Int) throws {
    try migrator(count: count).migrate(queue) { progress in
      Parent.tell("\(progress.duration == nil ? "begins" : "ended") \(progress.index)")
    }
  }
}
