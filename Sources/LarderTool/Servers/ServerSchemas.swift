import Larder
import LarderPostgres
import LarderTerminal

// The schemas of a server's database: the one that a command works on, and the others.

extension Option {
  static let schema = Option(
    "schema", "NAME", "on a server: this schema, not the first one of the search path")
}

extension ServerDatabase {
  /// Makes the schema of `--schema` the first one of the connection's search path, where commands look for
  /// tables. Throws ``Failure`` if there is no such schema.
  func chooseSchema(_ db: Database, inTransaction: Bool) throws {
    guard let schema else { return }
    let isThere = try db.value(
      "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = \(schema)::text)", as: Bool.self)
    guard isThere == true else {
      let others = try Self.otherSchemas(db)
      let list = others.map { "“\($0)”" }.joined(separator: ", ")
      throw Failure(
        "\(name): there is no schema “\(schema)”"
          + (others.isEmpty ? "" : "; others with tables are \(list)"))
    }
    // A read scope refuses SET.
    let path = try db.value("SELECT current_setting('search_path')", as: String.self) ?? ""
    let others = path.isEmpty ? "" : ", \(path)"
    try db.executeQuery(
      "SELECT set_config('search_path', \(schema.quotedIdentifier + others), \(inTransaction))"
    ).forEach { _ in }
  }

  /// The schemas that have tables or views, besides the current one.
  static func otherSchemas(_ db: Database) throws -> [String] {
    try db.executeQuery(
      """
      SELECT n.nspname::text FROM pg_namespace n
      WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND n.nspname IS DISTINCT FROM current_schema()
        AND EXISTS (SELECT 1 FROM pg_class c
          WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND NOT EXISTS (SELECT 1 FROM pg_depend d
              WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'))
      ORDER BY n.nspname COLLATE "C"
      """
    ).map { try $0.get(at: 0) }
  }

  /// A sentence that names the schemas a command has left out; nil if there are none, or if `--schema` was
  /// given.
  func remarkOnOtherSchemas(_ db: Database) throws -> String? {
    guard schema == nil else { return nil }
    let others = try Self.otherSchemas(db)
    guard !others.isEmpty else { return nil }
    let current = try db.value("SELECT current_schema()::text", as: String?.self) ?? nil
    let list = others.map { "“\($0)”" }.joined(separator: ", ")
    return (current.map { "this is the schema “\($0)”" } ?? "the search path has no schema")
      + "; --schema reads another one: \(list)"
  }

  /// Notes the schemas that a command leaves out on the standard error.
  func noteOtherSchemas(_ db: Database) throws {
    guard let remark = try remarkOnOtherSchemas(db) else { return }
    Output.note("larder: \(name.printable): \(remark.printable)")
  }
}

extension ServerDatabase {
  /// The partitioned tables of the first schema of the search path. They have no rows of their own.
  static func partitionedTables(_ db: Database) throws -> Set<String> {
    let names: [String] = try db.executeQuery(
      """
      SELECT relname::text FROM pg_class
      WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace
      """
    ).map { try $0.get(at: 0) }
    return Set(names)
  }

  /// The tables that inherit from others, as phrases for a copy's report.
  static func inheritances(_ db: Database) throws -> [String] {
    try db.executeQuery(
      """
      SELECT c.relname::text, p.relname::text FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
      WHERE c.relkind = 'r' AND NOT c.relispartition
        AND c.relnamespace = current_schema()::regnamespace
      ORDER BY c.relname, i.inhseqno
      """
    ).map {
      "the inheritance of “\(try $0.get(at: 0, as: String.self))” from “\(try $0.get(at: 1, as: String.self))”"
    }
  }
}

extension NamedDatabase {
  /// Notes the schemas that a command leaves out; a file has none.
  func noteOtherSchemas(_ db: Database) throws {
    if case .server(let server) = self { try server.noteOtherSchemas(db) }
  }
}
