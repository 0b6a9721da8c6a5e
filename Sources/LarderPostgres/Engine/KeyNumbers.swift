import LarderSQLite

// Keys that a program chooses, and the numbers that the server gives to rows without one.
//
// A sequence isn't rolled back. So it is moved past the keys of a transaction only once that is committed,
// and only past keys that exist then: a transaction that was rolled back has moved nothing, whatever its keys
// were.

/// The greatest keys that a transaction has written, by column.
struct ChosenKeys {
  struct Column: Hashable {
    /// The table's quoted name.
    let table: String
    let column: String
  }

  /// The greatest key of each column.
  private(set) var keys: [Column: Int64] = [:]

  mutating func note(_ key: Int64, _ column: Column) {
    keys[column] = max(keys[column] ?? key, key)
  }

  mutating func removeAll() { keys = [:] }
}

extension ChosenKeys.Column {
  /// The limit up to which a sequence is moved. No sequence gets that far by itself, so that a row with a
  /// greater key is never in its way, and the next rows still get numbers. A sequence of fewer bits keeps a
  /// sixteenth of its numbers.
  private static let greatestFollowed =
    "least(4611686018427387904, numbers.most - numbers.most / 16)"

  private var key: String { column.quotedIdentifier }

  /// The query for the column's sequence and its last number; no row if the role may not move it.
  private var sequence: String {
    """
    SELECT s, coalesce(pg_catalog.pg_sequence_last_value(s), q.seqstart - 1) AS last, q.seqincrement AS step, \
    q.seqmax AS most \
    FROM (SELECT CAST(pg_get_serial_sequence(\(table.quotedText), \
    \(column.quotedText)) AS regclass) AS s) AS own JOIN pg_catalog.pg_sequence q ON q.seqrelid = s \
    WHERE q.seqincrement > 0 AND has_sequence_privilege(s, 'UPDATE')
    """
  }

  /// Moves the sequence forward to a number. A short way is taken number by number, so that numbers that
  /// others take meanwhile are never given out again.
  private func moved(to number: String) -> String {
    """
    CASE WHEN step = 1 AND \(number) - last <= 1000 \
    THEN (SELECT max(nextval(s) + 0 * i) FROM generate_series(last + 1, \(number)) AS i) \
    ELSE setval(s, \(number)) END
    """
  }

  /// Moves the sequence past the greatest key that exists, up to the one that was written.
  func follow(_ key: Int64) -> String {
    """
    SELECT \(moved(to: "number")) FROM (\(sequence)) AS numbers CROSS JOIN LATERAL (\
    SELECT max(own.\(self.key)) AS number FROM \(table) AS own \
    WHERE own.\(self.key) <= \(key) AND own.\(self.key) < \(Self.greatestFollowed)) AS there \
    WHERE number > last
    """
  }

  /// Moves the sequence past the keys in its way: its next number, and keys that follow it without a gap.
  var pass: String {
    """
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

  /// The parts that follow the transaction: the end of its turn, and moving sequences past its keys. The
  /// latter is a transaction of its own, which never fails for a conflict with others.
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

  /// Runs ``following``, outside of a transaction.
  func followKeys() throws {
    let following = following
    noteFollowed()
    if following.isEmpty { return }
    _ = try perform(until: soon) { try connection.run(all: [], then: following) }
  }

  // MARK: Turns

  private static let turnKey = "hashtext('larder_turn'), 0"

  /// Waits for the turn by a lock of the session, since the transaction's snapshot has to be made after the
  /// lock was taken. Behind a pooler sessions have no locks.
  func waitForTurn(until deadline: Duration?) throws {
    guard connection.hasDeferredBegin, !connection.isPooled, !hasTurn else { return }
    // A statement that is cancelled may have got the lock, too. The end of the scope gives it back.
    hasTurn = true
    try perform(until: deadline) {
      try connection.beforeDeferredBegin {
        _ = try connection.run("SELECT pg_advisory_lock(\(Self.turnKey))")
      }
    }
  }
}
