import Larder
import LarderTerminal

// The sizes of tables and indexes, and of anything else in bytes.

extension Database {
  /// The bytes that the pages of each table and index take, by
  /// [dbstat](https://www.sqlite.org/dbstat.html). Those that weren't read completely in time are left out;
  /// all of them if SQLite was built without dbstat. `progress` is called with the number of pages so far.
  func sizes(time: Duration?, progress: (Int) -> Void) throws -> [String: Int] {
    let isKnown = try value(
      "SELECT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'dbstat')", as: Bool.self)
    guard isKnown == true else { return [:] }
    var sizes: [String: Int] = [:]
    let deadline = time.map { ContinuousClock.Instant.now + $0 }
    // Without ORDER BY, dbstat returns each table's pages one after another.
    let pages = try executeQuery("SELECT name, pgsize FROM main.dbstat")
    var current = ""
    var count = 0
    while try pages.next() {
      count += 1
      if count % 256 == 0 {
        try Interruption.check()
        progress(count)
        if let deadline, deadline < .now {
          sizes[current] = nil
          return sizes
        }
      }
      current = (try? pages.get(at: 0, as: String.self)) ?? ""
      sizes[current, default: 0] += try pages.get(at: 1, as: Int.self)
    }
    return sizes
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
