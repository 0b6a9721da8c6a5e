import FoundationEssentials
import Glibc
import Larder
import LarderTerminal

/// A schema as a file of its own, which `schema` writes and `diff` reads: the statements that make it.
struct SchemaDocument: Codable {
  /// Tells what the file is.
  let format: String
  /// In an order in which they can run.
  let statements: [String]

  static let format = "larder schema 1"

  /// That of a database: what SQLite makes by itself is left out.
  init(_ db: Database) throws {
    var kinds: [String: String] = [:]
    try db.executeQuery("SELECT name, type FROM pragma_table_list WHERE schema = 'main'").forEach {
      kinds[try $0.get(at: 0)] = try $0.get(at: 1)
    }
    let entries = try db.schema().filter { entry in
      entry.sql != nil && kinds[entry.table] != "shadow"
        && !entry.name.lowercased().hasPrefix("sqlite_")
    }
    // Whatever is made before what may refer to it.
    let order: [SchemaEntry.Kind] = [.table, .index, .view, .trigger]
    format = Self.format
    statements = order.flatMap { kind in
      entries.filter { $0.kind == kind }.compactMap(\.sql)
    }
  }

  /// Reads one from a file's bytes. Throws ``Failure`` where it is none.
  init(_ bytes: [UInt8], path: String) throws {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(bytes))
    } catch {
      throw Failure(
        .database, "\(path): this is neither a database nor what “larder schema --json” prints")
    }
    guard format == Self.format else {
      throw Failure(.database, "\(path): the form “\(format.prefix(40))” of the schema isn't known")
    }
  }

  /// The schema, made in memory.
  func schema(path: String) throws -> Schema {
    var configuration = Configuration()
    // Statements may come from anywhere: none attaches a file or takes for ever.
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
  /// That of a database, a server's address or a file that `schema --json` has written.
  static func read(_ path: String, _ invocation: Invocation) throws -> Schema {
    if ServerDatabase.isAddress(path) {
      return try ServerDatabase(path, invocation).read { try Schema($0) }
    }
    if let bytes = try SchemaFile.bytes(path) {
      return try SchemaDocument(bytes, path: path).schema(path: path)
    }
    return try DatabaseFile(path, invocation).read { try Schema($0) }
  }
}

/// A file that may be a schema as JSON.
enum SchemaFile {
  /// More than any schema needs.
  private static let mostBytes = 64 << 20

  /// What it holds; nil for what isn't JSON, and for what isn't a file.
  static func bytes(_ path: String) throws -> [UInt8]? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard let type = attributes?[.type] as? FileAttributeType, type != .typeDirectory,
      type == .typeRegular || type == .typeSymbolicLink,
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
