import Larder
import LarderPostgres
import LarderTerminal

/// A PostgreSQL server's database, by its address on the command line.
struct ServerDatabase {
  private let address: String
  /// The database's name in messages, without its password or anything that may be a part of one.
  let name: String
  /// The schema of `--schema`; nil for the first one of the search path.
  let schema: String?
  private let configuration: PostgresConfiguration

  /// Whether a text is a URL, or libpq's pairs such as `dbname=app`. A file of such a name needs its folder:
  /// `./dbname=app`.
  static func isAddress(_ text: String) -> Bool { PostgresPool.isAddress(text) }

  init(_ address: String, _ invocation: Invocation) throws {
    self.address = address
    name = Self.withoutSecrets(address)
    schema = invocation.text("schema")
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    // No retries: a closure may have printed something already.
    configuration.retryLimit = nil
    configuration.readsText = true
    configuration.isolation = .repeatableRead
    // Only called by the tool's own statement, for the transaction that it runs in.
    if schema != nil { configuration.harmlessFunctions = ["set_config"] }
    if let seconds = try invocation.integer("wait", in: 0...86_400) {
      configuration.connectTimeout = .seconds(max(1, seconds))
    }
    self.configuration = configuration
  }

  /// An address without its password and parameters. Of an ambiguous address, only the scheme is left.
  static func withoutSecrets(_ address: String) -> String {
    guard let scheme = address.firstRange(of: "://") else {
      return PostgresPool.places(ofPairs: address) ?? "a server"
    }
    let rest = address[scheme.upperBound...]
    let path = rest.prefix { $0 != "?" && $0 != "#" }
    let authority = path.prefix { $0 != "/" }
    let isClear =
      !rest.contains("#") && path.count(where: { $0 == "@" }) <= 1
      && !path.dropFirst(authority.count).contains { "@:".contains($0) }
    guard isClear else { return "\(address[..<scheme.upperBound])…" }
    guard let sign = path.firstIndex(of: "@") else {
      // Without a user, a port follows the colon.
      let port = authority.split(separator: ":", maxSplits: 1).dropFirst().first ?? ""
      guard port.utf8.allSatisfy({ $0.decimalDigit != nil || $0 == comma }) else {
        return "\(address[..<scheme.upperBound])…"
      }
      return String(address[..<path.endIndex])
    }
    let user = path[..<sign].prefix { $0 != ":" }
    return "\(address[..<scheme.upperBound])\(user)\(path[sign...])"
  }

  /// Calls a closure with a read-only connection, in one snapshot. Ctrl-C interrupts it.
  ///
  /// The transaction is rolled back at its end: before PostgreSQL 16, a read-only one can write large
  /// objects.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    try reporting {
      let pool = try PostgresPool(address, configuration: configuration)
      defer { try? pool.close() }
      var result: T?
      do {
        try pool.read { db in
          result = try db.interruptible { db in
            try chooseSchema(db, inTransaction: true)
            return try body(db)
          }
          throw EndOfReading()
        }
      } catch is EndOfReading {}
      guard let result else { throw Failure("\(name): nothing was read") }
      return result
    }
  }

  private struct EndOfReading: Error {}

  /// Calls a closure with a connection that can write, outside a transaction.
  func connect<T>(_ body: (Database) throws -> T) throws -> T {
    try reporting {
      let db = try Database.postgres(address, configuration: configuration)
      defer { try? db.close() }
      return try db.interruptible { db in
        try chooseSchema(db, inTransaction: false)
        return try body(db)
      }
    }
  }

  private func reporting<T>(_ body: () throws -> T) throws -> T {
    Interruption.catchSignals()
    do {
      return try body()
    } catch let error as DatabaseError {
      try Interruption.check()
      throw failure(error)
    } catch let error as UnsupportedByEngine {
      throw Failure(.usage, "\(name): \(error)")
    }
  }

  func failure(_ error: DatabaseError) -> Failure {
    if error.isInterrupt { return Failure(.interrupted, "interrupted") }
    // libpq's messages have several lines.
    let message = error.message.replacing("\t", with: "").replacing("\n", with: " ")
    return Failure(error.code == .constraint ? .failed : .database, "\(name): \(message)")
  }
}

/// A database of the command line: a file, or a server's.
enum NamedDatabase {
  case file(DatabaseFile)
  case server(ServerDatabase)

  init(_ name: String, _ invocation: Invocation) throws {
    self =
      ServerDatabase.isAddress(name)
      ? .server(try ServerDatabase(name, invocation)) : .file(try DatabaseFile(name, invocation))
  }

  /// The database's name in messages.
  var name: String {
    switch self {
    case .file(let file): file.path
    case .server(let server): server.name
    }
  }

  /// Calls a closure with a read-only connection, in one snapshot.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    switch self {
    case .file(let file): try file.read(body)
    case .server(let server): try server.read(body)
    }
  }

  /// Calls a closure with a connection that can write, in one transaction.
  func write<T>(_ body: (Database) throws -> T) throws -> T {
    switch self {
    case .file(let file): try file.write(body)
    case .server(let server): try server.connect { db in try db.inTransaction { try body($0) } }
    }
  }

  func failure(_ error: DatabaseError) -> Failure {
    switch self {
    case .file(let file): file.failure(error)
    case .server(let server): server.failure(error)
    }
  }

  /// Calls a closure, and describes an error that the command line's SQL has caused, if there is any.
  func reportingSQL<T>(if runsSQL: Bool = true, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError where runsSQL {
      try Interruption.check()
      if case .server(let server) = self, error.code == .readOnly {
        throw Failure(
          .usage,
          "\(server.name): the SQL can't be run: only statements that are known to read are, unless --write is given"
        )
      }
      throw Failure(inSQL: error) ?? failure(error)
    }
  }
}

extension Failure {
  /// The failure with the passwords removed from those addresses that are among `words`.
  func withoutSecrets(of words: [String]) -> Failure {
    var message = message
    for word in words {
      guard let start = word.firstRange(of: "postgres")?.lowerBound else { continue }
      let address = String(word[start...])
      guard address.contains("://") else { continue }
      message = message.replacing(address, with: ServerDatabase.withoutSecrets(address))
    }
    return Failure(status, message)
  }
}
