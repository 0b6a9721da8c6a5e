import FoundationEssentials
import Larder
import LarderReplication
import LarderTerminal

extension Command {
  static let log = Command(
    name: "log", arguments: "LOG", argumentCount: 1...1,
    summary: "Shows what a continuous log has: times, sizes, gaps and migrations.",
    details: """
      LOG is the folder that a program ships its databases' logs to. For each database, each line is a
      generation: the moments from a whole copy on that can be restored.

      Example:
        larder log /mnt/backup
        larder log /mnt/backup --name cities.db --json
      """,
    options: [Option("name", "NAME", "only this database")]
  ) { invocation in
    let sink = try LogFolder.open(invocation)
    let summaries = try LogFolder.failing(invocation) {
      try LogSummary.read(sink, name: invocation.text("name"))
    }
    if invocation.wantsJSON { return try Output.showJSON(summaries) }
    if summaries.isEmpty { throw Failure("\(invocation.arguments[0]): there is no log") }
    for summary in summaries {
      print(summary.database.printable)
      var table = TextTable("from", "to", "moments", "bytes", "generation", numbers: [2, 3])
      for generation in summary.generations {
        table.add(
          generation.from ?? "no whole copy", generation.to ?? "", String(generation.points),
          String(generation.bytes), generation.name)
      }
      table.show(indent: "  ")
      for generation in summary.generations {
        if let gap = generation.gap { print("  gap in \(generation.name): \(gap)") }
        for migration in generation.migrations {
          let before = migration.before.map { "last before it: \($0)" } ?? "nothing before it"
          print("  migration \(migration.name.printable) (\(before))")
        }
      }
    }
    try Output.finish()
  }

  static let verifyLog = Command(
    name: "verify-log", arguments: "LOG", argumentCount: 1...1,
    summary: "Restores the last moment of a log for a test, and checks all of it.",
    details: """
      Fetches the newest whole copy and the segments after it, verifies each object's checksum and the chain,
      and runs SQLite's integrity_check on the database that comes of them, which is removed afterwards. Run it
      each night: a backup that was never restored is a hope.

      Example:
        larder verify-log /mnt/backup --name cities.db
        larder verify-log /mnt/backup --at 2026-11-27T12:00:00Z
      """,
    options: [
      Option("name", "NAME", "the database, if there are several"),
      Option("at", "MOMENT", "another moment: a time, or a position as “larder log” shows it"),
      Option("in", "FOLDER", "where to put the database meanwhile"),
    ]
  ) { invocation in
    let sink = try LogFolder.open(invocation)
    let parent = invocation.text("in") ?? FileManager.default.temporaryDirectory.path
    let folder = parent + "/larder-" + UUID().uuidString
    try LogFolder.makeFolder(folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let position = try LogFolder.failing(invocation) {
      try ReplicatedDatabase.restore(
        from: sink, name: invocation.text("name"), to: folder + "/restored.db",
        at: LogFolder.moment(invocation), check: .full)
    }
    try RestoredMoment(position: "\(position)").show(invocation)
  }
}

/// The printed result of a restoration: the position.
struct RestoredMoment: Encodable {
  let position: String

  func show(_ invocation: Invocation) throws {
    try invocation.show(self, ["\(position): complete, and without damage"])
  }
}

/// A folder with logs, as an argument.
enum LogFolder {
  /// Whether a path is that of a folder.
  static func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }

  static func open(_ invocation: Invocation, argument: Int = 0) throws -> FolderSink {
    let path = invocation.arguments[argument]
    guard isFolder(path) else { throw Failure(.database, "\(path): there is no such folder") }
    return try failing(invocation, argument: argument) { try FolderSink(path) }
  }

  static func makeFolder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure(.database, "\(path): the folder can't be created")
    }
  }

  /// The moment that the options name.
  static func moment(_ invocation: Invocation) throws -> ReplicatedDatabase.Moment {
    guard let text = invocation.text("at"), text != "latest" else { return .latest }
    if let position = ReplicatedDatabase.Position(text) { return .position(position) }
    let style = Date.ISO8601FormatStyle()
    for style in [style, Date.ISO8601FormatStyle(includingFractionalSeconds: true)] {
      if let date = try? Date(text, strategy: style) { return .time(date) }
    }
    throw Failure(
      .usage, "--at takes a time such as 2026-11-27T12:00:00Z, or a position: \(text)")
  }

  /// Calls a closure, and describes its errors to the user.
  static func failing<T>(
    _ invocation: Invocation, argument: Int = 0, _ body: () throws -> T
  ) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw Failure(
        error.code == .notFound ? .failed : .database,
        "\(invocation.arguments[argument]): \(error.message)")
    }
  }
}
