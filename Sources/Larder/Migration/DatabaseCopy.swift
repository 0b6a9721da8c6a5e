import FoundationEssentials
import LarderSQLite

/// A database of one's own to try things on, such as a copy of another, out of which nothing leads:
/// what was attached to it when it was opened is replaced by copies too, and nothing else can be
/// attached. It goes away with this object.
final class DatabaseCopy {
  let db: Database
  private var folder: String?

  /// - Parameter db: a database that nobody else uses.
  init(_ db: Database) throws {
    self.db = db
    let attached = try db.executeQuery(
      "SELECT name, file FROM pragma_database_list WHERE seq > 1 ORDER BY seq"
    ).map { (name: try $0.get(at: 0, as: String.self), file: try $0.get(at: 1, as: String?.self)) }
    // Those in memory are this connection's own.
    for (name, file) in attached { if let file, !file.isEmpty { try replace(name, file) } }
    try db.setLimit(.attached, attached.count)
  }

  deinit {
    try? db.close()
    if let folder { try? FileManager.default.removeItem(atPath: folder) }
  }

  private func replace(_ name: String, _ file: String) throws {
    let folder = try self.folder ?? Self.makeFolder()
    self.folder = folder
    let copy = folder + "/\(name.utf8.count)-\(UUID().uuidString).db"
    // What was attached is made when it is first written.
    if FileManager.default.fileExists(atPath: file) {
      var configuration = Configuration()
      configuration.readOnly = true
      configuration.vfs = db.configuration.vfs
      configuration.busyTimeout = db.busyTimeout
      try Database(path: file, configuration: configuration).backup(to: copy, pagesPerStep: 0)
    }
    try db.executeUpdate("DETACH \(identifier: name)")
    try db.executeUpdate("ATTACH \(copy) AS \(identifier: name)")
  }

  private static func makeFolder() throws -> String {
    let path = FileManager.default.temporaryDirectory.path + "/larder-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return path
  }
}

extension Database {
  /// A copy of the database in a temporary file, as it is committed, or as this connection's read
  /// transaction sees it.
  func temporaryCopy(
    trace: (@Sendable (TraceEvent) -> Void)? = nil
  ) throws -> DatabaseCopy {
    var configuration = configuration
    configuration.readOnly = false
    configuration.journalMode = nil
    configuration.log = nil
    configuration.trace = trace
    configuration.slowStatementThreshold = .zero
    let copy = try Database(path: "", configuration: configuration)
    // In one step: in several it would begin anew whenever somebody has written.
    try backup(to: copy, pagesPerStep: 0)
    return try DatabaseCopy(copy)
  }
}
