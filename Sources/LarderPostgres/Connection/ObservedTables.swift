import Larder
import LarderSQLite

/// Tells observed values of commits without triggers, as far as it can.
protocol TableCoverage: AnyObject, Sendable {
  /// Whether tables that have triggers needn't be covered.
  var countsTriggers: Bool { get }
  /// Whether commits to all of these tables are told. If one isn't as it was when that began, it begins anew.
  ///
  /// - Parameter tables: the tables' ``ObservedTables/stamp``s, as just looked up.
  func isCovered(_ tables: [UInt32: Int64]) -> Bool
  /// Has commits to tables told from now on. Returns those that need triggers; nil if the server isn't ready
  /// yet. Throws if they can't be told without triggers, and are to be.
  ///
  /// - Parameter families: the tables, each with those whose changes may change its rows.
  func cover(_ families: [UInt32: Set<UInt32>]) throws -> Set<UInt32>?
}

/// The tables of a server that values have read, as far as they are known to report their commits.
final class ObservedTables: Sendable {
  /// The name of the triggers by which tables report their commits.
  static let trigger = "larder_change"

  private let state = Lock(State())

  private struct State {
    /// The tables whose commits are reported, each with those whose changes may change its rows: its
    /// partitions, and the tables of which it is one.
    var families: [UInt32: Set<UInt32>] = [:]
    /// Views, indexes and the like, which report nothing by themselves.
    var others: Set<UInt32> = []
    /// The stamps of tables and views when they were looked up.
    var stamps: [UInt32: Int64] = [:]
    /// Changes when everything is forgotten.
    var generation = 0
  }

  private struct Tellers {
    weak var coverage: (any TableCoverage)?
    weak var signals: (any EngineSignalSource)?
  }
  private let tellers = Lock(Tellers())

  /// What tells of commits without triggers; nil if nothing does.
  var coverage: (any TableCoverage)? {
    get { tellers.withLock { $0.coverage } }
    set { tellers.withLock { $0.coverage = newValue } }
  }

  /// What receives signals; nil if nothing does.
  var signals: (any EngineSignalSource)? {
    get { tellers.withLock { $0.signals } }
    set { tellers.withLock { $0.signals = newValue } }
  }

  /// One relation that was looked up.
  struct Found {
    let isTable: Bool
    /// The tables whose changes may change its rows, itself among them.
    var family: Set<UInt32> = []
    var stamps: [UInt32: Int64] = [:]
    /// The tables of the family that have rows.
    var stored: Set<UInt32> = []
    /// Whether all of the family have triggers.
    var hasTriggers = true
    /// Whether all of the family report their commits.
    var isReported = true
  }

  var generation: Int { state.withLock { $0.generation } }

  /// Adds what is known of some relations to what was read. Returns those that aren't known.
  func add(_ numbers: [UInt32], to reads: inout EngineReads) -> [UInt32] {
    state.withLock { state in
      numbers.filter { number in
        if let family = state.families[number] {
          reads.tables.formUnion(family)
          return false
        }
        return !state.others.contains(number)
      }
    }
  }

  /// Notes relations that were looked up. Those that don't report their commits yet will be looked up again.
  func note(_ found: [UInt32: Found], of generation: Int) {
    state.withLock { state in
      guard state.generation == generation else { return }
      for (number, one) in found where one.isReported {
        if one.isTable { state.families[number] = one.family } else { state.others.insert(number) }
        state.stamps.merge(one.stamps) { $1 }
      }
    }
  }

  func forgetAll() {
    state.withLock { state in
      state = State(generation: state.generation + 1)
    }
  }

  // MARK: Changes of the schema

  /// A number of a table or view `c` that changes with its definition, its rewriting, its trigger, its
  /// partitions, and its publications.
  ///
  /// A change of the schema is no statement that fires a trigger. An update of a catalog's row changes its
  /// `xmin`; VACUUM and ANALYZE don't.
  static let stamp = """
    hashtextextended(concat_ws(' ', c.oid, c.xmin, c.relfilenode,
      (SELECT string_agg(r.xmin::text, ',' ORDER BY r.oid) FROM pg_catalog.pg_rewrite r
        WHERE r.ev_class = c.oid),
      (SELECT string_agg(t.tgenabled::text, ',') FROM pg_catalog.pg_trigger t
        WHERE t.tgrelid = c.oid AND t.tgname = \(trigger.quotedText)),
      (SELECT string_agg(i.inhrelid::text, ',' ORDER BY i.inhrelid) FROM pg_catalog.pg_inherits i
        WHERE i.inhparent = c.oid),
      (SELECT string_agg(concat_ws(' ', p.oid, p.xmin, r.xmin), ',' ORDER BY p.oid)
        FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
        WHERE r.prrelid = c.oid)), 0)
    """

  /// The query for a number that the stamps of all tables and views make, and what it was when they were
  /// looked up; nil if none are known.
  var check: (sql: String, expected: Int64)? {
    let stamps = state.withLock { $0.stamps }
    guard !stamps.isEmpty else { return nil }
    let list = stamps.keys.sorted().map(String.init).joined(separator: ",")
    return (
      """
      SELECT coalesce(bit_xor(\(Self.stamp)), 0) FROM pg_catalog.pg_class c
      WHERE c.oid = ANY('{\(list)}'::oid[])
      """, stamps.values.reduce(0, ^)
    )
  }
}
