import FoundationEssentials
import LarderSQLite

/// A private database to try things on, deleted with this object. Nothing leads out: databases that were
/// attached when it was opened are replaced by copies, and no others can be attached.
final class DatabaseCopy {
  let db: Database
  private var folder: String?

  /// - Parameter db: a database that no other code uses.
  init(_ db: Database) throws {
    self.db = db
    let attached = try db.executeQuery(
      "SELECT name, file FROM pragma_database_list WHERE seq > 1 ORDER BY seq"
    ).map { (name: try $0.get(at: 0, as: String.self), file: try $0.get(at: 1, as: String?.self)) }
    // Attached databases in memory belong to this connection alone.
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
    // SQLite creates an attached file only when it is first written.
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
  /// A copy in a temporary file: of the committed state, or of what this connection's transaction sees.
  func temporaryCopy(trace: (@Sendable (TraceEvent) -> Void)? = nil) throws -> DatabaseCopy {
    var configuration = configuration
    configuration.readOnly = false
    configuration.journalMode = nil
    configuration.log = nil
    configuration.trace = trace
    configuration.slowStatementThreshold = .zero
    let copy = try Database(path: "", configuration: configuration)
    // In one step: with several, the copy would start again after every write by another connection.
    try backup(to: copy, pagesPerStep: 0)
    return try DatabaseCopy(copy)
  }
}
