import CLibPQ
import LarderSQLite

/// The types of the server that a connection has met and that aren't the server's own: enumerations, domains,
/// composite types, those of extensions, and arrays and ranges of these. Each is looked up once.
///
/// See [pg_type](https://www.postgresql.org/docs/current/catalog-pg-type.html).
struct ServerTypes {
  /// The types by their numbers; nil for those that can't be read.
  private var known: [Oid: ServerType?] = [:]

  /// The types of these numbers, nil for each that can't be read. Those that aren't known are looked up, by
  /// one statement.
  ///
  /// - Parameter connection: the connection that these types belong to. It may be reading a statement's rows,
  ///   which it then reads ahead.
  mutating func types(_ numbers: [Oid], on connection: PostgresConnection) throws -> [ServerType?] {
    let unknown = Set(numbers).filter { known[$0] == nil && ServerType(builtIn: $0) == nil }
    if !unknown.isEmpty { try lookUp(unknown.sorted(), on: connection) }
    return numbers.map { ServerType(builtIn: $0) ?? known[$0] ?? nil }
  }

  private struct Entry {
    var sender = ""
    var element: Oid = 0
    var base: Oid = 0
    var bound: Oid = 0
    var isMultirange = false
    var isArray = false
    var members: [(name: String, type: Oid)] = []
  }

  private mutating func lookUp(_ numbers: [Oid], on connection: PostgresConnection) throws {
    let list = numbers.map(String.init).joined(separator: ",")
    let statement = PostgresStatement(Self.query(list), on: connection)
    var entries: [Oid: Entry] = [:]
    try statement.execute()
    func number(_ column: Int) -> Oid { Oid(truncatingIfNeeded: statement.column(column).integer) }
    while try statement.next() {
      var entry = entries[number(0)] ?? Entry()
      entry.sender = try statement.column(1).text()
      (entry.element, entry.base, entry.bound) = (number(2), number(3), number(4))
      entry.isMultirange = number(5) == 1
      entry.isArray = number(6) == 1
      if number(8) != 0 {
        entry.members.append((try statement.column(7).text(), number(8)))
      }
      entries[number(0)] = entry
    }
    for number in numbers { known[number] = .some(Self.type(number, entries, depth: 0)) }
  }

  private static func type(
    _ number: Oid, _ entries: [Oid: Entry], depth: Int
  ) -> ServerType? {
    if let builtIn = ServerType(builtIn: number) { return builtIn }
    // A composite type can't contain itself, but an array of itself.
    guard let entry = entries[number], depth < 16 else { return nil }
    func part(_ number: Oid) -> ServerType? { type(number, entries, depth: depth + 1) }
    if entry.base != 0 { return part(entry.base) }
    if entry.isArray { return part(entry.element).map(ServerType.array) }
    if entry.bound != 0 {
      return part(entry.bound).map { entry.isMultirange ? .multirange($0) : .range($0) }
    }
    if !entry.members.isEmpty {
      let members = entry.members.compactMap { member in
        part(member.type).map { (name: member.name, type: $0) }
      }
      return members.count == entry.members.count ? .composite(members) : nil
    }
    return ServerType(sender: entry.sender)
  }

  /// A row for each type, or for each member of a composite one, with those of which they are made. The
  /// numbers stand in the text: they are the server's own.
  private static func query(_ numbers: String) -> String {
    """
    WITH RECURSIVE part (oid) AS (
      SELECT unnest('{\(numbers)}'::oid[])
      UNION
      SELECT next.oid FROM part JOIN pg_catalog.pg_type t ON t.oid = part.oid
        LEFT JOIN pg_catalog.pg_range r ON t.oid IN (r.rngtypid, r.rngmultitypid)
        CROSS JOIN LATERAL (
          SELECT t.typelem UNION ALL SELECT t.typbasetype UNION ALL SELECT r.rngsubtype
          UNION ALL SELECT a.atttypid FROM pg_catalog.pg_attribute a
            WHERE a.attrelid = t.typrelid AND t.typrelid <> 0 AND a.attnum > 0 AND NOT a.attisdropped
        ) next (oid) WHERE next.oid <> 0
    )
    SELECT t.oid::bigint, p.proname::text, t.typelem::bigint, t.typbasetype::bigint,
      coalesce(r.rngsubtype, 0)::bigint, (t.oid IS NOT DISTINCT FROM r.rngmultitypid)::int::bigint,
      (t.typcategory = 'A' AND t.typelem <> 0)::int::bigint, coalesce(a.attname, '')::text,
      coalesce(a.atttypid, 0)::bigint
    FROM part JOIN pg_catalog.pg_type t ON t.oid = part.oid
      LEFT JOIN pg_catalog.pg_proc p ON p.oid = t.typsend
      LEFT JOIN pg_catalog.pg_range r ON t.oid IN (r.rngtypid, r.rngmultitypid)
      LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.typrelid AND t.typrelid <> 0
        AND a.attnum > 0 AND NOT a.attisdropped
    WHERE t.oid >= 16384 OR t.typtype <> 'b' ORDER BY t.oid, a.attnum
    """
  }
}
