import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

/// A task-local value, such as the tenant whose data a request may see.
private enum Request {
  @TaskLocal static var tenant = "nobody"
}

@Suite("As if alone: a closure runs on its caller's thread, or in its caller's task", .promptly)
struct AsIfAloneIdentityTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private static let writers = 16
  private static let each = 20

  private func rowsOfOthers(_ access: any DatabaseAccess) async throws -> Int? {
    try await access.read { db in
      let wrong = try db.value(
        "SELECT count(*) FROM note WHERE tenant <> 'tenant ' || writer", as: Int.self)
      let all = try db.value("SELECT count(*) FROM note", as: Int.self)
      return all == Self.writers * Self.each ? wrong : nil
    }
  }

  @Test(
    "A transaction's closure sees the task-local value of its own caller", arguments: Company.all)
  func tenant(company: Company) async throws {
    let access = try company.open(in: folder)
    try await access.inDatabase {
      _ = try $0.executeUpdate("CREATE TABLE note (writer INTEGER, tenant TEXT)")
    }
    let body: @Sendable (Int, Database) throws -> Void = { writer, db in
      try db.executeUpdate("INSERT INTO note VALUES (?, ?)", writer, Request.tenant)
    }
    let callers = (0..<Self.writers).map { writer in
      company.isAsynchronous
        ? Caller(task: {
          try await Request.$tenant.withValue("tenant \(writer)") {
            for _ in 0..<Self.each { try await access.inTransaction { try body(writer, $0) } }
          }
        })
        : Caller {
          try Request.$tenant.withValue("tenant \(writer)") {
            for _ in 0..<Self.each { try access.inTransaction { try body(writer, $0) } }
          }
        }
    }
    for caller in callers { try await caller.end() }
    #expect(try await rowsOfOthers(access) == 0)
  }

  @Test(
    "Every kind of scope that waits in the queue sees its caller's task-local value",
    arguments: Company.tasks)
  func everyScope(company: Company) async throws {
    let access = try company.open(in: folder)
    let seen = Recorder<String>()
    let holder = try Holder(access)
    let calls: [@Sendable () async throws -> Void] = [
      { try await access.inDatabase { _ in seen.add(Request.tenant) } },
      { try await access.inTransaction { _ in seen.add(Request.tenant) } },
      { try await access.inTransaction(.deferred) { _ in seen.add(Request.tenant) } },
      { try await access.inSavepoint { _ in seen.add(Request.tenant) } },
      { try await access.read { _ in seen.add(Request.tenant) } },
    ]
    let callers = Request.$tenant.withValue("Oslo") { calls.map { Caller(task: $0) } }
    try holder.release()
    for caller in callers { try await caller.end() }
    #expect(seen.elements == Array(repeating: "Oslo", count: calls.count))
  }

  @Test(
    "A transaction's closure runs in its caller's task, with that task's priority",
    arguments: Company.tasks)
  func task(company: Company) async throws {
    let access = try company.open(in: folder)
    let same = Recorder<Bool>()
    let callers = [TaskPriority.low, .medium, .high].map { priority in
      Caller(task: {
        let task = Task(priority: priority) {
          let outside = withUnsafeCurrentTask { $0?.hashValue }
          try await access.inTransaction { _ in
            same.add(withUnsafeCurrentTask { $0?.hashValue } == outside)
            same.add(Task.basePriority == priority)
          }
        }
        try await task.value
      })
    }
    for caller in callers { try await caller.end() }
    #expect(same.elements == Array(repeating: true, count: 6))
  }

  @Test(
    "A synchronous transaction's closure runs on its caller's thread, even after waiting",
    arguments: Company.threads)
  func thread(company: Company) throws {
    let access = try company.open(in: folder)
    let others = Recorder<Int>()
    let bodies = (0..<Self.writers).map { number -> @Sendable () throws -> Void in
      {
        let thread = pthread_self()
        for _ in 0..<Self.each {
          try access.inTransaction { _ in
            if pthread_equal(thread, pthread_self()) == 0 { others.add(number) }
          }
        }
      }
    }
    #expect(try access.lineUp(bodies).allSatisfy { $0 == nil })
    #expect(others.elements.isEmpty)
  }

  @Test(
    "A recursive lock that is held around a transaction can be taken again in its closure",
    arguments: Company.threads)
  func recursiveLock(company: Company) throws {
    let access = try company.open(in: folder)
    let locked = Recorder<Bool>()
    let bodies = (0..<8).map { _ -> @Sendable () throws -> Void in
      let lock = NSRecursiveLock()
      return {
        try lock.withLock {
          try access.inTransaction { _ in
            // Waiting for the lock would hang if the closure ran on another thread.
            let isLocked = lock.try()
            locked.add(isLocked)
            if isLocked { lock.unlock() }
          }
        }
      }
    }
    #expect(try access.lineUp(bodies).allSatisfy { $0 == nil })
    #expect(locked.elements == Array(repeating: true, count: 8))
  }

  /// An actor whose isolated closures change its state.
  private actor Counter {
    private(set) var count = 0
    private(set) var strangers = 0

    func add(_ access: any DatabaseAccess) throws {
      let thread = pthread_self()
      // The synchronous variant accepts closures that are isolated to the actor.
      try access.inTransaction { db in
        count += 1
        if pthread_equal(thread, pthread_self()) == 0 { strangers += 1 }
        try db.executeUpdate("UPDATE city SET population = population + 1 WHERE id = 2")
      }
    }
  }

  @Test(
    "A transaction's closure that is isolated to an actor runs on the actor's thread",
    arguments: Company.threads)
  func actorsClosure(company: Company) async throws {
    let access = try company.open(in: folder)
    let counters = (0..<4).map { _ in Counter() }
    let threads = (0..<4).map { _ in
      Caller {
        for _ in 0..<Self.each {
          _ = try access.inTransaction { try $0.executeUpdate("UPDATE city SET area = area + 1") }
        }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for counter in counters {
        group.addTask { for _ in 0..<Self.each { try await counter.add(access) } }
      }
      try await group.waitForAll()
    }
    for thread in threads { try await thread.end() }
    for counter in counters {
      #expect(await counter.count == Self.each)
      #expect(await counter.strangers == 0)
    }
  }
}
