import CLibPQ
import Larder
import LarderSQLite

/// The publication of a feed's tables, which tells the server what to decode.
///
/// Larder makes one for each set of tables, and for each feed that lasts, if the role may: it has to own the
/// tables, and to have CREATE on the database. Otherwise one that has the tables has to exist.
///
/// See [Publication](https://www.postgresql.org/docs/current/logical-replication-publication.html).
struct FeedPublication {
  private let name: String
  /// The tables, quoted and sorted, and their numbers.
  private let tables: [String]
  private let numbers: Set<Oid>

  init(_ name: String, of tables: [String], _ numbers: Set<Oid>) {
    self.name = name
    self.tables = tables
    self.numbers = numbers
  }

  /// The name of the publication of a feed that lasts.
  static func name(ofFeed feed: String) -> String { "larder_feed_\(feed)" }

  /// The name of the publication of feeds that don't last: `larder:public.city`, with a hash in place of names
  /// that are too long, or that could be taken for others without their quotes.
  static func name(of tables: [String]) -> String {
    let quoted = "larder:" + tables.joined(separator: ",")
    let name = quoted.replacing("\"", with: "")
    let isPlain = tables.allSatisfy { !$0.contains(",") && $0.count(where: { $0 == "." }) == 1 }
    if isPlain, name.utf8.count <= 63 { return name }
    return "larder:" + StatementNames.hash(quoted, []).dropFirst("larder_".count)
  }

  /// Makes the publication, or changes the tables that it has. Returns its name, whether it existed with other
  /// tables, and whether it is the feed's own.
  ///
  /// - Parameter isInUse: whether somebody follows the feed, who would miss the tables that are taken out: then 55006
  ///   is thrown in place of a change.
  func make(
    in db: Database, isInUse: Bool
  ) throws -> (name: String, hasChanged: Bool, isOwn: Bool) {
    for attempt in 0... {
      do {
        guard let (found, isComplete) = try published(by: name, in: db) else {
          try db.executeUpdate(
            SQL(raw: "CREATE PUBLICATION \(name.quotedIdentifier) FOR TABLE \(list)"))
          return (name, false, true)
        }
        if found == numbers, isComplete { return (name, false, true) }
        if isInUse {
          throw DatabaseError.ofFeed(
            "55006", "somebody follows the feed with other tables: \(name.quotedIdentifier)")
        }
        if !isComplete {
          try db.executeUpdate(
            SQL(
              raw: "ALTER PUBLICATION \(name.quotedIdentifier) SET "
                + "(publish = 'insert, update, delete, truncate')"))
        }
        try db.executeUpdate(
          SQL(raw: "ALTER PUBLICATION \(name.quotedIdentifier) SET TABLE \(list)"))
        return (name, true, true)
      } catch let error as DatabaseError {
        if error.sqlState == "42501" { return (try existing(in: db), false, false) }
        // Another feed makes the same.
        guard attempt < 10, ["42710", "23505", "XX000"].contains(error.sqlState) else {
          throw error
        }
      }
    }
    return (name, false, true)
  }

  /// Drops a publication, if there is one of the name.
  ///
  /// Whoever writes to one of its tables at that moment would fail with "cache lookup failed for publication": the
  /// server lists a table's publications, and then looks for one that is gone. So the tables are locked before, if this
  /// role may. Throws 55P03 if they aren't to be had in a fifth of a second, for which writers wait.
  static func drop(_ name: String, in db: Database) throws {
    let tables = try db.fetch(
      String.self,
      """
      SELECT r.prrelid::regclass::text FROM pg_catalog.pg_publication_rel r
        JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
        JOIN pg_catalog.pg_class c ON c.oid = r.prrelid
      WHERE p.pubname::text = \(name) AND (pg_catalog.has_table_privilege(c.oid, 'UPDATE')
        OR pg_catalog.pg_has_role(c.relowner, 'USAGE'))
      ORDER BY c.oid
      """)
    if !tables.isEmpty {
      let timeout = try db.value("SELECT current_setting('lock_timeout')", as: String.self)
      _ = try db.value("SELECT set_config('lock_timeout', '200ms', true)", as: String.self)
      try db.executeUpdate(
        SQL(raw: "LOCK TABLE \(tables.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE"))
      _ = try db.value("SELECT set_config('lock_timeout', \(timeout), true)", as: String.self)
    }
    try db.executeUpdate(SQL(raw: "DROP PUBLICATION IF EXISTS \(name.quotedIdentifier)"))
  }

  private var list: String { tables.map { "ONLY \($0)" }.joined(separator: ", ") }

  /// The tables of a publication, and whether it has all kinds of changes; nil if there is none of the name.
  private func published(
    by name: String, in db: Database
  ) throws -> (tables: Set<Oid>, isComplete: Bool)? {
    let rows = try db.executeQuery(
      """
      SELECT coalesce(r.prrelid, 0)::bigint,
        p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate
      FROM pg_catalog.pg_publication p
        LEFT JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid
      WHERE p.pubname::text = \(name)
      """)
    defer { rows.close() }
    var found: (tables: Set<Oid>, isComplete: Bool)?
    while try rows.next() {
      let number = Oid(truncatingIfNeeded: try rows.get(at: 0, as: Int64.self))
      found = (
        (found?.tables ?? []).union(number == 0 ? [] : [number]),
        try rows.get(at: 1, as: Bool.self)
      )
    }
    return found
  }

  /// The name of a publication of somebody else's that has all changes of the tables. Conditions and lists of
  /// columns, of which servers before 15 know nothing, would keep some back; and where partitions are told as the
  /// table that they are of, so would a TRUNCATE of one.
  private func existing(in db: Database) throws -> String {
    let wanted = numbers.sorted().map(String.init).joined(separator: ",")
    let rows = try db.executeQuery(
      SQL(
        raw: """
          SELECT p.pubname::text FROM pg_catalog.pg_publication p
          WHERE p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate
            AND (to_jsonb(p)->>'pubviaroot' IS DISTINCT FROM 'true' OR NOT EXISTS (
              SELECT FROM pg_catalog.pg_class c WHERE (c.relispartition OR c.relkind = 'p')
                AND c.oid::bigint = ANY('{\(wanted)}'::bigint[])))
            AND NOT EXISTS (
            SELECT FROM unnest('{\(wanted)}'::bigint[]) w (oid)
            WHERE NOT p.puballtables AND NOT EXISTS (
              SELECT FROM pg_catalog.pg_publication_rel r
              WHERE r.prpubid = p.oid AND r.prrelid::bigint = w.oid
                AND to_jsonb(r)->>'prqual' IS NULL AND to_jsonb(r)->>'prattrs' IS NULL))
          ORDER BY p.puballtables, p.pubname LIMIT 1
          """))
    defer { rows.close() }
    guard try rows.next() else {
      throw DatabaseError.ofFeed(
        "42501",
        "changes(of:) needs a publication, which this role can't make. The tables' owner can, with CREATE on "
          + "the database: CREATE PUBLICATION \(name.quotedIdentifier) FOR TABLE \(list)")
    }
    return try rows.get(at: 0, as: String.self)
  }
}
