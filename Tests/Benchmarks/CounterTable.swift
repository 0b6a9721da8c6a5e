import Glibc
import LarderSQLite

/// A table of counters, one writer that adds to them at a steady rate, and lookups.
enum CounterTable {
  private static let rows = 10_000

  static func make(_ path: String) throws {
    let setup = try Reference(path: path)
    try setup.execute(
      """
      CREATE TABLE counter (id INTEGER PRIMARY KEY, n INTEGER NOT NULL);
      WITH RECURSIVE number (id) AS
        (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < \(rows))
      INSERT INTO counter SELECT id, 0 FROM number;
      """)
  }

  /// What a writing thread does that is due again after some time: one that is late catches up.
  static func writing(
    every interval: Duration, _ writer: @escaping @Sendable () throws -> (Int) throws -> Void
  ) -> Threads.Maker {
    {
      let write = try writer()
      var id = 0
      var due: ContinuousClock.Instant?
      return {
        id = row(after: id)
        try write(id)
        let next = (due ?? .now) + interval
        due = next
        let left = next - .now
        if left > .zero { usleep(UInt32(left / .microseconds(1))) }
      }
    }
  }

  static func add(_ access: some DatabaseAccess, _ id: Int) throws {
    _ = try access.inTransaction {
      try $0.executeUpdate("UPDATE counter SET n = n + 1 WHERE id = ?", id)
    }
  }

  static func lookUp(_ access: some DatabaseAccess, _ id: Int) throws {
    guard
      try access.read({
        try $0.value("SELECT n FROM counter WHERE id = ?", id, as: Int.self)
      }) != nil
    else { throw Lost(expected: 1) }
  }

  static func lookUp(_ access: some DatabaseAccess, _ id: Int) async throws {
    guard
      try await access.read({
        try $0.value("SELECT n FROM counter WHERE id = ?", id, as: Int.self)
      }) != nil
    else { throw Lost(expected: 1) }
  }

  /// Checks that the counters hold what was added.
  static func check(_ access: some DatabaseAccess, _ expected: Int) throws {
    let total = try access.read { try $0.value("SELECT sum(n) FROM counter", as: Int.self) }
    guard total == expected else { throw Lost(expected: expected) }
  }

  /// Goes through all rows, without an order that makes neighbours meet.
  static func row(after id: Int) -> Int { (id + 3_332) % rows + 1 }
}
