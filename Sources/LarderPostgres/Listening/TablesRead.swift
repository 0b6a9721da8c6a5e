import LarderSQLite

// Which tables a value's closure has read: those that its transaction has locked.

extension PostgresEngine {
  /// The relations that the transaction has locked. A server's session holds a lock on each table, view and
  /// index that its statements use until the transaction's end, also on those that functions use, and on
  /// the partitioned table of a partition that the planner has left out. EXPLAIN sees neither.
  ///
  /// Catalogs have smaller numbers.
  private static let locks = """
    SELECT relation::bigint FROM pg_catalog.pg_locks
    WHERE pid = pg_catalog.pg_backend_pid() AND locktype = 'relation' AND relation >= 16384
    """

  func tablesRead() throws -> EngineReads {
    // Nothing was sent yet.
    if connection.hasDeferredBegin || !hasTransaction { return EngineReads() }
    guard !hasLostLocks else {
      throw DatabaseError(
        .misuse,
        "a value can't be observed whose closure rolls back a savepoint: what it has read is unknown",
        engine: name)
    }
    return try perform(until: soon) {
      let statement = try locksStatement ?? connection.prepare(Self.locks, parameterCount: 0)
      locksStatement = statement
      try statement.execute()
      var locked: [UInt32] = []
      while try statement.next() {
        locked.append(UInt32(truncatingIfNeeded: statement.column(0).integer))
      }
      try statement.reset()
      return try reads(of: locked)
    }
  }

  private func reads(of locked: [UInt32]) throws -> EngineReads {
    var reads = EngineReads()
    let generation = servers.tables.generation
    let unknown = servers.tables.add(locked, to: &reads)
    guard !unknown.isEmpty else { return reads }
    let found = try lookUp(unknown)
    servers.tables.note(found, of: generation)
    for (number, one) in found where one.isTable {
      reads.tables.formUnion(one.family)
      if !one.isReported { reads.unreported.insert(number) }
    }
    return reads
  }

  /// Looks relations up in the catalog. Throws for those that can't be observed.
  private func lookUp(_ numbers: [UInt32]) throws -> [UInt32: ObservedTables.Found] {
    var found: [UInt32: ObservedTables.Found] = [:]
    for number in numbers { found[number] = ObservedTables.Found(isTable: false) }
    for row in try members(of: numbers) {
      if ["m", "f"].contains(row.kind), row.member == row.base {
        throw UnsupportedByEngine(
          engine: name,
          feature:
            "observing \(row.table), a \(row.kind == "m" ? "materialized view" : "foreign table")")
      }
      if row.kind == "v" { found[row.base]?.stamps[row.member] = row.stamp }
      guard ["r", "p"].contains(row.kind) else { continue }
      var one =
        found[row.base].flatMap { $0.isTable ? $0 : nil } ?? ObservedTables.Found(isTable: true)
      one.family.insert(row.member)
      one.stamps[row.member] = row.stamp
      if row.kind == "r" { one.stored.insert(row.member) }
      if !row.hasTrigger { one.hasTriggers = false }
      found[row.base] = one
    }
    let coverage = servers.tables.coverage
    for (number, one) in found where one.isTable {
      // A statement on a table changes rows of its partitions without their triggers: those of some don't
      // do for the others.
      let isTriggered = one.hasTriggers && coverage?.countsTriggers != false
      let stored = one.stamps.filter { one.stored.contains($0.key) }
      found[number]?.isReported = isTriggered || coverage?.isCovered(stored) == true
    }
    return found
  }

  /// One relation of those that may change the rows of another one.
  struct Member {
    let base, member: UInt32
    /// As in `pg_class.relkind`.
    let kind: String
    let hasTrigger: Bool
    let stamp: Int64
    /// The quoted name, with its schema.
    let table: String
  }

  /// The relations themselves, their partitions, and the tables of which they are partitions; the same with
  /// inheritance.
  func members(of numbers: [UInt32]) throws -> [Member] {
    let list = numbers.map(String.init).joined(separator: ",")
    let statement = try connection.prepare(
      """
      WITH RECURSIVE base (oid) AS (SELECT unnest('{\(list)}'::oid[])),
        up (base, oid) AS (
          SELECT oid, oid FROM base UNION
          SELECT up.base, i.inhparent FROM up JOIN pg_catalog.pg_inherits i ON i.inhrelid = up.oid),
        down (base, oid) AS (
          SELECT oid, oid FROM base UNION
          SELECT down.base, i.inhrelid FROM down JOIN pg_catalog.pg_inherits i ON i.inhparent = down.oid)
      SELECT m.base::bigint, c.oid::bigint, c.relkind::text, (EXISTS (
          SELECT 1 FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid
          AND t.tgname = \(ChangeTriggers.name.quotedText) AND t.tgenabled <> 'D'))::int::bigint,
        \(ObservedTables.stamp), format('%I.%I', n.nspname, c.relname)::text
      FROM (SELECT * FROM up UNION SELECT * FROM down) m
        JOIN pg_catalog.pg_class c ON c.oid = m.oid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relpersistence <> 't' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      ORDER BY c.oid
      """, parameterCount: 0)
    try statement.execute()
    var members: [Member] = []
    while try statement.next() {
      func number(_ column: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: statement.column(column).integer)
      }
      func text(_ column: Int) -> String {
        String(decoding: statement.column(column).bytes, as: UTF8.self)
      }
      members.append(
        Member(
          base: number(0), member: number(1), kind: text(2), hasTrigger: number(3) == 1,
          stamp: statement.column(4).integer, table: text(5)))
    }
    return members
  }
}
