import Foundation
import LarderMacros

/// Logs, figures and alarms.
struct WatchChecks {
  let store: Store
  let notebook: Notebook
  let checks: Checks

  func all() async {
    await checks.part("figures and alarms", figures)
    await checks.part("deadlines and cancellation", cancellation)
  }

  func figures() async throws -> String {
    let access = store.access
    let watch = Watch(notebook)
    let sampling = Task { try await watch.sample(access, every: .milliseconds(10)) }
    // More writers at once than is good.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<80 {
        group.addTask {
          try await access.inTransaction { db in
            usleep(4_000)
            _ = try Ticket.filter { $0.reference == "J-1" }.fetchCount(db)
          }
        }
      }
      try await group.waitForAll()
    }
    // A slow statement.
    let isServer = store.isServer
    try await access.read { db in
      if isServer {
        try db.executeQuery("SELECT CAST(pg_sleep(0.15) AS text)").close()
        _ = try db.value("SELECT CAST(pg_sleep(0.15) AS text)", as: String?.self)
      } else {
        _ = try db.value(
          "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT max(i) FROM n",
          as: Int?.self)
      }
    }
    sampling.cancel()
    _ = await sampling.result
    let (lines, figures) = (notebook.lines, notebook.figures)
    checks.expect(lines.contains { $0.hasPrefix("notice: slow statement") }, "no slow statement")
    checks.expect(lines.contains { $0.contains("writers wait") }, "no alarm")
    checks.expect((figures["database.errors"] ?? 0) > 0, "no errors \(figures)")
    checks.expect((figures["database.transactions"] ?? 0) >= 70, "\(figures)")
    let levels = Set(lines.compactMap { $0.split(separator: ":").first.map(String.init) })
    checks.expect(!levels.contains("critical"), "\(lines.filter { $0.hasPrefix("critical") })")
    return "\(lines.count) lines of levels \(levels.sorted())"
  }

  func cancellation() async throws -> String {
    let access = store.access
    let before = try await access.read { db in try Tag.all.fetchCount(db) }
    let task = Task {
      try await access.inTransaction { db in
        for number in 0... {
          _ = try Tag(id: nil, name: "cancelled-\(number)").inserted(db)
        }
      }
    }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    await checks.expectError("cancelled", { $0 is CancellationError }) { try await task.value }
    let after = try await access.read { db in try Tag.all.fetchCount(db) }
    checks.expect(after == before, "\(after - before) tags stayed")
    return "rolled back"
  }
}
