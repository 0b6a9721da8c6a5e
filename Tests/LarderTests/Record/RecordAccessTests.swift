import Larder
import TestSupport
import Testing

@Suite("Records through queues and pools")
struct RecordAccessTests {
  private func inFolder<T>(_ body: (String) async throws -> T) async throws -> T {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    return try await body(folder.file("cities.db"))
  }

  /// Runs every record operation in synchronous transactions and reads.
  private func checkSync(_ access: some DatabaseAccess) throws {
    let oslo = try access.inTransaction { db in
      try db.executeUpdate(City.creation)
      var oslo = City(id: nil, name: "Oslo", population: 709_037)
      try oslo.insert(db)
      return oslo
    }
    #expect(oslo.id == 1)
    try access.inTransaction { db in
      try City.insert(
        db, contentsOf: (2...500).map { City(id: $0, name: $0.description, population: 0) })
      var bergen = try City.find(db, 2)
      bergen.name = "Bergen"
      try bergen.update(db)
      try bergen.save(db)
      try bergen.upsert(db)
      #expect(try City.find(db, 500).delete(db))
    }
    let cities = try access.read { try City.fetchAll($0) }
    #expect(cities.count == 499)
    #expect(cities[..<2].map(\.name) == ["Oslo", "Bergen"])
    #expect(try access.read { try City.fetchAll($0, keys: [1, 2]).count } == 2)
    #expect(throws: DatabaseError.self) { try access.read { try oslo.update($0) } }
    #expect(throws: RecordError.self) {
      try access.inTransaction { db in
        try City.insert(db, contentsOf: [City(id: 600, name: "Hamar", population: 1)])
        _ = try City.find(db, 601)
      }
    }
    #expect(try access.read { try City.fetchOne($0, 600) } == nil)
  }

  /// Runs the record operations in asynchronous transactions and reads.
  private func checkAsync(_ access: some DatabaseAccess) async throws {
    let oslo = try await access.inTransaction { db in
      try db.executeUpdate("DELETE FROM city")
      return try City(id: nil, name: "Oslo", population: 709_037).inserted(db)
    }
    try await access.inTransaction { db in
      try City.insert(
        db, contentsOf: (2...500).map { City(id: $0, name: $0.description, population: 0) })
      for city in try City.fetchAll(db, keys: 2...9) { try city.delete(db) }
    }
    #expect(try await access.read { try City.find($0, oslo.id) } == oslo)
    #expect(try await access.read { try City.fetchAll($0).count } == 492)
    await #expect(throws: RecordError.self) {
      try await access.inTransaction { db in
        try oslo.delete(db)
        _ = try City.find(db, 2)
      }
    }
    #expect(try await access.read { try City.fetchOne($0, oslo.id) } == oslo)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...20 {
        group.addTask {
          try await access.inTransaction { db in
            var city = try City.find(db, oslo.id)
            city.population += number
            try city.update(db)
          }
        }
        group.addTask { _ = try await access.read { try City.fetchAll($0).count } }
      }
      try await group.waitForAll()
    }
    #expect(try await access.read { try City.find($0, oslo.id).population } == 709_037 + 210)
  }

  @Test("A queue in memory runs every record operation")
  func memoryQueue() async throws {
    let queue = try DatabaseQueue()
    try checkSync(queue)
    try await checkAsync(queue)
    try await queue.close()
  }

  @Test("A queue on a file runs every record operation")
  func fileQueue() async throws {
    try await inFolder { path in
      let queue = try DatabaseQueue(path: path)
      try checkSync(queue)
      try await checkAsync(queue)
      try await queue.close()
    }
  }

  @Test("A pool runs every record operation")
  func pool() async throws {
    try await inFolder { path in
      let pool = try DatabasePool(path: path)
      try checkSync(pool)
      try await checkAsync(pool)
      try await pool.close()
    }
  }
}
