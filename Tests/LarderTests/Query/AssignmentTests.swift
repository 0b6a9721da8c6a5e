import Larder
import TestSupport
import PostgresSupport
import Testing

@testable import Larder

@Suite("Assignments in updates")
struct AssignmentTests {
  private enum State: String, DatabaseValueConvertible { case open, done }

  private struct Note: Codable, Hashable, Sendable { var text: String }

  private struct Job: Record, Equatable {
    var id: Int64?
    var name: String
    var count: Int
    var share: Double
    var state: State
    var lockedBy: String?
    var tries: Int?
    var note: Note?
    var tags: [String]

    struct Columns: Sendable {
      let id = Column("id", \Job.id, .primaryKey)
      let name = Column("name", \Job.name)
      let count = Column("count", \Job.count)
      let share = Column("share", \Job.share)
      let state = Column("state", \Job.state)
      let lockedBy = Column("locked_by", \Job.lockedBy)
      let tries = Column("tries", \Job.tries)
      let note = Column("note", \Job.note, as: .json)
      let tags = Column("tags", \Job.tags, as: .json)
    }
    static let columns = Columns()
    static let table = Table(
      "job", Job.init, columns.id, columns.name, columns.count, columns.share, columns.state,
      columns.lockedBy, columns.tries, columns.note, columns.tags)
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try Job.table.create(db)
    try Job.insert(
      db,
      contentsOf: [
        Job(
          id: 1, name: "a", count: 1, share: 0.5, state: .open, lockedBy: "x", tries: 3, note: nil,
          tags: [])
      ])
  }

  @Test("An update assigns plain values of any type, nil, cases and expressions")
  private func plain() throws {
    let (name, count, note) = ("b", 7, Note(text: "n"))
    let owner: String? = nil
    try Job.all.update(db) {
      $0.name = name
      $0.count = count
      $0.share = 2
      $0.state = .done
      $0.lockedBy = nil
      $0.tries = count
      $0.note = note
      $0.tags = ["x", "y"]
    }
    #expect(
      try Job.all.fetchAll(db) == [
        Job(
          id: 1, name: "b", count: 7, share: 2, state: .done, lockedBy: nil, tries: 7,
          note: Note(text: "n"), tags: ["x", "y"])
      ])
    try Job.all.update(db) {
      $0.lockedBy = owner
      $0.note = nil
      $0.tries = nil
      $0.count = $0.count + 1
      $0.name = $0.name + "c"
      $0.share = .value(0.25)
      $0.state = State.open
    }
    let job = try #require(try Job.all.fetchOne(db))
    #expect(job.note == nil && job.tries == nil && job.count == 8 && job.name == "bc")
    #expect(job.share == 0.25 && job.state == .open && job.lockedBy == nil)
  }

  @Test("Compound assignments to one column build on each other")
  private func building() throws {
    try Job.all.update(db) {
      $0.count += 1
      $0.count += 2
      $0.count *= 3
      $0.name = "n"
      $0.name += "m"
    }
    let job = try #require(try Job.all.fetchOne(db))
    #expect(job.count == 12)
    #expect(job.name == "nm")
  }

  @Test(
    "Assigning a column twice throws if the second value ignores the first"
  )
  private func twice() throws {
    let before = try Job.all.fetchAll(db)
    #expect {
      try Job.all.update(db) {
        $0.count = 5
        $0.count = 6
      }
    } throws: {
      ($0 as? DatabaseError)?.code == .misuse && "\($0)".contains("“count” is assigned twice")
    }
    #expect(throws: DatabaseError.self) {
      try Job.all.update(db) {
        $0.count += 5
        $0.count = 6
      }
    }
    #expect(try Job.all.fetchAll(db) == before)
  }
}
