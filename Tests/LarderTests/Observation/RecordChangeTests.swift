import Foundation
import Larder
import LarderChangeset
import TestSupport
import Testing

@Suite("Observed records")
struct RecordChangeTests {
  struct Visit: Record, Equatable {
    var id: Int64?
    var city: String
    var tags: [String]
    var at: Date
    var amount: Decimal?
    var isOpen: Bool

    struct Columns: Sendable {
      let id = Column("id", \Visit.id, .primaryKey)
      let city = Column("city", \Visit.city)
      let tags = Column("tags", \Visit.tags, as: .json)
      let at = Column("at", \Visit.at)
      let amount = Column("amount", \Visit.amount)
      let isOpen = Column("is_open", \Visit.isOpen)
    }
    static let columns = Columns()
    static let table = Table(
      "visit", Visit.init, columns.id, columns.city, columns.tags, columns.at, columns.amount,
      columns.isOpen)
  }

  struct Note: Record, Equatable {
    var key: String
    var text: String

    struct Columns: Sendable {
      let key = Column("key", \Note.key, .primaryKey)
      let text = Column("text", \Note.text)
    }
    static let columns = Columns()
    static let table = Table("note", Note.init, columns.key, columns.text)
  }

  private func open(_ format: DateFormat = .iso8601) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.dateFormat = format
    let queue = try DatabaseQueue(configuration: configuration)
    try queue.inTransaction { db in
      try Visit.table.create(db)
      try Note.table.create(db)
    }
    return queue
  }

  private let visit = Visit(
    id: nil, city: "Oslo", tags: ["a", "b"], at: Date(timeIntervalSince1970: 1_700_000_000),
    amount: Decimal(string: "12.50"), isOpen: true)

  @Test(
    "The feed of changes decodes records with their columns' codings",
    arguments: [DateFormat.iso8601, .unixMilliseconds])
  func typed(format: DateFormat) async throws {
    let queue = try open(format)
    let began = Recorder<Int>()
    let feed = queue.changes(of: Visit.self) { db in began.add(try Visit.all.fetchCount(db)) }
    let changes = Task {
      var found: [RecordChange<Visit>] = []
      for try await transaction in feed {
        found += transaction.changes
        if found.count == 3 { break }
      }
      return found
    }
    while began.elements.isEmpty { await Task.yield() }
    let visit = visit
    let stored = try await queue.inTransaction { db in try visit.inserted(db) }
    var changed = stored
    changed.amount = nil
    changed.tags = []
    try await queue.inTransaction { [changed] db in
      try changed.update(db)
      _ = try Note(key: "k", text: "t").inserted(db)
    }
    try await queue.inTransaction { [changed] db in _ = try changed.delete(db) }
    #expect(
      try await changes.value == [
        .inserted(stored), .updated(from: stored, to: changed), .deleted(changed),
      ])
  }

  @Test("The feed of changes of two record types keeps the order of the changes")
  func several() async throws {
    let queue = try open()
    let began = Recorder<Bool>()
    let feed = queue.changes(of: Visit.self, Note.self) { _ in began.add(true) }
    let texts = Task {
      for try await transaction in feed {
        return transaction.changes.map { change in
          switch change.new {
          case let visit as Visit: "visit \(visit.city)"
          case let note as Note: "note \(note.key)"
          default: "-"
          }
        }
      }
      return []
    }
    while began.elements.isEmpty { await Task.yield() }
    let visit = visit
    try await queue.inTransaction { db in
      _ = try Note(key: "1", text: "").inserted(db)
      _ = try visit.inserted(db)
      _ = try Note(key: "2", text: "").inserted(db)
    }
    #expect(try await texts.value == ["note 1", "visit Oslo", "note 2"])
  }

  @Test("An observed record that was found by its key isn't read again for changes to other rows")
  func rows() async throws {
    let queue = try open()
    let visit = visit
    let ids = try await queue.inTransaction { db in
      try (0..<3).map { _ in try #require(try visit.inserted(db).id) }
    }
    let reads = Recorder<String>()
    var values = queue.values { db in
      reads.add("read")
      return (try Visit.find(db, ids[0]).city, try Visit.fetchOne(db, ids[2] + 7)?.city)
    }.makeAsyncIterator()
    #expect(try await values.next()?.0 == "Oslo")
    try await queue.inTransaction { db in
      try Visit.filter { $0.id == ids[1] }.update(db) { $0.city = "Rome" }
      _ = try Visit.filter { $0.id == ids[2] }.delete(db)
    }
    try await queue.inTransaction { db in
      try Visit.filter { $0.id == ids[0] }.update(db) { $0.city = "Bonn" }
    }
    #expect(try await values.next()?.0 == "Bonn")
    #expect(reads.elements.count == 2)
    try await queue.inTransaction { db in
      try db.executeUpdate("UPDATE visit SET id = id + 8 WHERE id = ?", ids[1])
    }
    #expect(try await values.next()?.1 == "Rome")
    try await queue.inTransaction { db in _ = try Visit.all.delete(db) }
    await #expect(throws: RecordError.self) { try await values.next() }
  }

  @Test("An observed query follows the rows that it finds")
  func queries() async throws {
    let queue = try open()
    var values = queue.values { db in
      try Visit.filter { $0.isOpen }.order { $0.id }.select { $0.city }.fetchAll(db)
    }.makeAsyncIterator()
    #expect(try await values.next() == [])
    let visit = visit
    try await queue.inTransaction { db in _ = try visit.inserted(db) }
    #expect(try await values.next() == ["Oslo"])
    try await queue.inTransaction { db in
      try Visit.all.update(db) { $0.isOpen = false }
    }
    #expect(try await values.next() == [])
  }

  @Test("A changeset decodes as changes of records, with the columns that an update leaves alone")
  func changesets() throws {
    let db = try Database()
    try Visit.table.create(db)
    var first = try visit.inserted(db)
    let second = try visit.inserted(db)
    let before = first
    var third: Visit?
    let changeset = try db.record(Visit.self) { db in
      first.tags = ["x"]
      try first.update(db)
      _ = try second.delete(db)
      // The new row has another key: with the same one the change would be an update, or nothing.
      var new = visit
      new.id = 77
      third = try new.inserted(db)
    }
    var found: [RecordChange<Visit>] = []
    try changeset.forEach(Visit.self, in: db) { found.append($0) }
    #expect(
      Set(found.map { "\($0)" })
        == Set(
          [
            RecordChange.updated(from: before, to: first), .deleted(second),
            .inserted(try #require(third)),
          ].map { "\($0)" }))
    #expect(throws: DatabaseError.self) {
      try Changeset(data: [1, 2, 3]).forEach(Visit.self, in: db) { _ in }
    }
  }
}
