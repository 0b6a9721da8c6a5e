import FoundationEssentials
import LarderSQLite

/// Commit tokens: a random token, which is written to a table in the transaction itself, tells afterwards whether
/// that was committed whose answer never came.
///
/// `pg_xact_status` can't tell it: after a failover the new primary hands out the same numbers again.
///
/// Whoever looks for a token that isn't there writes it too, as refused. So a transaction that is still at it is
/// waited for, by the key that both insert, and one that comes late can't be committed any more.
struct CommitTokens {
  /// The table, with its schema: a transaction may have another path.
  private let table: String
  /// For how long tokens are kept, in seconds.
  private let age: Int64
  /// How many commits a connection makes between two cleanings.
  private static let commitsPerCleaning = 4_096
  private var commitsLeft = commitsPerCleaning

  init(schema: String, _ configuration: PostgresConfiguration) {
    table = "\(schema.quotedIdentifier).larder_commit"
    let limit = configuration.retryLimit?.bounded ?? .zero
    age = max(600, 4 * limit.components.seconds)
  }

  /// The statement that goes before COMMIT.
  func insertion(of token: UUID) -> String {
    "INSERT INTO \(table) (token) VALUES ('\(token.uuidString)')"
  }

  /// Whether the table is there: one row with 1 or 0.
  var presence: String {
    "SELECT (to_regclass(\(table.quotedText)) IS NOT NULL)::integer::bigint"
  }

  /// The time is that of the statement, not of its transaction, which may have begun long ago.
  var creation: String {
    """
    CREATE TABLE IF NOT EXISTS \(table) (
      token uuid PRIMARY KEY,
      written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      refused boolean NOT NULL DEFAULT false)
    """
  }

  /// Whether the token's transaction wasn't committed, and now never is: one row with 1 or 0.
  ///
  /// The row is written in any case: where standbys are synchronous, the answer isn't one before they have all that
  /// was committed until then.
  func refusal(of token: UUID) -> String {
    """
    INSERT INTO \(table) AS known (token, refused) VALUES ('\(token.uuidString)', true)
    ON CONFLICT (token) DO UPDATE SET refused = known.refused RETURNING refused::integer::bigint
    """
  }

  /// Removes what is too old for anybody to look for. Others who do the same aren't waited for.
  var cleaning: String {
    """
    DELETE FROM \(table) WHERE token IN (
      SELECT token FROM \(table) WHERE written_at < now() - interval '\(age) seconds'
      LIMIT 100000 FOR UPDATE SKIP LOCKED)
    """
  }

  /// Counts a commit: whether it is time to clean.
  mutating func isCleaningDue() -> Bool {
    commitsLeft -= 1
    guard commitsLeft <= 0 else { return false }
    commitsLeft = Self.commitsPerCleaning
    return true
  }
}

extension PostgresConnection {
  /// The tokens' table is that of the schema in which the connection begins.
  func commitTokens() throws -> CommitTokens? {
    guard configuration.commitTokens else { return nil }
    let statement = try prepare("SELECT current_schema()", parameterCount: 0)
    try statement.execute()
    let schema =
      try statement.next() ? String(decoding: statement.column(0).bytes, as: UTF8.self) : ""
    try statement.reset()
    guard !schema.isEmpty else {
      throw PostgresFailure("3F000", "the search path leads to no schema that is there")
    }
    return CommitTokens(schema: schema, configuration)
  }
}
