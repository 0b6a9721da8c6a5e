import Larder
import LarderTerminal

/// The space that each table and index takes in a file, by [dbstat](https://www.sqlite.org/dbstat.html).
struct PageUse {
  struct Part: Equatable {
    /// The size of its pages, in bytes.
    var size = 0
    /// The unused bytes among them.
    var unused = 0
  }

  /// The parts by the name of the table or index. A part that wasn't read completely in time is left out.
  private(set) var parts: [String: Part] = [:]
  /// Whether all pages were read.
  private(set) var isComplete = false

  /// Without parts, such as when SQLite was built without dbstat.
  init() {}

  /// Reads the use of all pages.
  ///
  /// - Parameters:
  ///   - time: the time limit; nil for none.
  ///   - progress: called with the number of pages so far.
  init(_ db: Database, time: Duration?, progress: (Int) -> Void) throws {
    guard try Self.isKnown(in: db) else { return }
    let deadline = time.map { ContinuousClock.Instant.now + $0 }
    // Without ORDER BY, dbstat returns each table's pages one after another.
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
  /// The number of bytes in binary units, such as `12.3 MiB`.
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
