import Larder
import LarderPostgres

/// What a session has beside its transaction: what one scope could leave to the next.
package struct SessionState: Equatable, CustomStringConvertible {
  private let parts: [String]

  /// Reads that of a pool's connection, by nothing that would change it.
  package init(_ pool: PostgresPool) throws {
    parts = try pool.inDatabase { db in
      try Self.questions.map { try db.value(SQL(raw: $0), as: String?.self).flatMap(\.self) ?? "" }
    }
  }

  package var description: String { parts.joined(separator: "; ") }

  /// How this one differs from another, which is that of a new session.
  package func difference(from other: SessionState) -> String? {
    let different = zip(parts, other.parts).filter { $0 != $1 }
    return different.isEmpty
      ? nil : different.map { "\($0) rather than \($1)" }.joined(separator: "; ")
  }

  private static let questions = [
    "SELECT current_user || ' for ' || session_user",
    // Those of a library are there once that is loaded.
    """
    SELECT string_agg(name || '=' || setting, ', ' ORDER BY name) FROM pg_settings
    WHERE context IN ('user', 'superuser') AND name NOT LIKE 'plpgsql.%'
    """,
    // A setting of one's own that was reset is an empty text, as it is behind SET LOCAL.
    "SELECT coalesce(current_setting('app.tenant', true), '') || coalesce(current_setting('local.tenant', true), '')",
    "SELECT string_agg(name, ', ' ORDER BY name) FROM pg_cursors WHERE is_holdable",
    "SELECT string_agg(name, ', ' ORDER BY name) FROM pg_prepared_statements WHERE name NOT LIKE 'larder%'",
    "SELECT string_agg(channel, ', ') FROM (SELECT * FROM pg_listening_channels() AS channel) AS channels",
    """
    SELECT string_agg(classid || '.' || objid || ' ' || mode, ', ' ORDER BY objid) FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'advisory'
    """,
    """
    SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class
    WHERE relnamespace = pg_my_temp_schema() AND relkind IN ('r', 'v', 'S')
    """,
  ]
}
