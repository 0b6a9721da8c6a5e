import Dispatch
import Glibc
import LarderSQLite
import TestSupport

/// Observers of a process that forks: they stay the parent's.
enum ObserversFork {
  static func check(_ access: any DatabaseAccess, _ path: String, _ report: Report) throws {
    let count: @Sendable (Database) throws -> Int = { db in
      try db.value("SELECT count(*) FROM city", as: Int.self) ?? -1
    }
    let (seen, told, errors) = (Recorder<Int>(), Recorder<Int>(), Recorder<any Error>())
    let hasBegun = DispatchSemaphore(value: 0)
    var observation: Observation? = access.values(of: count) {
      errors.add($0)
    } onValue: {
      seen.add($0)
    }
    let feed = Task.detached {
      for try await transaction in access.changes(
        of: ["city"], beginning: { _ in hasBegun.signal() })
      {
        told.add(transaction.changes.count)
      }
    }
    hasBegun.wait()
    let before = try access.read(count)
    report.expect("the value is told") { wait { seen.elements == [before] } }
    try report.inChild {
      let refusals = Recorder<any Error>()
      let refused = access.values(of: count) {
        refusals.add($0)
      } onValue: { _ in
      }
      report.expect("who observes in the child is refused, at once") {
        refusals.elements.count == 1
          && (refusals.elements[0] as? DatabaseError)?.code == .misuse
      }
      refused.cancel()
      observation?.cancel()
      observation = nil
      feed.cancel()
      let own = try Database(path: path)
      try own.executeUpdate("INSERT INTO city VALUES ('Tromsø')")
      try own.close()
      usleep(50_000)
      report.expect("nobody is told in the child") {
        seen.elements.count == 1 && told.elements.isEmpty && errors.elements.isEmpty
      }
    }
    report.expect("what the child commits is told in the parent") {
      wait { seen.elements.last == before + 1 && told.elements.contains(0) }
    }
    try access.inTransaction { _ = try $0.executeUpdate("INSERT INTO city VALUES ('Alta')") }
    report.expect("what the parent commits is told too") {
      wait { seen.elements.last == before + 2 && told.elements.last == 1 }
    }
    report.expect("there are no errors") { errors.elements.isEmpty }
    observation?.cancel()
    feed.cancel()
    try access.close()
  }

  private static func wait(_ condition: () -> Bool) -> Bool {
    for _ in 0..<10_000 {
      if condition() { return true }
      usleep(1000)
    }
    return false
  }
}
