import Foundation
import Larder
import LarderOutbox
import ProofSupport

/// A row that the proof's writers change.
struct FollowedItem: Record {
  var key: Int64
  var version: Int

  struct Columns: Sendable {
    let key = Column("key", \FollowedItem.key, .primaryKey)
    let version = Column("version", \FollowedItem.version)
  }
  static let columns = Columns()
  static let table = Table("item", FollowedItem.init, columns.key, columns.version)

  static let count: Int64 = 100

  static let create: @Sendable (Database) throws -> Void = { db in
    try table.create(db)
    try FollowedChange.table.create(db)
    try ConsumerCopy.table.create(db)
    try insert(db, contentsOf: (1...count).map { FollowedItem(key: $0, version: 0) })
  }

  /// Raises an item's version, notes that, and appends it to the outbox.
  static func change(_ key: Int64, by writer: Int64, _ number: Int, _ db: Database) throws {
    let item = try filter { $0.key == key }.updated(db) { $0.version += 1 }.first
    guard let item else { throw WrongAnswer(description: "item \(key) isn't there") }
    let time = db.engineName == "SQLite" ? 0 : try FollowedChange.now(db)
    var change = FollowedChange(
      id: nil, writer: writer, number: number, key: key, version: item.version, time: time)
    try change.insert(db)
    try FollowEvent.outbox.append(
      db, FollowEvent(writer: writer, transaction: number, key: key, version: item.version))
  }
}

/// A committed change.
struct FollowedChange: Record {
  var id: Int64?
  var writer: Int64
  /// The number of the writer's transaction.
  var number: Int
  var key: Int64
  var version: Int
  /// The server's time, in microseconds, before the change was appended to the outbox.
  var time: Int64

  struct Columns: Sendable {
    let id = Column("id", \FollowedChange.id, .autoincrement)
    let writer = Column("writer", \FollowedChange.writer)
    let number = Column("number", \FollowedChange.number)
    let key = Column("key", \FollowedChange.key)
    let version = Column("version", \FollowedChange.version)
    let time = Column("time", \FollowedChange.time)
  }
  static let columns = Columns()
  static let table = Table(
    "change", FollowedChange.init, columns.id, columns.writer, columns.number, columns.key,
    columns.version, columns.time)

  static func now(_ db: Database) throws -> Int64 {
    try db.value(
      "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)", as: Int64.self) ?? 0
  }
}

/// The message of a change.
struct FollowEvent: Codable, Sendable {
  var writer: Int64
  var transaction: Int
  var key: Int64
  var version: Int

  static let outbox = Outbox<FollowEvent>("changes")
}

/// A change in a consumer's copy.
struct ConsumerCopy: Record {
  var id: Int64?
  var consumer: String
  var position: Int64
  var writer: Int64
  var number: Int
  var key: Int64
  var version: Int

  struct Columns: Sendable {
    let id = Column("id", \ConsumerCopy.id, .autoincrement)
    let consumer = Column("consumer", \ConsumerCopy.consumer)
    let position = Column("position", \ConsumerCopy.position, .indexed)
    let writer = Column("writer", \ConsumerCopy.writer)
    let number = Column("number", \ConsumerCopy.number)
    let key = Column("key", \ConsumerCopy.key)
    let version = Column("version", \ConsumerCopy.version)
  }
  static let columns = Columns()
  static let table = Table(
    "copy", ConsumerCopy.init, columns.id, columns.consumer, columns.position, columns.writer,
    columns.number, columns.key, columns.version)

  /// Copies messages; those that are there already only if nothing else would keep them from being there twice.
  static func add(
    _ messages: [OutboxMessage<FollowEvent>], _ consumer: String, isIdempotent: Bool, _ db: Database
  ) throws {
    for message in messages {
      let (position, event) = (message.position, message.payload)
      if isIdempotent,
        try filter({ $0.position == position && $0.consumer == consumer }).exists(db)
      {
        continue
      }
      var copy = ConsumerCopy(
        id: nil, consumer: consumer, position: position, writer: event.writer,
        number: event.transaction, key: event.key, version: event.version)
      try copy.insert(db)
    }
  }
}
