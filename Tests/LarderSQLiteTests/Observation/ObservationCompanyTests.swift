import LarderChangeset
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Several kinds of observation on one database", .promptly)
struct ObservationCompanyTests {
  @Test(
    "Observed values, a feed, hooks and a recorded changeset work on the same transactions",
    .needsPreupdateHook,
    arguments: Company.threads
  )
  func together(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let updates = Recorder<String>()
    let hooks = try await access.inDatabase { db in
      [
        try db.onCommit { updates.add("commit") },
        try db.onUpdate { operation, _, id in updates.add("\(operation) \(id)") },
      ]
    }
    let values = ObservedReads(access) { try $0.texts("SELECT name FROM city ORDER BY id") }
    #expect(try await values.next()?.count == 4)
    let feed = Followed(access.changes(of: ["city"]))
    try await feed.begin()
    for round in 0..<3 {
      updates.removeAll()
      let changeset = try await access.inTransaction { db in
        try db.record("city") { db in
          try db.executeUpdate("UPDATE city SET name = ? WHERE id = 1", "Bjørgvin \(round)")
        }
      }
      #expect(try await values.next()?.first == "Bjørgvin \(round)")
      #expect(try await feed.next()?.isFromElsewhere == true)
      #expect(updates.elements == ["update 1", "commit"])
      var rows = 0
      try changeset.forEach { _ in rows += 1 }
      #expect(rows == 1)
      try await access.inTransaction { db in try changeset.inverted().apply(to: db) }
      let undone = try await #require(feed.next())
      #expect(undone.changes.map { $0.old?[1] } == [.text("Bjørgvin \(round)")])
      #expect(
        try await values.next()?.first.map { .text($0) } == undone.changes.first?.new?[1])
    }
    for hook in hooks { hook.cancel() }
  }

  @Test(
    "Values and a feed follow tables of an attached and the main database", .needsPreupdateHook,
    arguments: Company.threads,
    [0, 128])
  func attached(company: Company, cached: Int) async throws {
    let folder = try ScratchFolder()
    let other = folder.file("other.db")
    let creating = try DatabaseQueue(path: other)
    try await creating.inTransaction { try $0.executeStatements("CREATE TABLE port (name TEXT)") }
    try await creating.close()
    let access = try company.open(in: folder) { configuration in
      configuration.statementCacheCapacity = cached
      configuration.prepareDatabase = { try $0.executeUpdate("ATTACH ? AS aux", other) }
    }
    let ports = ObservedReads(access) { try $0.texts("SELECT name FROM aux.port") }
    let cities = ObservedReads(access) { try $0.cityCount() }
    #expect(try await ports.next() == [])
    #expect(try await cities.next() == 4)
    let feed = Followed(access.changes(of: ["city", "aux.port"]))
    try await feed.begin()
    try await access.inTransaction { db in
      try db.executeUpdate("INSERT INTO aux.port VALUES ('Oslo')")
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
    }
    #expect(try await ports.next() == ["Oslo"])
    #expect(try await cities.next() == 3)
    #expect(try await feed.next()?.changes.map(\.database) == ["aux", "main"])
    try? await access.inTransaction { db in
      try db.executeUpdate("DELETE FROM aux.port")
      throw CancellationError()
    }
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM city WHERE id = 2") }
    #expect(try await cities.next() == 2)
    #expect(try await feed.next()?.changes.map(\.table) == ["city"])
    #expect(ports.count == 2)
  }

  @Test(
    "Values and a feed work with a statement cache of capacity 0", .needsPreupdateHook,
    arguments: Company.threads)
  func uncached(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder) { $0.statementCacheCapacity = 0 }
    let values = ObservedReads(access) { try $0.cityCount() }
    let feed = Followed(access.changes(of: ["city"]))
    #expect(try await values.next() == 4)
    try await feed.begin()
    for number in 1...4 {
      try await access.inTransaction { db in
        try db.executeUpdate("UPDATE city SET area = 1 WHERE id = ?", number)
        try db.executeUpdate("DELETE FROM city WHERE id = ?", number)
      }
      #expect(try await values.next() == 4 - number)
      #expect(try await feed.next()?.changes.count == 2)
    }
    #expect(values.count == 5)
  }

  @Test(
    "Observers that are cancelled at random moments are all removed from the registry",
    .needsPreupdateHook,
    arguments: Company.tasks)
  func storm(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let writers = (0..<2).map { writer in
      Task {
        while !Task.isCancelled {
          _ = try? await access.inTransaction { db in
            try db.executeUpdate("UPDATE city SET population = population + 1 WHERE id = ?", writer)
          }
          await Task.yield()
        }
      }
    }
    let ended = Recorder<Int>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          let observer = Task {
            if number % 2 == 0 {
              for try await _ in access.values(of: { try $0.cityCount() }) {}
            } else {
              for try await _ in access.changes(of: ["city"]) {}
            }
          }
          for _ in 0..<(number % 23) { await Task.yield() }
          observer.cancel()
          // The observer ends without an error, whenever it is cancelled.
          try await observer.value
          ended.add(number)
        }
      }
      try await group.waitForAll()
    }
    for writer in writers { writer.cancel() }
    for writer in writers { await writer.value }
    #expect(ended.elements.count == 200)
    #expect(access.connections.observers.isUnused)
    // The next commit removes the writer's follower, and a new observer works as usual.
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM city WHERE id = 1") }
    #expect(try await access.inDatabase { $0.connection.follower == nil })
    let values = ObservedReads(access) { try $0.cityCount() }
    #expect(try await values.next() == 3)
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM city WHERE id = 2") }
    #expect(try await values.next() == 2)
  }

  @Test(
    "A value observed from within a transaction reports that transaction's commit",
    arguments: Company.threads)
  func insideScope(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let (stream, sink) = AsyncStream<Int?>.makeStream()
    let observation = try await access.inTransaction { db in
      let observation = access.values(of: { try $0.cityCount() }) { error in
        Issue.record(error)
      } onValue: {
        sink.yield($0)
      }
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
      return observation
    }
    var counts = stream.makeAsyncIterator()
    // A pool's reader may have read before the commit.
    let first = await counts.next()
    #expect(first == 3 || (first == 4 && company.storage == .pool))
    if first == 4 { #expect(await counts.next() == 3) }
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM city WHERE id = 2") }
    #expect(await counts.next() == 2)
    observation.cancel()
  }

  @Test(
    "An observation's callback that writes is called again for its own writes",
    arguments: Company.threads)
  func writingCallback(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let (stream, sink) = AsyncStream<Int?>.makeStream()
    let observation = access.values(of: { try $0.cityCount() }) { error in
      Issue.record(error)
    } onValue: { count in
      sink.yield(count)
      _ = try? access.inTransaction { db in
        try db.executeUpdate("DELETE FROM city WHERE id = (SELECT min(id) FROM city)")
      }
    }
    var counts: [Int?] = []
    for await count in stream {
      counts.append(count)
      if count == 0 { break }
    }
    #expect(counts == [4, 3, 2, 1, 0])
    observation.cancel()
  }
}
