import Foundation
import Larder
import LarderChangeset
import ProofSupport
import TestSupport

/// Changes that were recorded in one copy of a random database, applied to another one that has diverged, by SQLite
/// and by Larder.
struct ChangesetTrial {
  private var recording: RandomRecording
  private(set) var pairs = 0
  /// How many conflicts of each kind there were.
  private(set) var kinds: [Int32: Int] = [:]
  /// How many pairs weren't compared, as SQLite mistakes their updates.
  private(set) var mistaken = 0
  /// Whether the texts that conflict are no UTF-8, which Larder refuses to tell.
  private(set) var isRefused = false

  init(seed: UInt64) { recording = RandomRecording(seed: seed) }

  mutating func run() throws {
    let base = try Database()
    for statement in recording.schema() {
      do {
        try base.executeStatements(SQL(raw: statement))
      } catch {
        throw WrongAnswer(description: "\(statement): \(error)")
      }
    }
    recording.work(recording.pick([3, 10, 20, 30]), in: base)
    let bytes = try base.serialized()
    let (remote, target) = (try Database(serialized: bytes), try Database(serialized: bytes))
    let isPatchset = recording.chance(25)
    let theirs = try record(isPatchset, in: remote)
    let ours = try record(false, in: target)
    let next = try record(isPatchset, in: remote)
    for statement in recording.divergence() {
      _ = try? target.executeStatements(SQL(raw: statement))
    }
    try compareReading(theirs)
    if !isPatchset { try compareReading(try compareInverse(theirs)) }
    try compareCombination(theirs, next)
    if !isPatchset { try compareCombination(theirs, ours) }
    try compareDifference(remote, base)
    let other = try Database(serialized: target.serialized())
    let first = try compareApplying(theirs, to: target)
    let second = try compareApplying(next, to: target)
    if !isPatchset { try compareRebase(of: ours, onto: first, second, in: remote) }
    if recording.chance(30) { try compareApplying(try ours.inverted(), to: target) }
    // The bytes of one may follow those of another, so that a table's header comes again.
    if recording.chance(30) {
      try compareApplying(
        Changeset(data: theirs.data + next.data), to: other, isAppended: true)
    }
  }

  private mutating func record(_ isPatchset: Bool, in db: Database) throws -> Changeset {
    let count = recording.pick([2, 6, 12, 25])
    var recording = recording
    let changeset = try db.record(tables: [], isPatchset: isPatchset) { db in
      recording.work(count, in: db)
    }
    self.recording = recording
    return changeset
  }

  // MARK: Bytes

  private func compareReading(_ changeset: Changeset) throws {
    var lines: [String] = []
    do {
      try changeset.forEach { lines.append($0.line) }
    } catch is ConversionError where recording.hasBrokenText { return }
    try WrongAnswer.check(
      lines.sorted(), try SessionLibrary.lines(of: changeset, withIndirect: false), "what is read")
    try WrongAnswer.check(try changeset.filter { _ in true }, changeset, "what is written again")
  }

  private func compareInverse(_ changeset: Changeset) throws -> Changeset {
    let inverse = try changeset.inverted()
    try WrongAnswer.check(inverse, try SessionLibrary.inverted(changeset), "the inverse")
    return inverse
  }

  private func compareCombination(_ first: Changeset, _ second: Changeset) throws {
    let combined = try first.combined(with: second)
    try WrongAnswer.check(
      try SessionLibrary.lines(of: combined),
      try SessionLibrary.lines(of: try SessionLibrary.combined(first, second)), "the combination")
  }

  /// What makes the base like the copy with work. SQLite finds keys the same that are only equal.
  private func compareDifference(_ remote: Database, _ base: Database) throws {
    let sqlite = try SessionDatabase(remote.serialized())
    try sqlite.attach("base", base.serialized())
    for table in recording.tables {
      let found = try SessionLibrary.lines(of: try base.differences(to: remote, of: table.name))
      let expected = try SessionLibrary.lines(
        of: try sqlite.difference(from: "base", of: table.name))
      if !table.sql.contains("COLLATE"), !hasNumbers(expected + found) {
        try WrongAnswer.check(found, expected, "the difference of \(table.sql)")
      }
    }
    // Constraints that aren't met while rows are exchanged, and triggers, could be in the way.
    let copy = try Database(serialized: base.serialized())
    for trigger in try copy.schema() where trigger.kind == .trigger {
      try copy.executeUpdate("DROP TRIGGER \(identifier: trigger.name)")
    }
    let difference = try copy.differences(to: remote)
    guard (try? difference.apply(to: copy)) != nil else { return }
    let left = try readable(try copy.differences(to: remote)).filter { row in
      try !mayBeLeft(row, in: copy)
    }
    try WrongAnswer.check(left.data.count, 0, "what is left of the difference")
  }

  /// Whether no order of changes can be sure of the row. An action of a foreign key changes it when a key is exchanged
  /// for one that is equal. Or UNIQUE ON CONFLICT IGNORE drops it, as its value is still that of a row with NULL in its
  /// key, which isn't in changesets, or of a row whose update waits for another constraint.
  private func mayBeLeft(_ row: Changeset.Row, in db: Database) throws -> Bool {
    let name = row.table
    guard let table = recording.tables.first(where: { $0.name == name }) else { return false }
    if table.sql.contains("ON DELETE CASCADE") || table.sql.contains("ON DELETE SET") {
      return true
    }
    let clauses = table.sql.components(separatedBy: "UNIQUE").dropFirst()
    let ignored = clauses.filter { $0.hasPrefix(" ON CONFLICT IGNORE") }
    guard row.kind == .insert, !ignored.isEmpty else { return false }
    if ignored.count < clauses.count { return true }
    let keys = try db.executeQuery("SELECT name FROM pragma_table_info(\(name)) WHERE pk > 0").map {
      try $0.get(at: 0, as: String.self).quotedIdentifier
    }
    let isNull = keys.map { "\($0) IS NULL" }.joined(separator: " OR ")
    let rows = SQL(raw: "SELECT count(*) FROM \(name.quotedIdentifier) WHERE \(isNull)")
    return try db.value(rows, as: Int.self) != 0
  }

  /// Whether there may be numbers that are equal and differ, as 1 and 1.0, or 0.0 and -0.0.
  private func hasNumbers(_ lines: [String]) -> Bool {
    lines.contains { $0.contains(" r") }
  }

  // MARK: Applying

  @discardableResult
  private mutating func compareApplying(
    _ changeset: Changeset, to target: Database, isAppended: Bool = false
  ) throws -> Changeset.Decisions {
    let choices = (0..<8).map { _ -> Int32 in
      recording.chance(3) ? 2 : recording.chance(1) ? 3 : recording.chance(45) ? 1 : 0
    }
    let (ours, theirs) = (ConflictDecisions(choices), ConflictDecisions(choices))
    let sqlite = try SessionDatabase(target.serialized())
    let outcome = Result { try changeset.apply(to: target) { try ours.decide($0) } }
    if case .failure(is ConversionError) = outcome, recording.hasBrokenText {
      isRefused = true
      return Changeset.Decisions(data: [])
    }
    if try hasUpdatesThatAreMistaken(changeset) {
      mistaken += 1
      return Changeset.Decisions(data: [])
    }
    let expected = sqlite.apply(changeset, theirs)
    try WrongAnswer.check(
      ours.log, theirs.log, "the log of conflicts, SQLite's code being \(expected.code),")
    try WrongAnswer.check(
      code(of: outcome, ours), expected.code & 0xff,
      "the code, of \(outcome) after \(ours.log), SQLite's message being \(sqlite.message),")
    let queries = try rowQueries(of: target)
    for query in queries {
      let rows = try target.executeQuery(SQL(raw: query)).map { try $0.get(at: 0, as: String.self) }
      try WrongAnswer.check(
        rows.map { $0 + "\n" }.joined() + "\n", try sqlite.text(query), "the rows of \(query)")
    }
    pairs += 1
    kinds.merge(ours.kinds, uniquingKeysWith: +)
    guard case .success(let decisions) = outcome else { return Changeset.Decisions(data: []) }
    if isAppended {
      // SQLite names a table again after another one about which nothing was decided.
      try WrongAnswer.check(
        try SessionLibrary.lines(of: Changeset(data: decisions.data), isSorted: false),
        try SessionLibrary.lines(of: Changeset(data: expected.decisions.data), isSorted: false),
        "what was decided")
    } else {
      try WrongAnswer.check(decisions, expected.decisions, "what was decided")
    }
    return decisions
  }

  /// Whether SQLite (3.40) mistakes updates of a changeset. An update that sets its key only, to an equal value (1 to
  /// 1.0), or nothing, as rebasing may leave it, becomes a statement that isn't SQL, or SQLITE_CORRUPT. An update that
  /// sets the same columns as an earlier one runs that one's statement, even if it compares other columns, as a rebased
  /// insertion does: it is compared with the earlier one's values, with fewer of its own, or gives SQLITE_RANGE.
  private func hasUpdatesThatAreMistaken(_ changeset: Changeset) throws -> Bool {
    var isFound = false
    var compared: [[String]: [Int]] = [:]
    try readable(changeset).forEach { row in
      guard row.kind == .update else { return }
      let set = row.new.indices.filter { row.new[$0] != nil }
      if set.allSatisfy(row.primaryKey.contains) { isFound = true }
      let others = row.old.indices.filter { row.old[$0] != nil }
      let earlier = compared.updateValue(others, forKey: [row.table] + set.map { "\($0)" })
      if let earlier, earlier != others { isFound = true }
    }
    return isFound
  }

  /// The changeset with UTF-8 in place of the one text that is none; nothing else has these bytes.
  private func readable(_ changeset: Changeset) -> Changeset {
    guard recording.hasBrokenText else { return changeset }
    var data = changeset.data
    for index in data.indices.dropFirst() where data[index] == 0xff && data[index - 1] == 0x61 {
      data[index] = 0x61
    }
    return Changeset(data: data)
  }

  /// SQLite's code for what Larder throws.
  private func code(
    of outcome: Result<Changeset.Decisions, any Error>, _ decisions: ConflictDecisions
  ) -> Int32 {
    switch outcome {
    case .success: 0
    // SQLite says of foreign keys that a constraint is broken, whatever is decided.
    case .failure where decisions.log.last?.hasPrefix("5 ") == true: 19
    case .failure(let error as DatabaseError): error.code.rawValue
    case .failure: -1
    }
  }

  /// A query for the rows of each table, as texts, in an order of their own.
  private func rowQueries(of db: Database) throws -> [String] {
    let tables = try db.executeQuery(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ).map { try $0.get(at: 0, as: String.self) }
    return try tables.map { table in
      let columns = try db.executeQuery("SELECT name FROM pragma_table_xinfo(\(table))").map {
        try $0.get(at: 0, as: String.self).quotedIdentifier
      }
      let words = columns.map {
        "CASE typeof(\($0)) WHEN 'text' THEN 't' || hex(\($0)) WHEN 'real' THEN printf('%!.17g', \($0)) "
          + "ELSE quote(\($0)) END"
      }
      let row = words.joined(separator: " || ' ' || ")
      return "SELECT \(row) FROM \(table.quotedIdentifier) ORDER BY 1"
    }
  }

  // MARK: Rebasing

  private mutating func compareRebase(
    of ours: Changeset, onto first: Changeset.Decisions, _ second: Changeset.Decisions,
    in remote: Database
  ) throws {
    let rebased = try ours.rebased(onto: first, second)
    if try !forgetsDecision(ours, [first, second]) {
      let expected = try SessionLibrary.rebased(ours, onto: first, second)
      try WrongAnswer.check(
        try SessionLibrary.lines(of: rebased), try SessionLibrary.lines(of: expected), "the rebase")
    }
    try compareApplying(rebased, to: remote)
  }

  /// Whether there is another decision about a row whose deletion was made all the same: SQLite then forgets both
  /// (3.40).
  private func forgetsDecision(_ ours: Changeset, _ decisions: [Changeset.Decisions]) throws -> Bool
  {
    var keys: [String: [Int]] = [:]
    try? ours.forEach { keys[$0.table] = $0.primaryKey }
    var deleted: Set<[String]> = []
    for one in decisions {
      let lines = try SessionLibrary.lines(of: Changeset(data: one.data), isSorted: false)
      for line in lines {
        let isDeletion = line.contains(" 9 ")
        let parts = line.components(separatedBy: isDeletion ? " old " : " new ")
        let values = (parts[1].components(separatedBy: " new")[0]).components(separatedBy: " ")
        let table = parts[0].components(separatedBy: isDeletion ? " 9 " : " 18 ")[0]
        guard let key = keys[table] else { continue }
        let row = [table] + key.map { values[$0] }
        if deleted.contains(row) { return true }
        if isDeletion, line.contains(" 9 indirect old ") { deleted.insert(row) }
      }
    }
    return false
  }
}
