import CSQLite
import Glibc
import Larder
import LarderBackup
import Synchronization
import TestSupport

/// A service's load on one file, for the memory that it takes: readers of a pool all over the file, a writer, observers,
/// more statements than are kept, and copies again and again.
///
///     benchmarks memory [--cache MIB] [--readers N] [--observers N] [--copies yes|no] [--megabytes N] [--seconds N]
///
/// It prints the process's largest and last resident size, and how much of it SQLite has allocated. Each load needs a
/// process of its own, since the largest size is that of the whole process.
enum MemoryLoad {
  static let role = "memory"

  struct Choices {
    var cache = 16
    var readers = 8
    var observers = 100
    var copies = true
    var megabytes = 300
    var seconds = 20.0

    init(_ arguments: [String]) throws {
      var rest = arguments[...]
      while let option = rest.popFirst() {
        let value = rest.popFirst() ?? ""
        func number() throws -> Int {
          guard let number = Int(value), number > 0 else {
            throw Options.Failure("\(option) needs a positive number")
          }
          return number
        }
        switch option {
        case "--cache": cache = try number()
        case "--readers": readers = try number()
        case "--observers": observers = try number()
        case "--copies": copies = value == "yes"
        case "--megabytes": megabytes = try number()
        case "--seconds": seconds = Double(try number())
        default: throw Options.Failure("unknown option \(option)")
        }
      }
    }
  }

  static func run(_ arguments: [String], _ folder: ScratchFolder) throws {
    let choices = try Choices(arguments)
    let path = folder.file("memory.db")
    let documents = choices.megabytes * 256
    try fill(path, documents)
    var configuration = Configuration()
    configuration.cacheSize = choices.cache << 20
    configuration.maximumReaders = choices.readers
    let pool = try DatabasePool(path: path, configuration: configuration)
    print("opened: \(figures)")
    let observers = observe(pool, choices.observers)
    defer { for observer in observers { observer.cancel() } }
    let copies =
      try choices.copies ? pool.backup(every: .seconds(1), to: folder.path, keeping: 1) : nil
    let writer: Threads.Maker = {
      var number = 0
      return {
        number += 1
        try pool.inTransaction { db in
          try db.executeUpdate(
            "UPDATE document SET body = randomblob(3800) WHERE id = ?", number * 7919 % documents)
        }
        // Twenty thousand commits a second would be another load.
        usleep(1000)
      }
    }
    let reader: Threads.Maker = {
      var random = SystemRandomNumberGenerator()
      return {
        let first = Int.random(in: 0..<documents, using: &random)
        // 500 statements, of which a connection keeps 128.
        let columns = Int.random(in: 0..<500, using: &random)
        try pool.read { db in
          _ = try db.value(
            SQL(
              raw: "SELECT sum(length(body)) + \(columns) FROM document WHERE id BETWEEN ? AND ?"),
            first, first + 50, as: Int?.self)
        }
      }
    }
    let times = try Threads.run(
      [writer] + Array(repeating: reader, count: choices.readers), seconds: choices.seconds)
    let statistics = copies?.statistics
    if let error = statistics?.error { throw error }
    print(
      """
      cache \(choices.cache) MiB, \(choices.readers) readers, \(choices.observers) observers, \
      \(statistics?.copies ?? 0) copies, \(choices.megabytes) MB: \(figures); \
      \(times[0].count) commits, \(times.dropFirst().reduce(0) { $0 + $1.count }) reads
      """)
    copies?.cancel()
    try pool.close()
    print("closed: \(figures)")
  }

  private static func fill(_ path: String, _ documents: Int) throws {
    var configuration = Configuration()
    configuration.cacheSize = 1 << 20
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.inDatabase { db in
      try db.executeUpdate("CREATE TABLE document (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
      for first in stride(from: 0, to: documents, by: 1000) {
        try db.executeUpdate(
          """
          WITH n(id) AS (SELECT ?1 UNION ALL SELECT id + 1 FROM n WHERE id + 1 < min(?1 + 1000, ?2))
          INSERT INTO document SELECT id, randomblob(3800) FROM n
          """, first, documents)
      }
    }
    try queue.close()
  }

  /// Values of rows by their key, each with a task that takes what comes.
  private static func observe(_ pool: DatabasePool, _ count: Int) -> [Task<Void, any Error>] {
    (0..<count).map { key in
      Task {
        for try await _ in pool.values(of: {
          try $0.value("SELECT length(body) FROM document WHERE id = ?", key, as: Int?.self)
        }) {}
      }
    }
  }

  /// Mebibytes of the process and of SQLite.
  private static var figures: String {
    var (now, largest) = (Int64(0), Int64(0))
    sqlite3_status64(SQLITE_STATUS_MEMORY_USED, &now, &largest, 0)
    return
      "resident \(resident("VmRSS")) MiB, at most \(resident("VmHWM")); of SQLite \(now >> 20) MiB, at most \(largest >> 20)"
  }

  private static func resident(_ name: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
      let text = line.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
      let words = text.split(whereSeparator: \.isWhitespace)
      if words.first == "\(name):", words.count > 1, let size = Int(words[1]) { return size >> 10 }
    }
    return 0
  }
}
