import LarderFleet
import Foundation
import Larder
import TestSupport
import Testing

@Suite("Moved files and lack of descriptors in a fleet")
struct FleetFileTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// Calls the closure in a synchronous context, so that overloads resolve to the synchronous form.
  private func onThisThread<T>(_ body: () throws -> T) rethrows -> T { try body() }

  @Test("Writing to a tenant whose file was removed throws, and the next use creates it anew")
  func removed() async throws {
    let fleet = try Tenants.fleet(in: folder)
    for isAsynchronous in [false, true] {
      let key = "acme \(isAsynchronous)"
      try await fleet.inTransaction(key) { try Tenants.insert("Oslo", $0) }
      #expect(unlink(try fleet.path(of: key)) == 0)
      #expect(try !fleet.exists(key))
      let error = await #expect(throws: DatabaseError.self) {
        if isAsynchronous {
          try await fleet.inTransaction(key) { try Tenants.insert("Lagos", $0) }
        } else {
          try onThisThread {
            try fleet.inTransaction(key) { try Tenants.insert("Lagos", $0) }
          }
        }
      }
      #expect(error?.extendedCode == .readOnlyMoved)
      try await fleet.inTransaction(key) { try Tenants.insert("Bergen", $0) }
      #expect(try await fleet.read(key) { try Tenants.names($0) } == ["Bergen"])
      #expect(try fleet.exists(key))
    }
    try await fleet.close()
  }

  @Test("`create` makes a migrated database anew if the tenant's file was removed")
  func createdAnew() async throws {
    let fleet = try Tenants.fleet(in: folder)
    for isAsynchronous in [false, true] {
      #expect(try await fleet.create("acme"))
      try await fleet.inTransaction("acme") { try Tenants.insert("Oslo", $0) }
      #expect(unlink(try fleet.path(of: "acme")) == 0)
      let isNew =
        isAsynchronous
        ? try await fleet.create("acme") : try onThisThread { try fleet.create("acme") }
      #expect(isNew)
      for number in 0..<100 {
        try await fleet.inTransaction("acme") { try Tenants.insert("city \(number)", $0) }
      }
      let path = try fleet.path(of: "acme")
      #expect(try Database(path: path).fetch(String.self, "SELECT name FROM city").count == 100)
      try await fleet.remove("acme")
    }
    try await fleet.close()
  }

  @Test("A tenant that was restored from an older copy is migrated at its next use")
  func restored() async throws {
    let copy = folder.file("old.db")
    try Database(path: copy).executeUpdate("CREATE TABLE note (text)")
    let fleet = try Tenants.fleet(in: folder)
    try await fleet.inTransaction("acme") { try Tenants.insert("Oslo", $0) }
    try await fleet.inDatabase("acme") { try $0.restore(from: copy) }
    try await fleet.inTransaction("acme") { try Tenants.insert("Bergen", $0) }
    #expect(try await fleet.read("acme") { try $0.tableExists("note") })
    try await fleet.inDatabase("acme") { try $0.restore(from: copy) }
    let report = try await fleet.migrate()
    #expect(report.changed == 1 && report.failures.isEmpty)
    #expect(try Database(path: fleet.path(of: "acme")).tableExists("city"))
    try await fleet.close()
  }

  @Test("A nested call for a tenant goes on while another thread or task waits to remove it")
  func nestedBesideRemoval() async throws {
    let fleet = try Tenants.fleet(in: folder)
    try await fleet.inTransaction("acme") { try Tenants.insert("Oslo", $0) }
    let removed = Lock<Result<Void, any Error>?>(nil)
    try onThisThread {
      try fleet.withDatabase("acme") { _ in
        Thread.detachNewThread {
          let result = Result { try fleet.remove("acme") }
          removed.withLock { $0 = result }
        }
        while fleet.statistics.waiting == 0 { usleep(100) }
        let names = try fleet.read("acme") { try Tenants.names($0) }
        #expect(names == ["Oslo"])
      }
    }
    try await Tenants.wait { removed.withLock { $0 != nil } }
    try removed.withLock { $0 }?.get()
    let outcome = Lock(false)
    try await fleet.withDatabase("acme") { _ in
      let remover = Task.detached {
        try await fleet.remove("acme")
        outcome.withLock { $0 = true }
      }
      try await Tenants.wait { fleet.statistics.waiting > 0 }
      #expect(try await fleet.read("acme") { try Tenants.names($0) } == [])
      _ = remover
    }
    try await Tenants.wait { outcome.withLock { $0 } }
    try await fleet.close()
  }

  @Test("A fleet closes idle databases for others and for copies when no descriptors are left")
  func outOfDescriptors() throws {
    let process = try ChildProcess(
      ChildProcess.built("test-process"), ["descriptors", folder.path, "100"])
    let lines = process.remainingLines(patience: .seconds(120))
    #expect(lines == ["0 failed, 200 rows, 200 copies"])
    #expect(process.end() == 0)
  }
}
