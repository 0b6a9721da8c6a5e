import LarderSQLite

// Keys that a program chooses, and the numbers that the server gives to rows without one.
//
// A sequence isn't rolled back: it goes on behind the keys of a transaction only once that is committed, and behind
// those that are there then. So what was undone has moved nothing, whatever its keys were.

/// The keys of rows that a transaction has written, by their tables.
struct ChosenKeys {
  struct Column: Hashable {
    let table: String
    let column: String
  }

  /// The greatest.
  private(set) var keys: [Column: Int64] = [:]

  mutating func note(_ key: Int64, _ column: Column) {
    keys[column] = max(keys[column] ?? key, key)
  }

  mutating func removeAll() { keys = [:] }
}

extension ChosenKeys.Column {
  /// No sequence gets that far by itself, so that a row with a greater key is never in its way, and the next rows
  /// aren't left without numbers. One of fewer bits keeps a sixteenth of its numbers.
  private static let greatestFollowed =
    "least(4611686018427387904, numbers.most - numbers.most / 16)"

  private var key: String { column.quotedIdentifier }

  /// The sequence, and its last number, where the role may move it.
  private var sequence: String {
    """
    SELECT s, coalesce(pg_catalog.pg_sequence_last_value(s), q.seqstart - 1) AS last, q.seqincrement AS step, \
    q.seqmax AS most \
    FROM (SELECT CAST(pg_get_serial_sequence(\(table.quotedIdentifier.quotedText), \
    \(column.quotedText)) AS regclass) AS s) AS own JOIN pg_catalog.pg_sequence q ON q.seqrelid = s \
    WHERE q.seqincrement > 0 AND has_sequence_privilege(s, 'UPDATE')
    """
  }

  /// Up to a number, which is behind the last. Few are taken one by one: what others take meanwhile is never given
  /// out again then.
  private func moved(to number: String) -> String {
    """
    CASE WHEN step = 1 AND \(number) - last <= 1000 \
    THEN (SELECT max(nextval(s) + 0 * i) FROM generate_series(last + 1, \(number)) AS i) \
    ELSE setval(s, \(number)) END
    """
  }

  /// Has the numbers go on behind the greatest key that is there, up to the one that was written.
  func follow(_ key: Int64) -> String {
    """
    SELECT \(moved(to: "number")) FROM (\(sequence)) AS numbers CROSS JOIN LATERAL (\
    SELECT max(own.\(self.key)) AS number FROM \(table.quotedIdentifier) AS own \
    WHERE own.\(self.key) <= \(key) AND own.\(self.key) < \(Self.greatestFollowed)) AS there \
    WHERE number > last
    """
  }

  /// Has the numbers go on behind keys that lie in their way: the next, and those that follow it without a gap.
  var pass: String {
    let table = table.quotedIdentifier
    return """
      SELECT \(moved(to: "number")) FROM (\(sequence)) AS numbers CROSS JOIN LATERAL (\
      SELECT own.\(key) AS number FROM \(table) AS own WHERE own.\(key) > numbers.last \
      AND own.\(key) < \(Self.greatestFollowed) \
      AND NOT EXISTS (SELECT 1 FROM \(table) AS next WHERE next.\(key) = own.\(key) + 1) \
      ORDER BY own.\(key) LIMIT 1) AS there \
      WHERE EXISTS (SELECT 1 FROM \(table) AS first WHERE first.\(key) = numbers.last + 1)
      """
  }
}

extension PostgresEngine {
  func noteKey(_ key: Int64, of column: String, in table: String) throws {
    keys.note(key, ChosenKeys.Column(table: table, column: column))
    if !hasTransaction { try followKeys() }
  }

  func passKeys(of column: String, in table: String) throws {
    let column = ChosenKeys.Column(table: table, column: column)
    guard hasTransaction, keys.keys[column] != nil else { return }
    try perform(until: soon) { _ = try connection.run(column.pass) }
  }

  /// What follows the transaction: the end of its turn; and its keys, in a transaction of its own that never fails for
  /// what others do.
  var following: [[String]] {
    var parts = hasTurn ? [["SELECT pg_advisory_unlock(\(Self.turnKey))"]] : []
    let statements = keys.keys.map { $0.follow($1) }
    if !statements.isEmpty {
      parts.append(["BEGIN ISOLATION LEVEL READ COMMITTED"] + statements + ["COMMIT"])
    }
    return parts
  }

  /// Notes that all of ``following`` is done, or can't be.
  func noteFollowed() {
    hasTurn = false
    keys.removeAll()
  }

  /// Does what follows a transaction, outside of one.
  func followKeys() throws {
    let following = following
    noteFollowed()
    if following.isEmpty { return }
    try perform(until: soon) {
      var done = 0
      try connection.run(all: [], then: following, done: &done)
    }
  }

  // MARK: Turns

  private static let turnKey = "hashtext('larder_turn'), 0"

  /// By a lock of the session, since the transaction's snapshot has to be made after it was had. Behind a pooler there are
  /// no such.
  func waitForTurn(until deadline: Duration?) throws {
    guard connection.hasDeferredBegin, !connection.isPooled, !hasTurn else { return }
    try perform(until: deadline) {
      try connection.beforeDeferredBegin {
        _ = try connection.run("SELECT pg_advisory_lock(\(Self.turnKey))")
      }
      hasTurn = true
    }
  }
}
