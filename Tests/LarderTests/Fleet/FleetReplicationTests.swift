import Foundation
import Larder
import LarderFleet
import LarderReplication
import TestSupport
import Testing

/// A folder that notes which databases' objects are asked for, and can be absent.
private final class NotingSink: LogSink {
  private let folder: FolderSink
  private let state = Lock((databases: Set<String>(), isAbsent: false, active: 0, most: 0))

  struct Absent: Error {}

  init(_ folder: FolderSink) { self.folder = folder }

  var databases: Set<String> { state.withLock { $0.databases } }
  /// The most calls that were made at a time.
  var most: Int { state.withLock { $0.most } }

  func beAbsent(_ isAbsent: Bool) { state.withLock { $0.isAbsent = isAbsent } }

  private func noting<T>(_ name: String, _ body: () throws -> T) throws -> T {
    try state.withLock { state in
      if state.isAbsent { throw Absent() }
      state.databases.insert(String(name.prefix { $0 != "/" }))
      state.active += 1
      state.most = max(state.most, state.active)
    }
    defer { state.withLock { $0.active -= 1 } }
    return try body()
  }

  func put(_ name: String, _ bytes: [UInt8]) throws -> Bool {
    try noting(name) { try folder.put(name, bytes) }
  }
  func get(_ name: String) throws -> [UInt8]? { try noting(name) { try folder.get(name) } }
  func list(_ prefix: String) throws -> [LogObject] {
    try noting(prefix) { try folder.list(prefix) }
  }
  func remove(_ name: String) throws { try noting(name) { try folder.remove(name) } }
}

@Suite("The continuous logs of a fleet")
struct FleetReplicationTests {
  private let folder: ScratchFolder
  private let log: FolderSink
  private let sink: NotingSink

  init() throws {
    folder = try ScratchFolder()
    log = try FolderSink(folder.file("log"))
    sink = NotingSink(log)
  }

  /// The names of the cities of a tenant, restored from the log.
  private func restored(_ key: String, _ fleet: DatabaseFleet) throws -> [String] {
    let path = folder.file("restored-\(UUID().uuidString).db")
    try fleet.restore(key, from: log, to: path)
    return try Tenants.names(Database(path: path))
  }

  @Test("200 open databases are shipped by a few threads, and each is restored with its own rows")
  func many() throws {
    let process = try ChildProcess.role("shipped-fleet", folder.path, "200")
    let lines = process.remainingLines(patience: .seconds(Tenants.patience))
    #expect(process.end() == 0)
    #expect(lines.first == "200 open")
    #expect(lines.count == 2, "\(lines)")
    // Eight of them ship. With threads of their own it would be more than 200.
    #expect(lines.dropFirst().first.flatMap { Int($0) } ?? 1000 < 40)
    let fleet = try DatabaseFleet(in: folder.file("tenants"))
    for number in 0..<200 {
      let path = folder.file("\(number).db")
      try fleet.restore("tenant \(number)", from: log, to: path)
      let texts = try Database(path: path).fetch(String.self, "SELECT text FROM note")
      #expect(texts == (0..<4).map { "note \($0) of \(number)" })
    }
  }

  @Test("A database that is open and isn't changed asks the sink for nothing")
  func idle() async throws {
    let keys = (0..<12).map { "tenant-\($0)" }
    let before = try Tenants.fleet(in: folder)
    try before.replicate(to: sink)
    for key in keys { try await before.inTransaction(key) { try Tenants.insert(key, $0) } }
    try await before.close()
    #expect(sink.databases.count == 12)
    let other = NotingSink(log)
    let fleet = try Tenants.fleet(in: folder)
    try fleet.replicate(to: other, every: .milliseconds(2))
    for key in keys { #expect(try await fleet.read(key, Tenants.names) == [key]) }
    try await fleet.inTransaction("tenant-7") { try Tenants.insert("Hamar", $0) }
    try await Tenants.wait { try restored("tenant-7", fleet) == ["tenant-7", "Hamar"] }
    #expect(other.databases == ["tenant-7.db"])
    try await fleet.close()
    #expect(other.databases == ["tenant-7.db"])
    for key in keys.prefix(7) { #expect(try restored(key, fleet) == [key]) }
  }

  @Test("A database that is closed for another one has shipped its end, whatever its key")
  func evicted() throws {
    let fleet = try Tenants.fleet(in: folder) { $0.maximumOpen = 1 }
    try fleet.replicate(to: sink, every: .seconds(3600))
    let keys = ["É & co", "owner", "100%"]
    for key in keys {
      try fleet.inTransaction(key) { try Tenants.insert(key, $0) }
      try fleet.inTransaction(key) { try Tenants.insert("Hamar", $0) }
    }
    try fleet.create("last")
    for key in keys { #expect(try restored(key, fleet) == [key, "Hamar"]) }
    #expect(fleet.statistics.failures == 0)
    // It goes on from its log, without another whole copy.
    try fleet.inTransaction("owner") { try Tenants.insert("Bergen", $0) }
    try fleet.close()
    #expect(try restored("owner", fleet) == ["owner", "Hamar", "Bergen"])
    #expect(
      try ReplicatedDatabase.points(in: log, name: "owner.db").map(\.position.generation)
        .reduce(into: Set()) { $0.insert($1) }.count == 1)
  }

  @Test(
    "What a closed database couldn't ship is shipped by the next process, without its being used")
  func left() async throws {
    let failures = Lock<[String]>([])
    let fleet = try Tenants.fleet(in: folder) { $0.maximumOpen = 1 }
    try fleet.replicate(to: sink, every: .seconds(3600)) { key, _ in
      failures.withLock { $0.append(key) }
    }
    try await fleet.inTransaction("norway") { try Tenants.insert("Oslo", $0) }
    try await fleet.create("sweden")
    #expect(try restored("norway", fleet) == ["Oslo"])
    try await fleet.inTransaction("norway") { try Tenants.insert("Hamar", $0) }
    sink.beAbsent(true)
    try await fleet.close()
    #expect(try restored("norway", fleet) == ["Oslo"])
    try await Tenants.wait { failures.withLock { !$0.isEmpty } }
    #expect(Set(failures.withLock { $0 }) == ["norway"])
    sink.beAbsent(false)
    let next = try Tenants.fleet(in: folder)
    try next.replicate(to: sink)
    try await Tenants.wait { try restored("norway", next) == ["Oslo", "Hamar"] }
    #expect(!sink.databases.contains("sweden.db") || next.statistics.opened <= 1)
    try await next.close()
  }

  @Test("A database that is removed and created again has a log of its own")
  func anew() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.replicate(to: sink)
    try fleet.inTransaction("norway") { try Tenants.insert("Oslo", $0) }
    try fleet.remove("norway")
    #expect(try restored("norway", fleet) == ["Oslo"])
    try fleet.inTransaction("norway") { try Tenants.insert("Bergen", $0) }
    try fleet.close()
    #expect(try restored("norway", fleet) == ["Bergen"])
    #expect(fleet.statistics.failures == 0)
  }

  @Test("A fleet can be replicated once, and before its databases are opened")
  func misuse() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.create("norway")
    let error = #expect(throws: DatabaseError.self) { try fleet.replicate(to: sink) }
    #expect(error?.code == .misuse)
    let other = try Tenants.fleet(in: folder) { $0.database.journalMode = .delete }
    #expect(throws: DatabaseError.self) { try other.replicate(to: sink) }
    let third = try Tenants.fleet(in: folder)
    try third.replicate(to: sink)
    #expect(throws: DatabaseError.self) { try third.replicate(to: sink) }
  }
}
