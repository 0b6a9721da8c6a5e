import CLibPQ
import Larder
import LarderSQLite

/// What a table whose changes are sent is to a feed that doesn't follow it by its own name.
enum FeedPart {
  /// A partition of a followed table, and told as that.
  case partition(FeedTable.Name)
  /// A table that may have been a partition of a followed one when its rows were changed, and is none any more.
  case doubtful
  case none
}

/// A table that a feed is to follow.
struct FeedTable {
  struct Name {
    let schema: String
    let table: String

    var quoted: String { "\(schema.quotedIdentifier).\(table.quotedIdentifier)" }
  }

  let number: Oid
  let name: Name
  let columns: [OutputRelation.Column]
  /// The tables that have the rows of a partitioned one.
  let partitions: [FeedTable]
  let isPartitioned: Bool

  /// Finds a table. Throws if it doesn't exist, or if the server can't report its changes.
  init(_ name: String, needsWholeRows: Bool, in db: Database) throws {
    guard let number = try Self.number(of: name, isRecords: needsWholeRows, in: db) else {
      throw DatabaseError.ofFeed("42P01", "no such table: \(name)")
    }
    try self.init(number, name, needsWholeRows: needsWholeRows, in: db)
  }

  private init(_ number: Int, _ name: String, needsWholeRows: Bool, in db: Database) throws {
    self.number = Oid(truncatingIfNeeded: number)
    let rows = try db.executeQuery(
      """
      SELECT n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text,
        c.relreplident::text, EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
          AND i.indimmediate AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END)
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.oid::bigint = \(number)
      """)
    guard try rows.next() else { throw DatabaseError.ofFeed("42P01", "no such table: \(name)") }
    self.name = Name(
      schema: try rows.get(at: 0, as: String.self), table: try rows.get(at: 1, as: String.self))
    let kind = try rows.get(at: 2, as: String.self)
    isPartitioned = kind == "p"
    let isLogged = try rows.get(at: 3, as: String.self) == "p"
    let identity = try rows.get(at: 4, as: String.self)
    let hasKey = try rows.get(at: 5, as: Bool.self)
    rows.close()
    columns = try Self.columns(of: number, in: db)
    partitions =
      try isPartitioned
      ? Self.partitions(of: number, in: db).map {
        try FeedTable($0, name, needsWholeRows: needsWholeRows, in: db)
      } : []
    // The rows of a partitioned table are reported as its partitions report them.
    if isPartitioned { return }
    let quotedName = self.name.quoted
    guard kind == "r", isLogged else {
      throw DatabaseError.ofFeed(
        SQLState.notSupported,
        "the changes of \(quotedName) can't be followed: it isn't an ordinary, logged table")
    }
    // The server would refuse updates of a published table without a key.
    guard identity == "f" || !needsWholeRows && hasKey && identity != "n" else {
      throw DatabaseError.ofFeed(
        SQLState.wrongState,
        needsWholeRows
          ? Self.reportsKeyOnly(self.name)
          : "\(quotedName) has no key by which a row that was is known: \(Self.remedy(quotedName))")
    }
    guard needsWholeRows else { return }
    let generated = try db.value(
      """
      SELECT attname::text FROM pg_catalog.pg_attribute WHERE attrelid::bigint = \(number)
        AND attnum > 0 AND NOT attisdropped AND attgenerated <> ''
      """, as: String.self)
    if let generated {
      throw DatabaseError.ofFeed(
        SQLState.notSupported,
        "\(quotedName).\(generated.quotedIdentifier) is a generated column, whose values the server doesn't "
          + "report: follow the table by its name, not by its record")
    }
  }

  /// An error's text for a table whose old rows a feed of records can't read.
  static func reportsKeyOnly(_ name: Name) -> String {
    "\(name.quoted) reports only the key of a row as it was: \(remedy(name.quoted))"
  }

  private static func remedy(_ table: String) -> String {
    "ALTER TABLE \(table) REPLICA IDENTITY FULL"
  }

  private static func partitions(of table: Int, in db: Database) throws -> [Int] {
    try db.fetch(
      Int.self,
      "SELECT relid::oid::bigint FROM pg_catalog.pg_partition_tree(\(table)) WHERE isleaf ORDER BY 1"
    )
    .filter { $0 != table }
  }

  private static func columns(
    of table: Int, in db: Database
  ) throws -> [OutputRelation.Column] {
    let rows = try db.executeQuery(
      """
      SELECT attname::text, atttypid::bigint FROM pg_catalog.pg_attribute
      WHERE attrelid::bigint = \(table) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
      ORDER BY attnum
      """)
    defer { rows.close() }
    var columns: [OutputRelation.Column] = []
    while try rows.next() {
      columns.append(
        .init(
          name: try rows.get(at: 0, as: String.self),
          type: Oid(truncatingIfNeeded: try rows.get(at: 1, as: Int64.self)), isKey: false))
    }
    return columns
  }

  /// Finds a table's number. The part of a name before the first dot is a schema, if there is one of the
  /// name. A record without a schema has `main.` there, as for SQLite.
  private static func number(of name: String, isRecords: Bool, in db: Database) throws -> Int? {
    func find(_ parts: [String]) throws -> Int? {
      let quoted = parts.map(\.quotedIdentifier).joined(separator: ".")
      return try db.value("SELECT to_regclass(\(quoted))::oid::bigint", as: Int?.self) ?? nil
    }
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return try find([name]) }
    let (schema, table) = (String(name[..<dot]), String(name[name.utf8.index(after: dot)...]))
    let isMain = schema == "main"
    if isMain, isRecords, let found = try find([table]) { return found }
    return try find([schema, table]) ?? find([name]) ?? (isMain ? find([table]) : nil)
  }
}
