import CLibPQ
import LarderSQLite

/// The publications by which a server decodes the commits to observed tables: one for each table, the same as
/// that of a feed. It is made if no other one has all changes of the table.
struct TablePublications {
  /// The names of the publications.
  private(set) var names: Set<String> = []
  /// The tables that they have, with their ``ObservedTables/stamp``s.
  private(set) var tables: [Oid: Int64] = [:]

  private let connection: ReplicationConnection

  private static let insufficientPrivilege = "42501"
  private static let duplicates = ["42710", "23505", "XX000"]

  private static func creation(_ table: String) -> [String] {
    ["CREATE PUBLICATION \(name(of: table)) FOR TABLE ONLY \(table)"]
  }

  private static func correction(_ table: String) -> [String] {
    [
      "ALTER PUBLICATION \(name(of: table)) SET TABLE ONLY \(table)",
      "ALTER PUBLICATION \(name(of: table)) SET (publish = 'insert, update, delete, truncate')",
    ]
  }

  private static func name(of table: String) -> String {
    FeedPublication.name(of: [table]).quotedIdentifier
  }

  /// Finds or makes the publications of tables. Leaves out those of which the server can't decode all
  /// changes, or that belong to others.
  init(of wanted: Set<Oid>, on connection: ReplicationConnection) throws {
    self.connection = connection
    var found = try look(for: wanted)
    // Somebody else may have just made the same; or one of this name isn't what it was.
    for step in [Self.creation, Self.correction] {
      let missing = found.filter { $0.publication == nil && $0.isPublishable }
      if missing.isEmpty { break }
      for table in missing { try run(step(table.name)) }
      found = try look(for: wanted)
    }
    for table in found where table.isLogged {
      guard let name = table.publication else { continue }
      names.insert(name)
      tables[table.number] = table.stamp
    }
  }

  /// Runs statements, unless the table or publication is another role's, or somebody has done the same.
  private func run(_ statements: [String]) throws {
    do {
      for sql in statements { try connection.run(sql) }
    } catch let failure as PostgresFailure
      where failure.sqlState == Self.insufficientPrivilege
      || Self.duplicates.contains(failure.sqlState)
    {}
  }

  private struct Found {
    let number: Oid
    /// The schema and the name, quoted.
    let name: String
    let isLogged: Bool
    /// Whether it can be published: the server would refuse updates of a published table without a key.
    let isPublishable: Bool
    let publication: String?
    let stamp: Int64
  }

  private func look(for tables: Set<Oid>) throws -> [Found] {
    let list = tables.sorted().map(String.init).joined(separator: ",")
    let rows = try connection.run(
      """
      SELECT c.oid, quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relpersistence = 'p',
        c.relpersistence = 'p' AND (c.relreplident = 'f' OR c.relreplident <> 'n' AND EXISTS (
          SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND i.indimmediate
          AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END)),
        (SELECT p.pubname FROM pg_catalog.pg_publication p
          WHERE p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate AND (p.puballtables
            OR EXISTS (SELECT FROM pg_catalog.pg_publication_rel r
              WHERE r.prpubid = p.oid AND r.prrelid = c.oid
              AND to_jsonb(r)->>'prqual' IS NULL AND to_jsonb(r)->>'prattrs' IS NULL))
          ORDER BY p.puballtables, p.pubname LIMIT 1), \(ObservedTables.stamp)
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.oid = ANY('{\(list)}'::oid[]) AND c.relkind = 'r' ORDER BY c.oid
      """)
    return rows.compactMap { row in
      guard row.count == 6, let number = row[0].flatMap({ Oid($0) }), let name = row[1],
        let stamp = row[5].flatMap({ Int64($0) })
      else { return nil }
      return Found(
        number: number, name: name, isLogged: row[2] == "t", isPublishable: row[3] == "t",
        publication: row[4], stamp: stamp)
    }
  }
}
