import Larder
import LarderSQLite

// Statements outside of transactions behind a pooler, which gives the server's connection away after each of
// them: what they leave there would reach another program, and a reset would reach another connection.

extension StatementText {
  /// Whether the statement is only of use for what it leaves in its session: a setting, a lock, a temporary
  /// table.
  var isForSession: Bool {
    guard effects.contains(.session), let first = words.first else { return false }
    if Self.sessionVerbs.contains(first) || leavings.namesSession { return true }
    let kind = words.dropFirst().first { !["or", "replace", "local", "global"].contains($0) }
    return first == "create" && (kind == "temp" || kind == "temporary")
  }

  private static let sessionVerbs: Set = [
    "set", "reset", "listen", "prepare", "load", "discard", "deallocate", "declare",
  ]

  /// Whether the server refuses the statement in a transaction.
  var mustBeAlone: Bool {
    guard let first = words.first else { return false }
    switch first {
    case "vacuum", "cluster", "reindex": return true
    case "create", "drop", "alter":
      let kinds = ["database", "tablespace", "subscription", "system"]
      return isConcurrent || words.count > 1 && kinds.contains(words[1])
    default: return false
    }
  }

  /// The end of a transaction in SQL of the program's own; nil for other statements, and for an end with
  /// which another transaction begins.
  var ownEnd: TransactionControl? {
    let rest = words.dropFirst()
    guard let first = words.first, !rest.contains("to"), !rest.contains("prepared"),
      !rest.contains("chain") || rest.contains("no")
    else { return nil }
    return switch first {
    case "commit", "end": .commit
    case "rollback", "abort": .rollback
    default: nil
    }
  }
}

extension PostgresEngine {
  /// Runs a statement that may leave something in its session in one transaction with the session's reset.
  func runInOwnTransaction(_ body: () throws -> Void) throws {
    connection.isAltered = true
    try begin(beginning)
    do {
      try body()
      try commit()
    } catch {
      if hasTransaction {
        connection.deadline = soon.inNanoseconds
        try? rollback()
      }
      throw error
    }
  }

  /// The error for a statement outside of transactions whose effect would be lost, or reach others.
  func sessionError(_ sql: String) -> DatabaseError {
    DatabaseError(
      .misuse,
      """
      behind a pooler, a program has no session of its own: run the statement in a transaction \
      (inTransaction), at whose end its effects are undone; for a setting, use SET LOCAL
      """, sql: sql, engine: name)
  }
}
