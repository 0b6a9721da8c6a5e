import FoundationEssentials
import LarderSQLite

/// Commit tokens: a transaction writes a random token to a table. If the answer to its COMMIT is lost, the
/// token tells whether it was committed.
///
/// `pg_xact_status` can't tell it: after a failover, the new primary assigns the same transaction ids again.
///
/// The look-up of a missing token writes it too, as refused. So it waits for a transaction that is still
/// running, by the key that both insert, and a transaction that comes late can't be committed any more.
struct CommitTokens {
  /// The table, with its schema: a transaction may have another search path.
  private let table: String
  /// How long tokens are kept, in seconds.
  private let age: Int64
  /// How many commits a connection makes between two cleanings.
  private static let commitsPerCleaning = 4_096
  private var commitsLeft = commitsPerCleaning

  init(schema: String, _ configuration: PostgresConfiguration) {
    table = "\(schema.quotedIdentifier).larder_commit"
    let limit = configuration.retryLimit?.bounded ?? .zero
    age = max(600, 4 * limit.components.seconds)
  }

  /// The statement that is sent before COMMIT.
  func insertion(of token: UUID) -> String {
    "INSERT INTO \(table) (token) VALUES ('\(token.uuidString)')"
  }

  /// Whether the table is there: one row with 1 or 0.
  var presence: String {
    "SELECT (to_regclass(\(table.quotedText)) IS NOT NULL)::integer::bigint"
  }

  /// The statement that makes the table. `written_at` is the time of the statement, not of its transaction,
  /// which may have begun long ago.
  var creation: String {
    """
    CREATE TABLE IF NOT EXISTS \(table) (
      token uuid PRIMARY KEY,
      written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      refused boolean NOT NULL DEFAULT false)
    """
  }

  /// Whether the token's transaction wasn't committed, and never will be: one row with 1 or 0.
  ///
  /// The row is written in any case: with synchronous standbys, the answer comes only once they have
  /// everything that was committed until then.
  func refusal(of token: UUID) -> String {
    """
    INSERT INTO \(table) AS known (token, refused) VALUES ('\(token.uuidString)', true)
    ON CONFLICT (token) DO UPDATE SET refused = known.refused RETURNING refused::integer::bigint
    """
  }

  /// Deletes the tokens that are too old to be looked for. It doesn't wait for other connections that do the
  /// same.
  var cleaning: String {
    """
    DELETE FROM \(table) WHERE token IN (
      SELECT token FROM \(table) WHERE written_at < now() - interval '\(age) seconds'
      LIMIT 100000 FOR UPDATE SKIP LOCKED)
    """
  }

  /// Counts a commit. Returns whether it is time to clean.
  mutating func isCleaningDue() -> Bool {
    commitsLeft -= 1
    guard commitsLeft <= 0 else { return false }
    commitsLeft = Self.commitsPerCleaning
    return true
  }
}

extension PostgresConnection {
  /// The commit tokens, whose table is in the schema in which the connection begins; nil if they are off.
  func commitTokens() throws -> CommitTokens? {
    guard configuration.commitTokens else { return nil }
    let statement = try prepare("SELECT current_schema()", parameterCount: 0)
    try statement.execute()
    let schema =
      try statement.next() ? String(decoding: statement.column(0).bytes, as: UTF8.self) : ""
    try statement.reset()
    guard !schema.isEmpty else {
      throw PostgresFailure("3F000", "no schema of the search path exists")
    }
    return CommitTokens(schema: schema, configuration)
  }
}
