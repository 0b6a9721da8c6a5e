import CFaultInjection
import Foundation
import Larder
import ProofSupport
import Synchronization
import TestSupport

/// Files that were made to do harm, and files whose schema is random: opened under each profile by a
/// program with functions of its own, read, listed, rebuilt and copied. None of its functions is
/// called, nothing is written beside the file, a rebuild leaves other tables alone, and under the
/// profile for files from elsewhere each call ends within a second and 256 MB.
enum HostileFiles: ProofRow {
  static let name = "hostile-files"
  static let number = 21
  static let unit = "files"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    let place = try HostilePlace(folder)
    var slowest = Duration.zero
    var refused = 0
    let count = options.count ?? 300
    let rules = HostileRule.all
    while result.tried < count, options.goesOn(after: result.tried) {
      let number = result.tried
      var name = ""
      do {
        if number < rules.count {
          name = rules[number].name
          fault_watch("hostile-files: \(name)", Self.patience)
          try place.check(rules[number])
        } else {
          let file = file(number - rules.count, options)
          name = "\(file.name), seed \(options.seed), file \(number)"
          fault_watch("hostile-files: \(name)", Self.patience)
          let outcome = try place.attack(file)
          slowest = max(slowest, outcome.slowest)
          refused += outcome.refused
        }
      } catch {
        result.failures.append("\(name): \(error)")
      }
      result.tried += 1
    }
    fault_watch("", 0)
    result.details = [
      "\(rules.count + CraftedFile.all.count) of them by hand",
      "refused at opening: \(refused)",
      "the slowest call took \(slowest / .milliseconds(1)) ms",
    ]
    return result
  }

  /// How long a file may take, in seconds, until it hangs: so long that other programs on the machine can't be the reason.
  /// Slow calls are found by the processor's time.
  private static let patience: UInt32 = 300

  /// First those by hand, then random ones.
  private static func file(_ index: Int, _ options: ProofOptions) -> CraftedFile {
    guard index >= CraftedFile.all.count else { return CraftedFile.all[index] }
    var random = SeededGenerator(seed: options.seed &+ UInt64(index) &* 0x1_0000_0001)
    return .random(using: &random)
  }
}

/// The time that this thread has computed, which doesn't count what others of the machine do.
enum ProcessorTime {
  static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

/// A folder with a file that is attacked by its content, and one that nobody may touch.
final class HostilePlace {
  struct Outcome {
    var slowest = Duration.zero
    var refused = 0
  }

  private let folder: String
  private let calls = Calls()
  private static let deadline = Duration.milliseconds(200)
  /// The sanitizer makes copies take several times as long.
  private static let longest = Duration.seconds(fault_has_address_sanitizer() == 0 ? 1 : 4)
  private static let largest: Int64 = 256 << 20
  private static var secret: Data { Data("Nobody may touch this.".utf8) }

  final class Calls: Sendable {
    let count = Atomic<Int>(0)
  }

  init(_ folder: String) throws {
    self.folder = folder
  }

  func check(_ rule: HostileRule) throws {
    for profile in [Configuration.Profile.untrustedFile, .service, .durable] {
      try ScratchFolder.empty(folder)
      let path = folder + "/hostile.db"
      try WrongAnswer.check(hostile_file_write(path, rule.file), 0, "writing the file")
      try rule.check(path, configuration(profile))
    }
  }

  func attack(_ file: CraftedFile) throws -> Outcome {
    var outcome = Outcome()
    for profile in [Configuration.Profile.untrustedFile, .service, .durable] {
      // What takes long is kept short by one profile only.
      if file.isSlow, profile != .untrustedFile { continue }
      try ScratchFolder.empty(folder)
      try Self.secret.write(to: URL(fileURLWithPath: folder + "/secret"))
      let path = folder + "/hostile.db"
      try WrongAnswer.check(hostile_file_write(path, file.sql), 0, "writing the file")
      try file.prepare?(path)
      let before = try contents()
      calls.count.store(0, ordering: .relaxed)
      try use(path, profile, &outcome)
      let place = "under \(profile)"
      try WrongAnswer.check(
        calls.count.load(ordering: .relaxed), 0, "calls of the program's functions \(place)")
      try check(contents(), before, profile, place)
    }
    return outcome
  }

  /// The names and sizes of what is in the folder.
  private func contents() throws -> [String: Int] {
    var contents: [String: Int] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      contents[name] = (attributes[.size] as? NSNumber)?.intValue ?? 0
    }
    return contents
  }

  private func check(
    _ after: [String: Int], _ before: [String: Int], _ profile: Configuration.Profile,
    _ place: String
  ) throws {
    let secret = try Data(contentsOf: URL(fileURLWithPath: folder + "/secret"))
    try WrongAnswer.check(secret == Self.secret, true, "the file beside it \(place)")
    // The copies are the proof's own.
    var names = Set(after.keys).subtracting(before.keys).subtracting(["copy.db"])
    if profile != .untrustedFile {
      names.subtract(["hostile.db-wal", "hostile.db-shm", "hostile.db-journal"])
    }
    try WrongAnswer.check(names.sorted(), [], "files that are left \(place)")
  }

  private func configuration(_ profile: Configuration.Profile) -> Configuration {
    var configuration = Configuration(profile: profile)
    // Where there is a deadline, a shorter one shows the same sooner.
    if profile != .untrustedFile
      || configuration.statementDeadline.map({ $0 <= .seconds(10) }) ?? false
    {
      configuration.statementDeadline = Self.deadline
    }
    configuration.busyTimeout = .milliseconds(20)
    let calls = calls
    configuration.prepareDatabase = { db in
      for isDeterministic in [true, false] {
        let name = isDeterministic ? "wire" : "wire_twice"
        for count in [nil, 1] {
          try db.createFunction(name, argumentCount: count, deterministic: isDeterministic) { _ in
            calls.count.add(1, ordering: .relaxed)
            return 1
          }
        }
      }
    }
    return configuration
  }

  private func use(
    _ path: String, _ profile: Configuration.Profile, _ outcome: inout Outcome
  ) throws {
    let isLimited = profile == .untrustedFile
    func timed<T>(_ what: String, _ body: () throws -> T) throws -> T? {
      _ = hostile_memory_peak(1)
      let start = ProcessorTime.now
      defer {
        if isLimited { outcome.slowest = max(outcome.slowest, ProcessorTime.now - start) }
      }
      var value: T?
      do {
        value = try body()
      } catch  where WrongAnswer.isTyped(error) {
        value = nil
      }
      let spent = ProcessorTime.now - start
      if isLimited, spent > Self.longest {
        throw WrongAnswer(description: "\(what) took \(spent)")
      }
      let peak = hostile_memory_peak(0)
      if isLimited, peak > Self.largest {
        throw WrongAnswer(description: "\(what) took \(peak >> 20) MB")
      }
      return value
    }
    let opened = try timed("opening") {
      try Database(path: path, configuration: configuration(profile))
    }
    guard let db = opened else {
      outcome.refused += 1
      return
    }
    let entries = try timed("listing") { try db.schema() } ?? []
    _ = try timed("the schema") { try Schema(db) }
    for entry in entries.prefix(12) where entry.kind != .index && entry.kind != .trigger {
      _ = try timed("columns") { try db.columns(of: entry.name) }
      _ = try timed("indexes") { try db.indexes(of: entry.name) }
      _ = try timed("foreign keys") { try db.foreignKeys(of: entry.name) }
      _ = try timed("reading") {
        let rows = try db.executeQuery("SELECT * FROM \(identifier: entry.name) LIMIT 50")
        while try rows.next() {
          for index in 0..<rows.columnCount { _ = try? rows[index] }
        }
      }
      _ = try timed("counting") {
        try db.value("SELECT count(*) FROM \(identifier: entry.name)", as: Int.self)
      }
      guard !db.isReadOnly else { continue }
      _ = try timed("inserting") {
        try db.executeUpdate("INSERT INTO \(identifier: entry.name) DEFAULT VALUES")
      }
      _ = try timed("deleting") {
        try db.executeUpdate("DELETE FROM \(identifier: entry.name)")
      }
    }
    _ = try timed("differences") { try City.table.differences(db) }
    _ = try timed("checking") { try db.value("PRAGMA integrity_check(3)", as: String.self) }
    _ = try timed("copying") { try db.backup(to: folder + "/copy.db") }
    if !db.isReadOnly {
      let others = try bystanders(db)
      _ = try timed("rebuilding") {
        try City.table.rebuild(db, losing: [.rows, .columns, .values, .rowIDs])
      }
      try WrongAnswer.check(
        try bystanders(db), others, "other tables, and what is attached, after a rebuild")
      _ = try timed("reindexing") { try db.executeUpdate("REINDEX") }
    }
    _ = try timed("closing") { try db.close() }
  }

  /// The tables that a rebuild of another must leave alone, and the databases there are. None where
  /// the schema can't be read.
  private func bystanders(_ db: Database) throws -> [String] {
    do {
      let tables = try db.schema().filter {
        $0.kind == .table && ![$0.name, $0.table].contains { $0.lowercased() == "city" }
      }
      return try tables.map(\.name).sorted()
        + db.executeQuery("SELECT name FROM pragma_database_list WHERE seq <> 1 ORDER BY seq")
        .map { try $0.get(at: 0) }
    } catch  where WrongAnswer.isTyped(error) {
      return []
    }
  }
}

/// What a rebuild makes of a table of that name.
private struct City: Record {
  var id: Int64?
  var name: String?

  struct Columns: Sendable {
    let id = Column("id", \City.id, .primaryKey)
    let name = Column("name", \City.name)
  }
  static let columns = Columns()
  static let table = Table("city", City.init, columns.id, columns.name)
}
