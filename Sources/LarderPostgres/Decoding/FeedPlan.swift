import CLibPQ
import Larder
import LarderSQLite

/// What a feed needs of the server, which is checked, and as far as possible made, before it begins.
struct FeedPlan: Sendable {
  let changeLimit, byteLimit: Int
  /// The feed's tables and their partitions, by the server's numbers, with the columns that they have now.
  let columns: [Oid: [OutputRelation.Column]]
  /// The tables that are followed by their own names.
  let tables: Set<Oid>
  /// The partitioned tables that are followed.
  private let partitioned: [Oid: FeedTable.Name]
  /// The name of the publication that has the tables.
  let publication: String
  /// Whether the publication has the feed's tables alone.
  private let hasOwnPublication: Bool
  /// The name of the slot that lasts; nil for a temporary one.
  let slot: String?
  /// The position from which the slot goes on; nil if it doesn't exist.
  var slotPosition: UInt64?
  /// Whether the slot has been used for other tables, or for other columns.
  let hasOtherTables: Bool
  /// The tables' columns, unless they may be others than when the slot was used last.
  let knownColumns: [Oid: [OutputRelation.Column]]
  /// The note of a lasting feed's columns.
  private let columnsNote: ColumnsNote?
  /// Whether a change has to tell a row's old values.
  let needsWholeRows: Bool
  /// The names of the tables that the publication has to have.
  private let published: [Oid: FeedTable.Name]

  var limit: FeedAmount { FeedAmount(changes: changeLimit, bytes: byteLimit) }

  /// Looks at the server, and makes the publication if there is none. Throws errors that say what to set.
  init(_ wish: FeedWish, _ db: Database) throws {
    (changeLimit, byteLimit) = (wish.changeLimit, wish.byteLimit)
    try Self.checkServer(db)
    let found = try wish.tables.map {
      try FeedTable($0, needsWholeRows: wish.needsWholeRows, in: db)
    }
    let stored = found.flatMap { [$0] + $0.partitions }
    columns = Dictionary(stored.map { ($0.number, $0.columns) }) { first, _ in first }
    tables = Set(found.lazy.filter { !$0.isPartitioned }.map(\.number))
    partitioned = Dictionary(found.lazy.filter(\.isPartitioned).map { ($0.number, $0.name) }) {
      first, _ in first
    }
    slot = try wish.name.map { try Self.slotName($0, in: db) }
    var isInUse = false
    if let slot, let found = try Self.position(of: slot, in: db) {
      (slotPosition, isInUse) = found
    }
    needsWholeRows = wish.needsWholeRows
    published = Dictionary(found.map { ($0.number, $0.name) }) { first, _ in first }
    let names = Set(found.map(\.name.quoted)).sorted()
    let made = try FeedPublication(
      wish.name.map(FeedPublication.name(ofFeed:)) ?? FeedPublication.name(of: names), of: names,
      Set(published.keys)
    ).make(in: db, isInUse: isInUse)
    publication = made.name
    hasOwnPublication = made.isOwn
    var hasOtherColumns = false
    columnsNote = slot != nil && made.isOwn ? ColumnsNote(of: found, in: publication) : nil
    if let columnsNote {
      let known = try columnsNote.known(in: db)
      hasOtherColumns = slotPosition != nil && known != nil && known != columnsNote.text
      if known != columnsNote.text, !hasOtherColumns, !isInUse { try columnsNote.write(in: db) }
    }
    hasOtherTables = slotPosition != nil && made.hasChanged || hasOtherColumns
    knownColumns = hasOtherTables ? [:] : columns
  }

  /// Looks up what a table is whose changes the server sends although it isn't followed by its own name.
  func part(_ number: Oid, _ db: Database) throws -> FeedPart {
    guard !partitioned.isEmpty else { return .none }
    let ancestors = try db.fetch(
      Int.self, "SELECT relid::oid::bigint FROM pg_catalog.pg_partition_ancestors(\(Int(number)))")
    for ancestor in ancestors {
      if let name = partitioned[Oid(truncatingIfNeeded: ancestor)] { return .partition(name) }
    }
    let exists = try db.value(
      "SELECT EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid::bigint = \(Int(number)))",
      as: Bool.self)
    return hasOwnPublication || columns[number] != nil || exists != true ? .doubtful : .none
  }

  /// Notes that the consumer knows of ``hasOtherTables``.
  func noteColumns(_ db: Database) throws { try columnsNote?.write(in: db) }

  /// Throws if a table isn't there any more, or isn't in the publication: the server would go on, and tell nothing.
  func checkTables(_ db: Database) throws {
    let numbers = published.keys.sorted().map(String.init).joined(separator: ",")
    let lost = try db.value(
      """
      SELECT w.oid FROM unnest(\(SQL(raw: "'{\(numbers)}'"))::bigint[]) w (oid)
      WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid::bigint = w.oid)
        OR NOT EXISTS (
          SELECT FROM pg_catalog.pg_publication p WHERE p.pubname::text = \(publication)
            AND (p.puballtables OR EXISTS (
              SELECT FROM pg_catalog.pg_publication_rel r
              WHERE r.prpubid = p.oid AND r.prrelid::bigint = w.oid)))
      """, as: Int.self)
    guard let lost, let name = published[Oid(truncatingIfNeeded: lost)] else { return }
    throw DatabaseError.ofFeed(
      SQLState.wrongState,
      "\(name.quoted) was dropped, or taken out of the publication \(publication.quotedIdentifier): begin the feed "
        + "anew")
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
      throw DatabaseError.ofFeed(
        "42501", "changes(of:) needs a role that may replicate: ALTER ROLE \(user) REPLICATION")
    }
  }

  // MARK: The slot

  /// The name of a feed's slot. Slots are those of all databases of a server, and feeds those of one.
  static func slotName(_ name: String, in db: Database) throws -> String {
    guard !name.isEmpty, name.utf8.count <= 40,
      name.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789_".utf8.contains)
    else {
      throw DatabaseError.ofFeed(
        SQLState.wrongState,
        "a feed's name has 1 to 40 characters, which are a to z, digits or _: \(name)")
    }
    let database = try db.value(
      "SELECT oid::bigint FROM pg_catalog.pg_database WHERE datname = current_database()",
      as: Int.self)
    return "larder_\(database ?? 0)_\(name)"
  }

  /// The position from which a slot goes on, and whether somebody has it; nil if there is none of the name. Throws
  /// if the server has given the slot up.
  private static func position(
    of slot: String, in db: Database
  ) throws -> (position: UInt64, isInUse: Bool)? {
    let rows = try db.executeQuery(
      """
      SELECT coalesce(confirmed_flush_lsn - '0/0', 0)::bigint, wal_status, active
      FROM pg_catalog.pg_replication_slots WHERE slot_name = \(slot)
      """)
    defer { rows.close() }
    guard try rows.next() else { return nil }
    guard try rows.get(at: 1, as: String?.self) != "lost" else { throw Self.lost(slot) }
    return (
      UInt64(bitPattern: try rows.get(at: 0, as: Int64.self)), try rows.get(at: 2, as: Bool.self)
    )
  }

  static func lost(_ slot: String) -> DatabaseError {
    DatabaseError.ofFeed(
      SQLState.wrongState,
      "the server has given up the slot \(slot), for which it would have had to keep more of its log than "
        + "max_slot_wal_keep_size: remove the feed (LastingFeed.remove), and begin it anew")
  }
}
