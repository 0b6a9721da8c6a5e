import CLibPQ
import Larder
import LarderSQLite

/// What a feed needs of the server, which is checked, and as far as possible made, before it begins.
struct FeedPlan: Sendable {
  let changeLimit, byteLimit: Int
  /// The feed's tables, by the server's numbers, with the columns that they have now.
  let tables: [Oid: [OutputRelation.Column]]
  /// The name of the publication that has the tables.
  let publication: String
  /// The name of the slot that lasts; nil for a temporary one.
  let slot: String?
  /// The position from which the slot goes on; nil if it doesn't exist.
  var slotPosition: UInt64?
  /// Whether the slot has been used for other tables.
  let hasOtherTables: Bool

  var limit: FeedAmount { FeedAmount(changes: changeLimit, bytes: byteLimit) }

  /// Looks at the server, and makes the publication if there is none. Throws errors that say what to set.
  init(_ wish: FeedWish, _ db: Database) throws {
    (changeLimit, byteLimit) = (wish.changeLimit, wish.byteLimit)
    try Self.checkServer(db)
    let found = try wish.tables.map {
      try FeedTable($0, needsWholeRows: wish.needsWholeRows, in: db)
    }
    tables = Dictionary(found.map { ($0.number, $0.columns) }) { first, _ in first }
    slot = try wish.name.map { try Self.slotName($0, in: db) }
    if let slot { slotPosition = try Self.position(of: slot, in: db) }
    let names = Set(found.map(\.quotedName)).sorted()
    let made = try FeedPublication(
      wish.name.map(FeedPublication.name(ofFeed:)) ?? FeedPublication.name(of: names), of: names,
      Set(tables.keys)
    ).make(in: db)
    publication = made.name
    hasOtherTables = slotPosition != nil && made.hasChanged
  }

  // MARK: The server

  private static func checkServer(_ db: Database) throws {
    let rows = try db.executeQuery(
      """
      SELECT current_setting('wal_level'), current_user,
        (SELECT rolreplication OR rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)
      """)
    defer { rows.close() }
    guard try rows.next() else { return }
    let level = try rows.get(at: 0, as: String.self)
    guard level == "logical" else {
      throw PostgresDefinitions.unsupported(
        "changes(of:) while its wal_level is \(level): ALTER SYSTEM SET wal_level = 'logical', and restart it"
      )
    }
    guard try rows.get(at: 2, as: Bool.self) else {
      let user = try rows.get(at: 1, as: String.self).quotedIdentifier
      throw Self.error(
        "42501", "changes(of:) needs a role that may replicate: ALTER ROLE \(user) REPLICATION")
    }
  }

  static func error(_ sqlState: String, _ message: String) -> DatabaseError {
    DatabaseError(
      SQLState.resultCode(of: sqlState), message, engine: PostgresDefinitions.engine,
      sqlState: sqlState)
  }

  // MARK: The slot

  /// The name of a feed's slot. Slots are those of all databases of a server, and feeds those of one.
  static func slotName(_ name: String, in db: Database) throws -> String {
    guard !name.isEmpty, name.utf8.count <= 40,
      name.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789_".utf8.contains)
    else {
      throw Self.error(
        SQLState.wrongState,
        "a feed's name has 1 to 40 characters, which are a to z, digits or _: \(name)")
    }
    let database = try db.value(
      "SELECT oid::bigint FROM pg_catalog.pg_database WHERE datname = current_database()",
      as: Int.self)
    return "larder_\(database ?? 0)_\(name)"
  }

  /// The position from which a slot goes on; nil if there is none of the name. Throws if the server has given
  /// the slot up.
  private static func position(of slot: String, in db: Database) throws -> UInt64? {
    let rows = try db.executeQuery(
      """
      SELECT coalesce(confirmed_flush_lsn - '0/0', 0)::bigint, wal_status
      FROM pg_catalog.pg_replication_slots WHERE slot_name = \(slot)
      """)
    defer { rows.close() }
    guard try rows.next() else { return nil }
    guard try rows.get(at: 1, as: String?.self) != "lost" else { throw Self.lost(slot) }
    return UInt64(bitPattern: try rows.get(at: 0, as: Int64.self))
  }

  static func lost(_ slot: String) -> DatabaseError {
    Self.error(
      SQLState.wrongState,
      "the server has given up the slot \(slot), for which it would have had to keep more of its log than "
        + "max_slot_wal_keep_size: remove the feed (LastingFeed.remove), and begin it anew")
  }
}

/// A table that a feed is to follow.
struct FeedTable {
  let number: Oid
  /// The schema and the name, quoted.
  let quotedName: String
  let columns: [OutputRelation.Column]

  /// Finds a table. Throws if it doesn't exist, or if the server can't report its changes.
  init(_ name: String, needsWholeRows: Bool, in db: Database) throws {
    guard let number = try Self.number(of: name, isRecords: needsWholeRows, in: db) else {
      throw FeedPlan.error("42P01", "no such table: \(name)")
    }
    self.number = Oid(truncatingIfNeeded: number)
    let rows = try db.executeQuery(
      """
      SELECT n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text,
        c.relreplident::text, EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
          AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END)
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.oid::bigint = \(number)
      """)
    guard try rows.next() else { throw FeedPlan.error("42P01", "no such table: \(name)") }
    let parts = [try rows.get(at: 0, as: String.self), try rows.get(at: 1, as: String.self)]
    quotedName = parts.map(\.quotedIdentifier).joined(separator: ".")
    let isOrdinary = try rows.get(at: 2, as: String.self) == "r"
    let isLogged = try rows.get(at: 3, as: String.self) == "p"
    let identity = try rows.get(at: 4, as: String.self)
    let hasKey = try rows.get(at: 5, as: Bool.self)
    rows.close()
    guard isOrdinary, isLogged else {
      throw FeedPlan.error(
        SQLState.notSupported,
        "the changes of \(quotedName) can't be followed: it isn't an ordinary, logged table")
    }
    // The server would refuse updates of a published table without a key.
    guard identity == "f" || !needsWholeRows && hasKey && identity != "n" else {
      let why =
        needsWholeRows
        ? "reports only the key of a row as it was" : "has no key by which a row that was is known"
      throw FeedPlan.error(
        SQLState.wrongState, "\(quotedName) \(why): ALTER TABLE \(quotedName) REPLICA IDENTITY FULL"
      )
    }
    columns = try Self.columns(of: number, in: db)
    guard needsWholeRows else { return }
    let generated = try db.value(
      """
      SELECT attname::text FROM pg_catalog.pg_attribute WHERE attrelid::bigint = \(number)
        AND attnum > 0 AND NOT attisdropped AND attgenerated <> ''
      """, as: String.self)
    if let generated {
      throw FeedPlan.error(
        SQLState.notSupported,
        "\(quotedName).\(generated.quotedIdentifier) is a generated column, whose values the server doesn't "
          + "report: follow the table by its name, not by its record")
    }
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
