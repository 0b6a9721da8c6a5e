import FoundationEssentials
import Glibc
import Larder
import LarderTerminal

/// The file with a schema's statements that `schema` writes and `diff` reads.
struct SchemaDocument: Codable {
  /// The file's format and its version.
  let format: String
  /// The CREATE statements, in an order in which they can run.
  let statements: [String]
  /// The engine whose SQL the statements are; nil for SQLite.
  var engine: String?

  static let format = "larder schema 1"

  /// The schema of a database, without the objects that SQLite creates itself.
  init(_ db: Database) throws {
    format = Self.format
    if let engine = db.engine {
      self.engine = engine.name
      statements = try ServerStatements(db).statements
      return
    }
    var kinds: [String: String] = [:]
    try db.executeQuery("SELECT name, type FROM pragma_table_list WHERE schema = 'main'").forEach {
      kinds[try $0.get(at: 0)] = try $0.get(at: 1)
    }
    let entries = try db.schema().filter { entry in
      entry.sql != nil && kinds[entry.table] != "shadow"
        && !entry.name.lowercased().hasPrefix("sqlite_")
    }
    // Objects come before those that may refer to them.
    let order: [SchemaEntry.Kind] = [.table, .index, .view, .trigger]
    statements = order.flatMap { kind in
      entries.filter { $0.kind == kind }.compactMap(\.sql)
    }
  }

  /// Decodes a file's bytes. Throws ``Failure`` if they aren't such a document.
  init(_ bytes: [UInt8], path: String) throws {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(bytes))
    } catch {
      throw Failure(
        .database, "\(path): this is neither a database nor the output of “larder schema --json”")
    }
    guard format == Self.format else {
      throw Failure(.database, "\(path): the schema's format “\(format.prefix(40))” is unknown")
    }
  }

  /// The schema, created in a database in memory.
  func schema(path: String) throws -> Schema {
    guard engine == nil else {
      throw Failure(
        .usage, "\(path): a server's schema is compared by the server's address, not by a file")
    }
    var configuration = Configuration()
    // The statements aren't trusted: they can't attach a file, and have a deadline.
    configuration.limits = [.attached: 0]
    configuration.statementDeadline = .seconds(10)
    let db = try Database(configuration: configuration)
    for statement in statements {
      guard statement.prefix(6).lowercased() == "create" else {
        throw Failure(.database, "\(path): a statement of the schema doesn't begin with CREATE")
      }
      do {
        try db.executeUpdate(SQL(raw: statement))
      } catch let error as DatabaseError {
        throw Failure(
          .database, "\(path): “\(statement.prefix(60))” can't be run: \(error.message)")
      }
    }
    return try Schema(db)
  }
}

extension Schema {
  /// Reads the schema of a database file, a server's database, or a file that `schema --json` wrote.
  static func read(_ path: String, _ invocation: Invocation) throws -> Schema {
    if ServerDatabase.isAddress(path) {
      let server = try ServerDatabase(path, invocation)
      return try server.read { db in
        try server.noteOtherSchemas(db)
        return try Schema(db)
      }
    }
    if let bytes = try SchemaFile.bytes(path) {
      return try SchemaDocument(bytes, path: path).schema(path: path)
    }
    return try DatabaseFile(path, invocation).read { try Schema($0) }
  }
}

/// A file that may be a schema as JSON.
enum SchemaFile {
  /// The size limit, larger than any schema needs.
  private static let mostBytes = 64 << 20

  /// The file's bytes; nil if it doesn't begin like a JSON object, or isn't a regular file.
  static func bytes(_ path: String) throws -> [UInt8]? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let handle = fopen(path, "re")
    else { return nil }
    defer { fclose(handle) }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    var result: [UInt8] = []
    while case let count = fread(&bytes, 1, bytes.count, handle), count > 0 {
      result += bytes[..<count]
      let first = result.first { !" \t\r\n".utf8.contains($0) }
      guard first == UInt8(ascii: "{"), result.count <= mostBytes else { return nil }
    }
    return result.isEmpty ? nil : result
  }
}
