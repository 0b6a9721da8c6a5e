import FoundationEssentials
import Glibc
import Larder
import LarderPostgres
import LarderTerminal

/// Where the gazetteer is kept, in a file or on a PostgreSQL server, and how it is opened.
struct DatabaseLocation {
  /// What to call it: the file, or the server's database without its address, which may hold a password.
  let name: String
  private let place: Place

  private enum Place {
    case file(Configuration)
    case server(address: String, PostgresConfiguration)
  }

  init(_ invocation: Invocation) throws {
    let text = invocation.text("database") ?? Self.defaultPath
    if text.isEmpty { throw Failure(.usage, "--database needs the name of a file") }
    let seconds = try invocation.integer("wait", in: 0...86_400)
    let pages = try invocation.integer("max-pages", in: 1...Int(Int32.max))
    if Self.schemes.contains(where: text.hasPrefix) {
      if pages != nil { throw Failure(.usage, "--max-pages is for files") }
      name = Self.serverName(text)
      place = .server(address: text, Self.configuration(wait: seconds))
    } else {
      name = text
      place = .file(Self.configuration(wait: seconds, maximumPages: pages))
    }
  }

  var isServer: Bool { if case .server = place { true } else { false } }

  private static func configuration(wait seconds: Int?, maximumPages: Int?) -> Configuration {
    var configuration = Configuration()
    if let seconds { configuration.busyTimeout = .seconds(seconds) }
    configuration.prepareDatabase = { db in
      try Coordinate.registerDistance(db)
      // The limit is the connection's, and not kept in the file.
      if let maximumPages {
        _ = try db.value(SQL(raw: "PRAGMA max_page_count = \(maximumPages)"), as: Int.self)
      }
    }
    return configuration
  }

  private static func configuration(wait seconds: Int?) -> PostgresConfiguration {
    var configuration = PostgresConfiguration()
    if let seconds { configuration.retryLimit = .seconds(seconds) }
    return configuration
  }

  // MARK: Opening

  /// Opens a database that is there for commands that only look at it.
  func openForReading() throws -> any DatabaseAccess {
    let store = try openAsItIs(readOnly: true)
    try store.read { try Schema.checkIsCurrent($0, name) }
    return store
  }

  /// Opens a database that is there for commands that change it.
  func openForWriting() throws -> any DatabaseAccess {
    let store = try openAsItIs(readOnly: false)
    try store.read { try Schema.checkIsCurrent($0, name) }
    return store
  }

  /// Opens a database that is there for many tasks.
  ///
  /// - Parameter readers: how many connections read; on a server they write too.
  func openPool(readers: Int) throws -> any DatabaseAccess {
    let pool: any DatabaseAccess
    switch place {
    case .file(var configuration):
      try checkIsThere()
      configuration.maximumReaders = readers
      pool = try DatabasePool(path: name, configuration: configuration)
    case .server(let address, var configuration):
      configuration.connections = readers
      pool = try PostgresPool(address, configuration: configuration)
    }
    try pool.read { try Schema.checkIsCurrent($0, name) }
    return pool
  }

  /// Opens a database that is there, of whatever version.
  func openAsItIs(readOnly: Bool) throws -> any DatabaseAccess {
    switch place {
    case .file(var configuration):
      try checkIsThere()
      configuration.readOnly = readOnly
      return try DatabaseQueue(path: name, configuration: configuration)
    case .server(let address, let configuration):
      return try PostgresPool(address, configuration: configuration)
    }
  }

  /// Opens a database as it is, or makes an empty file, with the folder that it lies in. A server's database
  /// has to be there.
  func openOrCreate() throws -> any DatabaseAccess {
    guard case .file(let configuration) = place else { return try openAsItIs(readOnly: false) }
    let folder = URL(fileURLWithPath: name).deletingLastPathComponent()
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try DatabaseQueue(path: name, configuration: configuration)
  }

  private func checkIsThere() throws {
    if access(name, F_OK) == 0 { return }
    throw Failure(.database, "\(name): there is no database here; “gazetteer import” makes one")
  }

  // MARK: Names

  private static let schemes = ["postgres://", "postgresql://"]

  /// The address without user, password and host: `postgres:///app`.
  private static func serverName(_ address: String) -> String {
    let path =
      address.split(separator: "?", omittingEmptySubsequences: false)[0]
      .split(separator: "/", omittingEmptySubsequences: false).dropFirst(3).first ?? ""
    return "postgres:///\(path)"
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
