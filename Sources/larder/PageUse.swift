import Larder
import LarderTerminal

/// Which part of a file each table and index takes, by [dbstat](https://www.sqlite.org/dbstat.html).
struct PageUse {
  struct Part: Equatable {
    /// In bytes.
    var size = 0
    /// Bytes of these that hold nothing.
    var unused = 0
  }

  /// By the name of the table or index. Those that were not reached in time are left out.
  private(set) var parts: [String: Part] = [:]
  /// Whether all were reached.
  private(set) var isComplete = false

  /// None, where SQLite was built without dbstat.
  init() {}

  /// Goes through all pages.
  ///
  /// - Parameters:
  ///   - time: how long that may take; nil for as long as it takes.
  ///   - progress: called with the number of pages so far.
  init(_ db: Database, time: Duration?, progress: (Int) -> Void) throws {
    guard try Self.isKnown(in: db) else { return }
    let deadline = time.map { ContinuousClock.Instant.now + $0 }
    // In this order the pages of a table follow one another without being sorted.
    let pages = try db.executeQuery("SELECT name, pgsize, unused FROM main.dbstat")
    var current = ""
    var part = Part()
    var count = 0
    while try pages.next() {
      count += 1
      if count % 256 == 0 {
        try Interruption.check()
        progress(count)
        if let deadline, deadline < .now { return }
      }
      let name = (try? pages.get(at: 0, as: String.self)) ?? ""
      if name != current {
        if count > 1 { parts[current] = part }
        (current, part) = (name, Part())
      }
      part.size += try pages.get(at: 1, as: Int.self)
      part.unused += try pages.get(at: 2, as: Int.self)
    }
    if count > 0 { parts[current] = part }
    isComplete = true
  }

  private static func isKnown(in db: Database) throws -> Bool {
    try db.value(
      "SELECT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'dbstat')", as: Bool.self)
      ?? false
  }
}

extension Int {
  /// A number of bytes for people: `12.3 MiB`.
  var byteCount: String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(self)
    var unit = 0
    while value >= 1024, unit + 1 < units.count {
      value /= 1024
      unit += 1
    }
    return "\(unit == 0 ? grouped : value.fixed(1)) \(units[unit])"
  }
}
