import LarderSQLite
import Testing

@Suite("A process that is killed", .serialized)
struct CrashTests {
  @Test("It loses nothing that was acknowledged, and leaves nothing half done", arguments: 0..<5)
  func killed(file: Int) throws {
    let folder = try ScratchFolder()
    let path = folder.file("payments.db")
    for kill in 0..<20 {
      let first = kill * 1_000_000
      let writer = try OtherProcess("write", path, String(first))
      var acknowledged = [try #require(writer.line())]
      let end = ContinuousClock.now + .milliseconds(2 + (kill + file * 4) % 11)
      while let line = writer.line(before: end) {
        acknowledged.append(line)
        if ContinuousClock.now >= end { break }
      }
      writer.kill()
      // What it wrote before it died still arrives.
      while let line = writer.line() { acknowledged.append(line) }
      try check(path, from: first, acknowledged)
    }
  }

  private func check(_ path: String, from first: Int, _ acknowledged: [String]) throws {
    let db = try Database(path: path)
    let query: SQL = """
      SELECT id FROM payment JOIN receipt ON receipt.payment = payment.id WHERE id >= \(first)
      """
    let kept = Set(try db.executeQuery(query).map { try $0.get(at: 0, as: Int.self) })
    let lost = acknowledged.filter { id in !(Int(id).map { kept.contains($0) } ?? false) }
    #expect(lost == [])
    #expect(kept.count >= acknowledged.count)
    let half = try db.value(
      """
      SELECT (SELECT count(*) FROM payment WHERE id NOT IN (SELECT payment FROM receipt))
        + (SELECT count(*) FROM receipt WHERE payment NOT IN (SELECT id FROM payment))
      """, as: Int.self)
    #expect(half == 0)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
  }
}
