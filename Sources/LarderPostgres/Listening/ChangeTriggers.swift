import Larder
import LarderSQLite

/// The triggers by which tables report their commits: one for each table, after each statement that writes to
/// it, which sends the table's number to a channel. The server sends equal notifications of a transaction
/// once.
enum ChangeTriggers {
  static let channel = "larder_change"
  /// The name of the triggers, and of the function that they all run.
  static let name = ObservedTables.trigger

  /// The function's body. A condition is evaluated without a query, which PERFORM would run: a statement's
  /// trigger takes 1.3 µs instead of 3.9.
  private static let body = """
    BEGIN
      IF pg_catalog.pg_notify('\(channel)', TG_RELID::text) IS NULL THEN END IF;
      RETURN NULL;
    END
    """

  static func function(_ name: String) -> String {
    """
    CREATE OR REPLACE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $larder$
    \(body)
    $larder$
    """
  }

  static func creation(on table: String, running function: String) -> String {
    """
    CREATE OR REPLACE TRIGGER \(name) AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON \(table)
    FOR EACH STATEMENT EXECUTE FUNCTION \(function)()
    """
  }

  /// How long CREATE TRIGGER waits for the table's lock, in milliseconds. Writers wait behind it.
  static let patience = 200
  /// Makes those who create the function wait for each other: “larder” as a number.
  static let lock = 0x6c61_7264_6572
}

extension PostgresEngine {
  func reportCommits(to tables: Set<UInt32>) throws -> Bool {
    // What others have created while this waited for them is to be seen.
    try relaxIsolation()
    // Whether the tables report is looked up with each read, and done again.
    isReading = true
    return try perform(until: soon) {
      guard let left = try cover(tables) else { return false }
      if left.isEmpty { return true }
      do {
        try connection.run(all: ["SET LOCAL lock_timeout = \(ChangeTriggers.patience)"])
        try createTriggers(left.sorted())
        return true
      } catch let failure as PostgresFailure where failure.sqlState == Self.lockNotAvailable {
        return false
      }
    }
  }

  /// Has the server's log tell of commits to tables, as far as that is wanted and possible. Returns those that
  /// need triggers; nil if the server isn't ready yet.
  private func cover(_ tables: Set<UInt32>) throws -> Set<UInt32>? {
    guard let coverage = servers.tables.coverage else { return tables }
    var families = Dictionary(uniqueKeysWithValues: tables.map { ($0, Set<UInt32>()) })
    for one in try members(of: tables.sorted()) where one.kind == "r" {
      families[one.base]?.insert(one.member)
    }
    return try coverage.cover(families)
  }

  private static let lockNotAvailable = "55P03"
  private static let insufficientPrivilege = "42501"

  /// Creates the triggers of tables, and of their partitions and the like, as far as they are missing. In a
  /// transaction of one snapshot, some that aren't missing any more are replaced.
  func createTriggers(_ tables: [UInt32]) throws {
    try connection.run(all: ["SELECT pg_advisory_xact_lock(\(ChangeTriggers.lock))"])
    let missing = try members(of: tables).filter { !$0.hasTrigger && ["r", "p"].contains($0.kind) }
    guard let first = missing.first else { return }
    var done: Set<UInt32> = []
    var current = first.table
    do {
      let function = try triggerFunction()
      for one in missing where done.insert(one.member).inserted {
        current = one.table
        try connection.run(ChangeTriggers.creation(on: one.table, running: function))
      }
    } catch var failure as PostgresFailure where failure.sqlState == Self.insufficientPrivilege {
      failure.hint =
        "to be observed, \(current) needs a trigger: have its owner run db.reportChanges(of:) in a migration"
      throw failure
    }
  }

  /// The quoted name of the function that the triggers run, which is created if it is missing.
  private func triggerFunction() throws -> String {
    let known = try texts(
      """
      SELECT format('%I.%I', n.nspname, p.proname)::text FROM pg_catalog.pg_proc p
        JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
      WHERE p.proname = '\(ChangeTriggers.name)' AND p.pronargs = 0
        AND p.prorettype = 'pg_catalog.trigger'::regtype
        AND has_function_privilege(p.oid, 'EXECUTE') AND has_schema_privilege(n.oid, 'USAGE')
      ORDER BY n.nspname = current_schema() DESC NULLS LAST, p.oid LIMIT 1
      """)
    if let known = known.first { return known }
    guard let schema = try texts("SELECT quote_ident(current_schema())::text").first else {
      throw PostgresFailure("3F000", "no schema of the search path exists")
    }
    let name = "\(schema).\(ChangeTriggers.name)"
    try connection.run(ChangeTriggers.function(name))
    return name
  }

  /// The first column of a query's rows, without NULLs.
  private func texts(_ sql: String) throws -> [String] {
    let statement = try connection.prepare(sql, parameterCount: 0)
    try statement.execute()
    var texts: [String] = []
    while try statement.next() {
      let value = statement.column(0)
      if value.storageClass == .text { texts.append(String(decoding: value.bytes, as: UTF8.self)) }
    }
    return texts
  }

  // MARK: Migrations

  func report(_ names: [String], _ isOn: Bool) throws {
    let numbers = try names.map { name in
      let parts = name.split(separator: ".", maxSplits: 1).map { String($0).quotedIdentifier }
      let forms = [name.quotedIdentifier, parts.joined(separator: ".")].map {
        "to_regclass(\($0.quotedText))"
      }
      let found = try texts("SELECT coalesce(\(forms.joined(separator: ", ")))::oid::text").first
      guard let number = found.flatMap({ UInt32($0) }) else {
        throw PostgresFailure("42P01", "there is no table \(name.quotedIdentifier)")
      }
      return number
    }
    if isOn { return try createTriggers(numbers) }
    var done: Set<UInt32> = []
    for one in try members(of: numbers) where done.insert(one.member).inserted && one.hasTrigger {
      try connection.run("DROP TRIGGER \(ChangeTriggers.name) ON \(one.table)")
    }
    let unused = try texts(
      """
      SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc p
      WHERE p.proname = '\(ChangeTriggers.name)' AND p.pronargs = 0
        AND p.prorettype = 'pg_catalog.trigger'::regtype
        AND pg_catalog.pg_has_role(p.proowner, 'USAGE')
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_trigger t WHERE t.tgfoid = p.oid)
      """)
    for function in unused { try connection.run("DROP FUNCTION \(function)") }
  }
}

extension Database {
  /// Has tables report their commits, which values that are observed on a server need: creates a trigger
  /// `larder_change` on each, and on its partitions, and one function. `values(of:)` does the same by itself
  /// when it first reads a table, if its role owns the table. If not, the owner runs this, in a migration.
  ///
  /// ```swift
  /// Migration("report changes of jobs") { db in try db.reportChanges(of: ["job"]) }
  /// ```
  ///
  /// Does nothing on SQLite, where all tables report their commits.
  ///
  /// - Parameters:
  ///   - tables: the tables' names, optionally with a schema and a dot before.
  ///   - isOn: false removes the triggers, and the function with the last of them.
  ///
  /// Throws `DatabaseError` for a table that doesn't exist, and `ResultCode.authorization` for one that
  /// belongs to another role.
  public func reportChanges(of tables: [String], _ isOn: Bool = true) throws {
    guard hasEngine else { return }
    let engine = try postgres
    try engine.perform(until: engine.soon) { try engine.report(tables, isOn) }
  }
}
