import Dispatch
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("The first observed value, and which observers a row's change reaches", .promptly)
struct FirstValueTests {
  @Test(
    "A pool's first observed value doesn't wait for a running writer, whose commit is seen next")
  func besideWriter() async throws {
    let folder = try ScratchFolder()
    let pool = try DatabasePool(path: folder.file("a.db"))
    try await pool.inTransaction { try createCities(in: $0) }
    let (begun, hasBegun) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let writing = Task {
      try await pool.inTransaction { db in
        try db.executeUpdate("DELETE FROM city WHERE id = 1")
        hasBegun.yield()
        gate.wait()
      }
    }
    for await _ in begun { break }
    let values = ObservedReads(pool) { try $0.cityCount() }
    #expect(try await values.next() == 4)
    gate.signal()
    try await writing.value
    #expect(try await values.next() == 3)
    try await pool.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 2") }
    #expect(try await values.next() == 2)
    #expect(values.count == 3)
  }

  @Test("An observer that is cancelled while a writer runs is removed from the registry")
  func endsBesideWriter() async throws {
    let folder = try ScratchFolder()
    let pool = try DatabasePool(path: folder.file("a.db"))
    try await pool.inTransaction { try createCities(in: $0) }
    let (begun, hasBegun) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let writing = Task {
      try await pool.inTransaction { db in
        try db.executeUpdate("DELETE FROM city WHERE id = 1")
        hasBegun.yield()
        gate.wait()
      }
    }
    for await _ in begun { break }
    let (first, hasFirst) = AsyncStream<Void>.makeStream()
    let observer = Task {
      for try await _ in pool.values(of: { try $0.cityCount() }) { hasFirst.yield() }
    }
    for await _ in first { break }
    observer.cancel()
    try await observer.value
    gate.signal()
    try await writing.value
    #expect(pool.connections.observers.isUnused)
  }

  @Test("Of the observers of single rows, only those whose rows were written become dirty")
  func rows() {
    var registry = ObserverRegistry()
    let name = Region.TableName(database: "main", table: "city")
    func region(_ rows: Set<Int64>?) -> Region {
      var region = Region()
      region.insert(.init(columns: nil, rows: rows), of: name)
      return region
    }
    func read(_ rows: Set<Int64>?) -> Int {
      let id = registry.addObserver()
      registry.begin(id)
      _ = registry.end(id, region(rows))
      return id
    }
    let (one, two, both, all) = (read([1]), read([2]), read([1, 2]), read(nil))
    #expect(registry.tablesOfRows == [name])
    func dirty() -> Set<Int> { Set(registry.values.filter { $0.value.isDirty }.keys) }
    _ = registry.tell(region([]))
    _ = registry.tell(region([3]))
    #expect(dirty() == [all])
    _ = registry.tell(region([2]))
    #expect(dirty() == [two, both, all])
    _ = registry.tell(region(nil))
    #expect(dirty() == [one, two, both, all])
    // Observers become clean when they have read again.
    registry.begin(one)
    let wantsOthers = registry.end(one, region([1]))
    #expect(!wantsOthers)
    _ = registry.tell(region([2]))
    #expect(!dirty().contains(one))
    for id in [one, two, both] { _ = registry.remove(id) }
    #expect(registry.tablesOfRows.isEmpty)
  }
}
