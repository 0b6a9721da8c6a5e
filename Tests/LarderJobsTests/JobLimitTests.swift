import Foundation
import Larder
import LarderJobs
import Testing

@Suite("Limits that jobs share")
struct JobLimitTests {
  /// Sets jobs aside, as claims do that find no room.
  private func block(_ jobs: Query<StoredJob>, _ db: Database) throws {
    try jobs.update(db) { $0.state = .blocked }
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    try db.executeUpdate(
      """
      INSERT INTO larder_job_limit ("key", opens, step, pause, free, used)
      VALUES ('account', ?, 1, 5, 0, ?)
      """, now + 30_000, now)
  }

  @Test("A job that waits for its limit isn't overtaken by one that is put in later")
  func waiting() async throws {
    let (store, events) = (try jobStore(), Events())
    @Sendable func put(_ text: String, _ priority: Int, _ db: Database) throws {
      var note = Note(text, events)
      note.change.running = 1
      try note.enqueue(db) { $0.priority = priority }
    }
    try await store.inTransaction { db in
      try put("third", 0, db)
      try put("first", -1, db)
      try block(StoredJob.all, db)
      try put("fourth", 0, db)
      try put("second", -1, db)
    }
    try await JobQueue(store, [Note.self]).working { try await wait(store, for: 0) }
    #expect(events.noted == ["first", "second", "third", "fourth"])
  }

  @Test("Jobs of a limit that wait in a queue without workers hold no other queue up")
  func twoQueues() async throws {
    let (store, events) = (try jobStore(), Events())
    @Sendable func note(_ text: String) -> Note {
      var note = Note(text, events)
      note.change.running = 1
      return note
    }
    try await store.inTransaction { db in
      for number in 1...50 { try note("mail \(number)").enqueue(db) { $0.queue = "mail" } }
      try block(StoredJob.all, db)
      for text in ["one", "two", "three"] { try note(text).enqueue(db) }
    }
    try await JobQueue(store, [Note.self]).working {
      try await wait(store, for: 0, of: StoredJob.filter { $0.queue == "default" })
    }
    #expect(events.noted == ["one", "two", "three"])
  }

  @Test("Keys of limits whose bytes differ are two limits, although Unicode takes them for equal")
  func bytes() async throws {
    let (store, events) = (try jobStore(), Events())
    let keys = ["caf\u{E9}", "cafe\u{301}"]
    try await store.inTransaction { db in
      for number in 1...3 {
        for key in keys {
          var note = Note("\(key) \(number)", events)
          (note.change.running, note.change.key, note.change.isEndless) = (1, key, true)
          try note.enqueue(db)
        }
      }
    }
    try await JobQueue(store, [Note.self]).working {
      try await wait(store, for: 4, of: StoredJob.filter { $0.state == .blocked })
      let running = try await store.read { db in
        try StoredJob.filter { $0.state == .running }.fetchAll(db).compactMap(\.limit)
      }
      #expect(Set(running.map { Array($0.utf8) }) == Set(keys.map { Array($0.utf8) }))
    }
  }
}
