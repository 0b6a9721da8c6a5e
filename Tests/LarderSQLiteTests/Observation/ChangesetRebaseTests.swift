import TestSupport
import Testing

@testable import LarderChangeset
@testable import LarderSQLite

@Suite("Changesets derived from others: rebased, filtered, renamed, combined, difference")
struct ChangesetRebaseTests {
  private func make() throws -> Database {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x, y);
      INSERT INTO t VALUES (1, 'x1', 'y1'), (2, 'x2', 'y2'), (3, 'x3', 'y3');
      CREATE TABLE u (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO u VALUES (1, 'é');
      """)
    return db
  }

  private func rows(_ db: Database, _ table: String = "t") throws -> [[DatabaseValue]] {
    try db.executeQuery("SELECT * FROM \(identifier: table) ORDER BY 1, 2").map { row in
      try (0..<row.columnCount).map { try row.get(at: $0) }
    }
  }

  @Test(
    "Local changes rebased onto remote ones make both databases the same",
    .needsSessions, arguments: [Changeset.Resolution.omit, .replace])
  func rebased(resolution: Changeset.Resolution) throws {
    let (remote, local) = (try make(), try make())
    let theirs = try remote.record("t") { db in
      try db.executeStatements(
        """
        UPDATE t SET x = 'theirs' WHERE id = 1; DELETE FROM t WHERE id = 2;
        UPDATE t SET y = 'theirs' WHERE id = 3; INSERT INTO t VALUES (4, 'theirs', 0);
        """)
    }
    let ours = try local.record("t") { db in
      try db.executeStatements(
        """
        UPDATE t SET x = 'ours', y = 'ours' WHERE id = 1; UPDATE t SET y = 'ours' WHERE id = 2;
        DELETE FROM t WHERE id = 3; INSERT INTO t VALUES (4, 'ours', 1), (5, 'ours', 2);
        """)
    }
    let decisions = try theirs.apply(to: local) { $0.found == nil ? .omit : resolution }
    #expect(!decisions.data.isEmpty)
    let rebased = try ours.rebased(onto: Changeset.Decisions(data: decisions.data))
    try rebased.apply(to: remote)
    #expect(try rows(remote) == rows(local))
    #expect(try ours.rebased() == ours)
    let patch = try make().record("t", isPatchset: true) { try $0.executeUpdate("DELETE FROM t") }
    #expect(try patch.apply(to: make()) { _ in .omit }.data.isEmpty)
    let error = #expect(throws: DatabaseError.self) { try patch.rebased(onto: decisions) }
    #expect(error?.code == .misuse)
  }

  @Test(
    "Of several decisions about a row, rebasing uses the one that replaced it, else the last one")
  func severalDecisions() throws {
    let table = RecordedTable(name: "t", keys: [1, 0, 0], isPatch: false)
    func decisions(_ x: Int64, isDeletion: Bool = false, isReplaced: Bool) -> Changeset.Decisions {
      var encoder = ChangesetEncoder()
      encoder.append(
        decision: [.integer(1), .integer(x), isDeletion ? .null : .undefined],
        isDeletion: isDeletion, isReplaced: isReplaced, of: table)
      return .init(data: encoder.bytes)
    }
    var encoder = ChangesetEncoder()
    encoder.append(
      RecordedChange(
        operation: .update, isIndirect: false, old: [.integer(1), .integer(0), .integer(0)],
        new: [.undefined, .integer(8), .integer(9)]), of: table)
    let ours = encoder.changeset
    func rebased(_ first: Changeset.Decisions, _ second: Changeset.Decisions) throws
      -> Changeset.Row?
    {
      var row: Changeset.Row?
      try ours.rebased(onto: first, second).forEach { row = $0 }
      return row
    }
    let omitted = try rebased(decisions(5, isReplaced: false), decisions(6, isReplaced: false))
    #expect(omitted?.old == [1, 6, 0] && omitted?.new == [nil, 8, 9])
    let replaced = try rebased(decisions(5, isReplaced: true), decisions(6, isReplaced: false))
    #expect(replaced?.old == [1, nil, 0] && replaced?.new == [nil, nil, 9])
    let gone = try rebased(
      decisions(5, isDeletion: true, isReplaced: true), decisions(6, isReplaced: false))
    #expect(gone == nil)
  }

  @Test("`filtered` keeps the changes for which its closure returns true", .needsSessions)
  func filtered() throws {
    let source = try make()
    let changeset = try source.record { db in
      try db.executeStatements("UPDATE t SET x = 0; DELETE FROM u; INSERT INTO u VALUES (7, 8)")
    }
    let target = try make()
    try changeset.filter { $0.table == "u" }.apply(to: target)
    #expect(try rows(target) == rows(make()))
    #expect(try rows(target, "u") == rows(source, "u"))
    try changeset.filter { $0.kind == .update && $0.old[0] == 2 }.apply(to: target)
    #expect(try rows(target).map { $0[1] } == ["x1", 0, "x3"])
    #expect(try changeset.filter { _ in false }.data.isEmpty)
    #expect(throws: CancellationError.self) {
      try changeset.filter { _ in throw CancellationError() }
    }
  }

  @Test(
    "A changeset with renamed tables is applied to the new names; the old ones match in any case",
    .needsSessions)
  func renamed() throws {
    let changeset = try make().record("t") { try $0.executeUpdate("UPDATE t SET x = 0") }
    let target = try make()
    try target.executeUpdate("ALTER TABLE t RENAME TO \"an \"\"other\"\"\"")
    try changeset.renamed(["T": "an \"other\"", "none": "u"]).apply(to: target)
    #expect(try rows(target, "an \"other\"").map { $0[1] } == [0, 0, 0])
    let error = #expect(throws: DatabaseError.self) { try changeset.renamed(["t": "a\0b"]) }
    #expect(error?.code == .misuse)
  }

  @Test("Combining changesets merges the changes of a row into one with the same effect")
  func combined() throws {
    let table = RecordedTable(name: "t", keys: [1, 0], isPatch: false)
    func change(_ operation: RowChange.Kind, _ old: Int64, _ new: Int64) -> RecordedChange {
      RecordedChange(
        operation: operation, isIndirect: false,
        old: operation == .insert ? table.blank : [.integer(1), .integer(old)],
        new: operation == .delete
          ? table.blank : [operation == .update ? .undefined : .integer(1), .integer(new)])
    }
    func combined(_ changes: RecordedChange...) throws -> String {
      var combination = Changeset(data: [])
      for change in changes {
        var encoder = ChangesetEncoder()
        encoder.append(change, of: table)
        combination = try combination.combined(with: encoder.changeset)
      }
      var text = ""
      try combination.forEach { row in
        text += "\(row.kind)"
        for value in [row.old[1], row.new[1]] {
          if case .integer(let number) = value { text += " \(number)" } else { text += " -" }
        }
      }
      return text
    }
    #expect(try combined(change(.insert, 0, 1), change(.update, 1, 2)) == "insert - 2")
    #expect(try combined(change(.insert, 0, 1), change(.delete, 1, 0)) == "")
    #expect(try combined(change(.update, 0, 1), change(.update, 1, 2)) == "update 0 2")
    #expect(try combined(change(.update, 0, 1), change(.update, 1, 0)) == "")
    #expect(try combined(change(.update, 0, 1), change(.delete, 1, 0)) == "delete 0 -")
    #expect(try combined(change(.delete, 0, 0), change(.insert, 0, 3)) == "update 0 3")
    #expect(try combined(change(.delete, 3, 0), change(.insert, 0, 3)) == "")
    // Pairs of changes that can't follow one another.
    #expect(try combined(change(.insert, 0, 1), change(.insert, 0, 2)) == "insert - 1")
    #expect(try combined(change(.delete, 1, 0), change(.delete, 2, 0)) == "delete 1 -")
  }

  @Test("Applying the `difference` to another database makes the tables equal byte by byte")
  func difference() throws {
    let (here, there) = (try make(), try make())
    try there.executeStatements(
      """
      UPDATE t SET x = 'new', y = NULL WHERE id = 2; DELETE FROM t WHERE id = 1;
      INSERT INTO t VALUES (9, 1.0, x'00');
      DELETE FROM u; INSERT INTO u VALUES (1.0, 'e\u{301}'), (2, CAST(x'ff' AS TEXT));
      """)
    try here.executeUpdate("INSERT INTO t VALUES (10, 0.0, 1)")
    try there.executeUpdate("INSERT INTO t VALUES (10, -0.0, 1)")
    let changeset = try here.differences(to: there)
    try changeset.apply(to: here)
    #expect(try here.differences(to: there).data.isEmpty)
    #expect(try rows(here).description == rows(there).description)
    #expect(try rows(here).last?[1] == -0.0)
    #expect(try here.value("SELECT group_concat(hex(b)) FROM u", as: String.self) == "65CC81,FF")
    try changeset.inverted().apply(to: here)
    #expect(try here.differences(to: make(), of: "u").data.isEmpty)
  }

  @Test("A `difference` frees unique values before it inserts them, also with ON CONFLICT IGNORE")
  func differenceOrder() throws {
    func make(_ rows: String) throws -> Database {
      let db = try Database()
      try db.executeStatements(
        "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE)")
      try db.executeUpdate(SQL(raw: "INSERT INTO city VALUES \(rows)"))
      return db
    }
    let here = try make("(2, 'Paris'), (3, 'Nice')")
    let there = try make("(1, 'Paris'), (2, 'Nice')")
    try here.differences(to: there).apply(to: here)
    #expect(try here.differences(to: there).data.isEmpty)
    // No order frees names that two rows exchange, so applying throws.
    let exchanged = try make("(1, 'Nice'), (2, 'Paris')")
    #expect(throws: DatabaseError.self) { try here.differences(to: exchanged).apply(to: here) }
  }

  @Test(
    "The `difference` to an attached database needs the same columns in both tables, else throws")
  func attached() throws {
    let db = try make()
    try db.executeStatements(
      """
      ATTACH ':memory:' AS "the other"; CREATE TABLE "the other".T (id INTEGER PRIMARY KEY, x, y);
      INSERT INTO "the other".t VALUES (2, 'x2', 'changed')
      """)
    let changeset = try db.differences(toAttached: "the other", of: "T")
    var operations: [RowChange.Kind] = []
    try changeset.forEach { operations.append($0.kind) }
    #expect(operations == [.delete, .delete, .update])
    try changeset.apply(to: db)
    #expect(try rows(db) == [[2, "x2", "changed"]])
    for table in ["u", "none"] {
      let error = #expect(throws: DatabaseError.self) {
        try db.differences(toAttached: "the other", of: table)
      }
      #expect(error?.code == .schema)
    }
    #expect(throws: DatabaseError.self) { try db.differences(toAttached: "nowhere") }
    let queue = try DatabaseQueue()
    try queue.inDatabase { try $0.executeUpdate("CREATE TABLE t (id INTEGER PRIMARY KEY, x, y)") }
    let all = try queue.read { try $0.differences(to: db, of: "t") }
    #expect(!all.data.isEmpty)
  }
}
