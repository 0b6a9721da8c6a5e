import Foundation
import FoundationNetworking
import LarderJobs
import LarderMacros
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@testable import reader

/// The engines on which each test runs, with nothing changed but the address.
enum Engine: String, CaseIterable {
  case memory, server

  func open() throws -> Store {
    try Store.open(self == .memory ? ":memory:" : TestEngine.schema())
  }

  static var installed: [Engine] { PostgresServer.isInstalled ? allCases : [.memory] }
}

/// Each test makes its own database, which takes milliseconds.
@Suite("The sample feed reader")
struct ReaderTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// A feed with a number of entries, as a file.
  private func feed(_ name: String, _ count: Int) throws -> String {
    let items = (1...count).map { number in
      FetchedFeed.Item(
        id: "\(name)-\(number)", title: "Larder \(number) of \(name)",
        content_text: "one two three", date_published: "2024-05-0\(number)T10:00:00Z")
    }
    let path = folder.file("\(name).json")
    try JSONEncoder().encode(FetchedFeed(title: "The \(name)", items: items))
      .write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Runs workers and consumers until no job is left and all messages are counted.
  private func settle(_ store: Store) async throws {
    let background = Task { try await Background.run(store.access) }
    @Sendable func isIdle(_ db: Database) throws -> Bool {
      let entries = try Entry.all.fetchCount(db)
      let counted = try Activity.fetchAll(db).reduce(0) { $0 + $1.entries }
      return try counted == entries && !StoredJob.all.exists(db)
    }
    while try await !store.access.read(isIdle) { await Task.yield() }
    background.cancel()
    try await background.value
  }

  @Test(
    "A feed's entries are fetched once, listed while unread, and found by their words",
    arguments: Engine.installed)
  func reading(_ engine: Engine) async throws {
    let store = try engine.open()
    let reader = Reader(access: store.access)
    let ann = try await reader.signUp("ann@example.com").token.uuidString
    let bo = try await reader.signUp("bo@example.com").token.uuidString
    let url = try feed("news", 3)
    try await reader.subscribe(ann, to: url)
    try await reader.subscribe(bo, to: url)
    try await settle(store)
    let items = try await reader.unread(ann)
    #expect(items.map(\.title) == ["Larder 3 of news", "Larder 2 of news", "Larder 1 of news"])
    #expect(items.first?.feed == "The news")
    try await reader.markRead(ann, items[0].id, starred: true)
    #expect(try await reader.unread(ann).count == 2)
    #expect(try await reader.unread(bo).count == 3)
    #expect(try await reader.search("lard 2").map(\.title) == ["[Larder] [2] of news"])
    let counts = try await store.access.read(Reader.counts)
    #expect(counts == Reader.Counts(feeds: 1, entries: 3, read: 1))
    try await store.access.inTransaction { db in _ = try FetchAll().enqueue(db) }
    try await settle(store)
    #expect(try await store.access.read(Reader.counts).entries == 3)
    try await store.access.close()
  }

  @Test(
    "A wrong token and a second account of one address are refused", arguments: Engine.installed)
  func refusals(_ engine: Engine) async throws {
    let store = try engine.open()
    let reader = Reader(access: store.access)
    _ = try await reader.signUp("ann@example.com")
    await #expect(throws: ReaderError.isThere("ann@example.com")) {
      try await reader.signUp("ann@example.com")
    }
    await #expect(throws: ReaderError.notSignedIn) { try await reader.unread("x") }
    try await store.access.close()
  }

  @Test("The migrations make the schema that the records declare", arguments: Engine.installed)
  func schema(_ engine: Engine) throws {
    let store = try engine.open()
    try store.access.inDatabase { db in
      for record in records {
        let found = try differences(of: record, db)
        #expect(found == [])
      }
    }
    try store.access.close()
  }

  private func differences(of record: (some Record).Type, _ db: Database) throws -> [String] {
    try record.table.differences(db).map(\.description)
  }

  @Test(
    "The counts are followed, and each commit that changes them gives new ones",
    arguments: Engine.installed)
  func live(_ engine: Engine) async throws {
    let store = try engine.open()
    let reader = Reader(access: store.access)
    struct Enough: Error {}
    var seen: [Int] = []
    do {
      try await reader.follow { counts in
        seen.append(counts.feeds)
        if counts.feeds == 2 { throw Enough() }
        try await store.access.inTransaction { db in
          _ = try Feed(id: nil, url: "\(counts.feeds)", title: "").inserted(db)
        }
      }
    } catch is Enough {}
    #expect(seen == [0, 1, 2])
    try await store.access.close()
  }

  @Test("The process answers requests and metrics, and closes its database when it is told to end")
  func process() async throws {
    let path = folder.file("reader.db")
    let process = try ChildProcess(ChildProcess.built("reader"), [path, "0"])
    var line = try #require(process.line())
    while !line.hasPrefix("ready on ") { line = try #require(process.line()) }
    let port = line.split(separator: " ").last.map(String.init) ?? ""
    func get(_ method: String, _ path: String) async throws -> String {
      var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
      request.httpMethod = method
      return String(decoding: try await URLSession.shared.data(for: request).0, as: UTF8.self)
    }
    let token = try await get("POST", "/accounts?email=ann@example.com")
    #expect(UUID(uuidString: token) != nil)
    #expect(try await get("GET", "/entries?token=\(token)") == "[]")
    #expect(try await get("GET", "/health") == "ready")
    #expect(try await get("GET", "/metrics").contains("database=\"reader\""))
    process.send(SIGTERM)
    #expect(process.remainingLines().last == "closed")
    #expect(process.end() == 0)
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
  }
}
