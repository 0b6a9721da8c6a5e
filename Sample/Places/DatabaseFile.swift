import FoundationEssentials
import Glibc
import Larder

/// Where the gazetteer is kept, and how it is opened.
struct DatabaseFile {
  let path: String
  private let configuration: Configuration

  init(_ invocation: Invocation) throws {
    path = invocation.text("database") ?? Self.defaultPath
    if path.isEmpty { throw Failure(.usage, "--database needs the name of a file") }
    var configuration = Configuration()
    if let seconds = try invocation.integer("wait", in: 0...86_400) {
      configuration.busyTimeout = .seconds(seconds)
    }
    let pages = try invocation.integer("max-pages", in: 1...Int(Int32.max))
    configuration.prepareDatabase = { db in
      try Coordinate.registerDistance(db)
      // The limit is the connection's, and not kept in the file.
      if let pages {
        _ = try db.value(SQL(raw: "PRAGMA max_page_count = \(pages)"), as: Int.self)
      }
    }
    self.configuration = configuration
  }

  /// Opens a database that is there for commands that only look at it.
  func openForReading() throws -> DatabaseQueue {
    let queue = try openAsItIs(readOnly: true)
    try queue.read(Schema.checkIsCurrent)
    return queue
  }

  /// Opens a database that is there for commands that change it.
  func openForWriting() throws -> DatabaseQueue {
    let queue = try openAsItIs(readOnly: false)
    try queue.read(Schema.checkIsCurrent)
    return queue
  }

  /// Opens a database that is there for many tasks.
  func openPool(readers: Int) throws -> DatabasePool {
    try checkIsThere()
    var configuration = configuration
    configuration.maximumReaders = readers
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.read(Schema.checkIsCurrent)
    return pool
  }

  /// Opens a database that is there, of whatever version.
  func openAsItIs(readOnly: Bool) throws -> DatabaseQueue {
    try checkIsThere()
    var configuration = configuration
    configuration.readOnly = readOnly
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Opens a database as it is, or makes an empty one, with the folder that it lies in.
  func openOrCreate() throws -> DatabaseQueue {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  private func checkIsThere() throws {
    if access(path, F_OK) == 0 { return }
    throw Failure(.database, "\(path): there is no database here; “gazetteer import” makes one")
  }

  static let defaultDescription = "gazetteer.db in ~/.cache/larder-gazetteer"

  private static var defaultPath: String {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    let cache = variable("XDG_CACHE_HOME") ?? (variable("HOME") ?? ".") + "/.cache"
    return cache + "/larder-gazetteer/gazetteer.db"
  }
}
