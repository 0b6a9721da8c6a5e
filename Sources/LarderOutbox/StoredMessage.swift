import FoundationEssentials
import Larder

/// The tables of all outboxes of a database.
public enum OutboxTables {
  /// The channel by which appending wakes idle consumers on a server.
  static let channel = "larder_outbox"

  /// The migrations that make them, for the program's `Migrator`.
  public static let migrations = [
    Migration("larder outbox 1") { db in
      try StoredMessage.table.create(db)
      try StoredConsumer.table.create(db)
    }
  ]
}

/// A message in the database.
struct StoredMessage: Record {
  /// Its position. A number is never used again, so that no message is taken for one that was read and removed.
  var id: Int64?
  var outbox: String
  /// The message as JSON.
  var payload: String
  var appended: Date

  struct Columns: Sendable {
    let id = Column("id", \StoredMessage.id, .autoincrement)
    let outbox = Column("outbox", \StoredMessage.outbox)
    let payload = Column("payload", \StoredMessage.payload)
    let appended = Column("appended", \StoredMessage.appended, as: .unixMilliseconds)
  }
  static let columns = Columns()
  static let table = Table(
    "larder_outbox", StoredMessage.init, columns.id, columns.outbox, columns.payload,
    columns.appended,
    indexes: [.index(columns.outbox, columns.id, name: "larder_outbox_next")])

  /// The messages of an outbox after a position.
  static func after(_ position: Int64, of outbox: String) -> Query<StoredMessage> {
    filter { $0.outbox == outbox && $0.id > position }
  }

  /// Appends messages on a server. Returns the last one's position.
  ///
  /// The subquery gives the transaction its id before any message gets its position, which
  /// ``OutboxHorizon`` relies on. `OFFSET 0` keeps the server from merging it into the statement.
  @discardableResult
  static func append(_ db: Database, _ messages: [StoredMessage]) throws -> Int64 {
    guard let first = messages.first else { return 0 }
    let payloads = try JSONEncoder().encode(messages.map(\.payload))
    let ids = try db.fetch(
      Int64.self,
      """
      INSERT INTO "larder_outbox" ("outbox", "payload", "appended") \
      SELECT CAST(? AS TEXT), "message"."value", CAST(? AS BIGINT) \
      FROM (SELECT pg_current_xact_id() AS "id" OFFSET 0) AS "transaction", \
      json_array_elements_text(CAST(? AS JSON)) WITH ORDINALITY AS "message" \
      WHERE "transaction"."id" IS NOT NULL ORDER BY "message"."ordinality" RETURNING "id"
      """, first.outbox,
      Int64((first.appended.timeIntervalSince1970 * 1_000).rounded()),
      String(decoding: payloads, as: UTF8.self))
    return ids.last ?? 0
  }
}

/// A consumer in the database.
struct StoredConsumer: Record {
  var outbox: String
  var name: String
  /// The position of the last message that it has handled.
  var position: Int64
  /// The worker that handles its messages; nil for none.
  var worker: String?
  /// The end of that worker's lease.
  var due: Date

  struct Columns: Sendable {
    let outbox = Column("outbox", \StoredConsumer.outbox, .primaryKey)
    let name = Column("name", \StoredConsumer.name, .primaryKey)
    let position = Column("position", \StoredConsumer.position)
    let worker = Column("worker", \StoredConsumer.worker)
    let due = Column("due", \StoredConsumer.due, as: .unixMilliseconds)
  }
  static let columns = Columns()
  static let table = Table(
    "larder_outbox_consumer", StoredConsumer.init, columns.outbox, columns.name, columns.position,
    columns.worker, columns.due)
}
