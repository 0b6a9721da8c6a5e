import Larder
import Synchronization

/// Payments that a process makes until it is killed, each a row of two tables in one transaction: what
/// shows that none is lost, and none half there.
package final class Payments: Sendable {
  private let next: Atomic<Int>

  /// Payments with the numbers from this one on.
  package init(from first: Int) { next = Atomic(first) }

  /// A number that no other caller gets.
  package func take() -> Int { next.add(1, ordering: .relaxed).oldValue }

  package static func createTables(_ db: Database) throws {
    try db.executeStatements(
      """
      CREATE TABLE IF NOT EXISTS payment (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS receipt (
        payment INTEGER PRIMARY KEY REFERENCES payment DEFERRABLE INITIALLY DEFERRED, text TEXT);
      """)
  }

  package static func insert(_ db: Database, _ id: Int) throws {
    try db.executeUpdate("INSERT INTO receipt VALUES (?, ?)", id, "payment \(id)")
    try db.executeUpdate("INSERT INTO payment VALUES (?, ?)", id, id * 7)
  }

  /// The numbers, from one on, of those that are there.
  package static func kept(_ db: Database, from first: Int) throws -> Set<Int> {
    Set(try db.fetch(Int.self, "SELECT id FROM payment WHERE id >= \(first)"))
  }

  /// How many are only half there.
  package static func halfCount(_ db: Database) throws -> Int? {
    try db.value(
      """
      SELECT (SELECT count(*) FROM payment WHERE id NOT IN (SELECT payment FROM receipt))
        + (SELECT count(*) FROM receipt WHERE payment NOT IN (SELECT id FROM payment))
      """, as: Int.self)
  }
}
