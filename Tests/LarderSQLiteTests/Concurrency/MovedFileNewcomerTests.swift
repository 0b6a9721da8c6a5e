import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

/// Another file at the path of one that was moved has the same names for its log and its index.
extension MovedFileTests {
  private static let accidents = [Mishap.renamed, .replaced, .deleted]

  /// Refused writes, each of which looks for the file.
  private func beRefused(_ access: any DatabaseAccess, _ company: Company) async throws {
    for _ in 0..<3 {
      let error = await #expect(throws: DatabaseError.self) { try await write(access, company) }
      #expect(error?.extendedCode == .readOnlyMoved)
    }
  }

  @Test(
    "A moved file and the one that another process opens at its path keep their own rows",
    arguments: Company.files, accidents)
  func otherProcess(company: Company, mishap: Mishap) async throws {
    let access = try open(company)
    for _ in 0..<20 { try await write(access, company) }
    try happen(mishap)
    try await beRefused(access, company)
    let shell = try ChildProcess("sqlite3", ["-batch", file])
    shell.say(".timeout 5000")
    shell.say("PRAGMA journal_mode = wal;")
    #expect(shell.line() == "wal")
    shell.say("CREATE TABLE other (number);")
    for number in 1...20 {
      shell.say("INSERT INTO other VALUES (\(number)); SELECT count(*) FROM other;")
      #expect(shell.line() == "\(number)")
      try await beRefused(access, company)
    }
    shell.kill()
    try? await access.close()
    let other = try Database(path: file)
    #expect(try other.value("SELECT count(*) FROM other", as: Int.self) == 20)
    #expect(try other.value("PRAGMA integrity_check", as: String.self) == "ok")
    try other.close()
    #expect(try keptCities() == 24)
  }

  @Test(
    "A moved file and one that the same process opens at its path keep their own rows",
    arguments: Company.files, accidents)
  func sameProcess(company: Company, mishap: Mishap) async throws {
    let access = try open(company)
    for _ in 0..<20 { try await write(access, company) }
    try happen(mishap)
    let newcomer = try DatabasePool(path: file, configuration: Configuration(profile: .durable))
    try await newcomer.inTransaction { try $0.executeUpdate("CREATE TABLE other (number)") }
    for number in 1...20 {
      try await newcomer.inTransaction {
        try $0.executeUpdate("INSERT INTO other VALUES (?)", number)
      }
      try await beRefused(access, company)
    }
    try? await access.close()
    try await newcomer.close()
    let other = try Database(path: file)
    #expect(try other.value("SELECT count(*) FROM other", as: Int.self) == 20)
    #expect(try other.value("PRAGMA integrity_check", as: String.self) == "ok")
    try other.close()
    #expect(try keptCities() == 24)
  }

  @Test("A rename before the watching begins is noticed, too", .promptly)
  func movedEarly() async throws {
    let path = folder.file("early.db")
    let pool = try DatabasePool(path: path)
    try await pool.inTransaction { try createCities(in: $0) }
    #expect(rename(path, path + ".old") == 0)
    let watcher = try #require(pool.connections.moveWatcher)
    FileEvents.moves.queue.sync { watcher.begin() }
    try await yieldUntil { try ScratchFolder.contents(of: path + "-wal").isEmpty }
    withExtendedLifetime(pool) {}
  }
}
