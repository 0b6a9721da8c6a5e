import LarderSQLite
import TestSupport
import Testing

@Suite("A process that is killed", .serialized)
struct CrashTests {
  @Test(
    "A killed process loses no acknowledged transaction and leaves none half done", arguments: 0..<5
  )
  func killed(file: Int) throws {
    let folder = try ScratchFolder()
    let path = folder.file("payments.db")
    for kill in 0..<20 {
      let first = kill * 1_000_000
      let writer = try ChildProcess.role("pay", path, String(first))
      var acknowledged = [try #require(writer.line())]
      let end = ContinuousClock.now + .milliseconds(2 + (kill + file * 4) % 11)
      while let line = writer.line(before: end) {
        acknowledged.append(line)
        if ContinuousClock.now >= end { break }
      }
      writer.kill()
      // Lines that the process wrote before it died still arrive.
      while let line = writer.line() { acknowledged.append(line) }
      try check(path, from: first, acknowledged)
    }
  }

  private func check(_ path: String, from first: Int, _ acknowledged: [String]) throws {
    let db = try Database(path: path)
    let kept = try Payments.kept(db, from: first)
    let lost = acknowledged.filter { id in !(Int(id).map { kept.contains($0) } ?? false) }
    #expect(lost == [])
    #expect(kept.count >= acknowledged.count)
    #expect(try Payments.halfCount(db) == 0)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
  }
}
