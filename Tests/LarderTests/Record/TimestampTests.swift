import Foundation
import Larder
import PostgresSupport
import Testing

/// A note, with timestamps in each kind of format.
private struct Memo: Record, Equatable {
  var id: Int64?
  var text: String
  var made = Date.distantPast
  var changed = Date.distantPast
  var madeText: Date?
  var changedSecond: Date?
  var changedDay: Date?

  init(_ text: String, id: Int64? = nil) {
    self.id = id
    self.text = text
  }

  init(
    id: Int64?, text: String, made: Date, changed: Date, madeText: Date?, changedSecond: Date?,
    changedDay: Date?
  ) {
    (self.id, self.text, self.made, self.changed) = (id, text, made, changed)
    (self.madeText, self.changedSecond, self.changedDay) = (madeText, changedSecond, changedDay)
  }

  struct Columns: Sendable {
    let id = Column("id", \Memo.id, .primaryKey)
    let text = Column("text", \Memo.text, .unique)
    let made = Column("made", \Memo.made, .createdAt)
    let changed = Column("changed", \Memo.changed, .updatedAt)
    let madeText = Column("madeText", \Memo.madeText, .createdAt, as: .iso8601)
    let changedSecond = Column(
      "changedSecond", \Memo.changedSecond, .updatedAt, as: .format(.sqlDateTime))
    let changedDay = Column(
      "changedDay", \Memo.changedDay, .updatedAt, as: .format(.julianDay))
  }
  static let columns = Columns()
  static let table = Table(
    "memo", Memo.init(id:text:made:changed:madeText:changedSecond:changedDay:), columns.id,
    columns.text, columns.made, columns.changed, columns.madeText, columns.changedSecond,
    columns.changedDay)

  /// Moves the row's timestamps into the past, as if it had been written long ago.
  static func age(_ db: Database) throws {
    _ = try Memo.all.update(db) {
      $0.made = .value(long)
      $0.changed = .value(long)
      $0.madeText = .value(long)
      $0.changedSecond = .value(long)
      $0.changedDay = .value(long)
    }
  }
  static let long = Date(timeIntervalSince1970: 1_000_000_000)

  /// Whether the timestamps of the insert, and those of the last write, are of the last minute.
  var isFresh: (made: Bool, changed: Bool) {
    func isNow(_ dates: Date?...) -> Bool {
      dates.allSatisfy { abs(($0 ?? .distantPast).timeIntervalSinceNow) < 60 }
    }
    return (isNow(made, madeText), isNow(changed, changedSecond, changedDay))
  }
  /// Whether they are as ``age(_:)`` has left them.
  var isOld: (made: Bool, changed: Bool) {
    (made == Self.long && madeText == Self.long, changed == Self.long && changedSecond == Self.long)
  }
}

@Suite("Timestamps")
struct TimestampTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try Memo.table.create(db)
  }

  private func old(_ text: String = "a") throws -> Memo {
    var memo = Memo(text)
    try memo.insert(db)
    try Memo.age(db)
    let old = try Memo.find(db, memo.id)
    #expect(old.isOld == (true, true))
    return old
  }

  @Test("Inserts set both timestamps, in the record as they are read back")
  func inserts() throws {
    var memo = Memo("a")
    try memo.insert(db)
    #expect(memo.isFresh == (true, true))
    #expect(try Memo.find(db, memo.id) == memo)
    let inserted = try Memo("b").inserted(db)
    #expect(inserted.isFresh == (true, true))
    #expect(try Memo.find(db, inserted.id) == inserted)
    var ignored = Memo("c")
    #expect(try ignored.insert(db, or: .ignore))
    #expect(try Memo.find(db, ignored.id) == ignored)
    try Memo("d", id: 9).save(db)
    #expect(try Memo.find(db, 9).isFresh == (true, true))
  }

  @Test("The records of a batch have the same time")
  func batches() throws {
    try Memo.insert(db, contentsOf: (1...200).map { Memo("\($0)") })
    let memos = try Memo.fetchAll(db)
    #expect(memos.count == 200)
    #expect(Set(memos.map(\.made)).count == 1 && Set(memos.map(\.changed)).count == 1)
    #expect(memos.allSatisfy { $0.isFresh == (true, true) })
    let returned = try Memo.inserted(db, contentsOf: [Memo("a"), Memo("b")])
    #expect(try Memo.filter { $0.id >= returned[0].id }.order { $0.id }.fetchAll(db) == returned)
  }

  @Test("Updates of records set the last write's time, and leave that of the insert")
  func updates() throws {
    var memo = try old()
    try memo.update(db)
    #expect(memo.isOld == (true, false) && memo.isFresh == (false, true))
    #expect(try Memo.find(db, memo.id) == memo)
    memo = try old("b")
    memo.text = "c"
    try memo.update(db, Memo.columns.text)
    #expect(memo.isFresh == (false, true))
    #expect(try Memo.find(db, memo.id) == memo)
    let updated = try old("d").updated(db)
    #expect(updated.isOld.made && updated.isFresh.changed)
    #expect(try Memo.find(db, updated.id) == updated)
    var saved = try old("e")
    saved.made = .distantFuture
    try saved.save(db)
    #expect(saved.isFresh.changed)
    // A time of creation is never updated with its record.
    #expect(try Memo.find(db, saved.id).made == Memo.long)
  }

  @Test("An update of what has changed writes nothing if only timestamps differ")
  func unchanged() throws {
    let memo = try old()
    var copy = memo
    #expect(try !copy.update(db, changedSince: memo))
    #expect(copy == memo)
    copy.text = "b"
    #expect(try copy.update(db, changedSince: memo))
    #expect(copy.isOld.made && copy.isFresh.changed)
    #expect(try Memo.find(db, copy.id) == copy)
    #expect(!db.hasOpenStatements)
  }

  @Test("Updates of queries set the last write's time unless their closure assigns it")
  func queries() throws {
    let memo = try old()
    let query = Memo.filter { $0.id == memo.id }
    #expect(try query.update(db) { $0.text = "b" } == 1)
    #expect(try Memo.find(db, memo.id).isFresh == (false, true))
    try Memo.age(db)
    let returned = try query.updated(db) { $0.changed = .value(.distantFuture) }
    #expect(returned.first?.changed == .distantFuture)
    #expect(returned.first?.changedDay != memo.changedDay && returned.first?.made == Memo.long)
    try Memo.age(db)
    #expect(try query.claim(db, limit: 2) { $0.text = "c" }.first?.isFresh.changed == true)
    try Memo.age(db)
    #expect(try query.update(db) { _ in } == 0)
    #expect(try Memo.find(db, memo.id).isOld == (true, true))
    let joined = Memo.join(Memo.self) { $0.id == $1.id }
    #expect(try joined.update(db) { $0.text = "d" } == 1)
    #expect(try Memo.find(db, memo.id).isFresh == (false, true))
  }

  @Test("Upserts keep the time of the insert, which the record gets from the row")
  func upserts() throws {
    var memo = try old()
    memo.made = .distantPast
    try memo.upsert(db)
    #expect(memo.isOld.made && memo.isFresh.changed)
    #expect(try Memo.find(db, memo.id) == memo)
    try Memo.age(db)
    var other = Memo("a")
    try other.upsert(db, onConflict: Memo.columns.text, updating: Memo.columns.text)
    #expect(try Memo.find(db, memo.id) == other)
    #expect(other.isOld.made && other.isFresh.changed)
    try Memo.age(db)
    other = Memo("a")
    try other.upsert(db, onConflict: Memo.columns.text) { row, new in row.text = new.text + "!" }
    #expect(try Memo.find(db, memo.id).isFresh == (false, true))
    #expect(other.id == memo.id && other.isOld.made)
    var new = Memo("new")
    try new.upsert(db, onConflict: Memo.columns.text)
    #expect(new.isFresh == (true, true))
    #expect(try Memo.find(db, new.id) == new)
    try Memo.upsert(db, contentsOf: [Memo("new"), Memo("x")], onConflict: Memo.columns.text)
    #expect(try Memo.all.fetchCount(db) == 3)
  }

  @Test("Inserted selections set the timestamps that aren't named")
  func selections() throws {
    _ = try old()
    try Memo.insert(
      db, Memo.columns.text, Memo.columns.made,
      from: Memo.all.select { ($0.text + "!", $0.made) })
    let copy = try #require(try Memo.filter { $0.text == "a!" }.fetchOne(db))
    #expect(copy.made == Memo.long && copy.isFresh.changed)
    #expect(abs(try #require(copy.madeText).timeIntervalSinceNow) < 60)
  }

  private struct Fixed: Record {
    let id: Int64
    let made: Date

    struct Columns: Sendable {
      let id = Column("id", \Fixed.id, .primaryKey)
      let made = Column("made", \Fixed.made, .createdAt)
    }
    static let columns = Columns()
    static let table = Table("fixed", Fixed.init, columns.id, columns.made)
  }

  @Test("A timestamp that is a constant is a mistake of the declaration")
  func constants() throws {
    let error = #expect(throws: RecordError.self) { try Fixed.table.create(db) }
    #expect("\(try #require(error))".contains("the timestamp “made” is a constant"))
  }

  private struct Hooked: RecordHooks, Equatable {
    var id: Int64
    var made = Date.distantPast

    struct Columns: Sendable {
      let id = Column("id", \Hooked.id, .primaryKey)
      let made = Column("made", \Hooked.made, .createdAt)
    }
    static let columns = Columns()
    static let table = Table("hooked", Hooked.init, columns.id, columns.made)

    mutating func willInsert(_ db: Database) throws {
      if id == 2 { made = Memo.long }
    }
    func validate() throws { #expect(made != .distantPast) }
  }

  @Test("Hooks see the timestamps, and may set others")
  func hooks() throws {
    try Hooked.table.create(db)
    try Hooked.insert(db, contentsOf: [Hooked(id: 1), Hooked(id: 2)])
    #expect(try Hooked.find(db, 2).made == Memo.long)
    #expect(abs(try Hooked.find(db, 1).made.timeIntervalSinceNow) < 60)
  }
}
