import Larder
import PostgresSupport
import Testing

/// The reasons for which a test doesn't run on PostgreSQL: it tests a feature of SQLite's, or a
/// behaviour in which the two differ.
enum KnownDifference: String, CaseIterable {
  case anyTyped = "columns for values of any kind, and types that are converted as values come"
  case definitions = "SQLite's DDL text, and databases that other programs made with it"
  case catalog = "SQLite's catalog, PRAGMAs and functions, read by a test"
  case triggers = "triggers, which a server writes as functions of its own language"
  case replacing = "INSERT OR REPLACE, FAIL, ROLLBACK and ABORT"
  case functions = "functions and collations of the program's own"
  case limits = "limits of a connection, and its statement cache's figures"
  case files = "files: attached, copied, in another encoding, or asked by SQLite's shell"
  case nul = "NUL in text"
  case dateFormats = "a connection's own format of dates"
  case locking = "what a lock refuses while rows are read, or another connection writes"
  case keys = "foreign keys that are deferred for a batch, and compared by affinity"
  case migrations = "migrations and schemas that are read from a file"
}

extension Trait where Self == ConditionTrait {
  /// Runs the test on SQLite only.
  static func onlySQLite(_ difference: KnownDifference) -> Self {
    .disabled(if: TestEngine.isPostgres, "\(difference.rawValue)")
  }
}

/// Expects that PostgreSQL refuses the test's statements.
struct Refusal: TestTrait, TestScoping {
  let difference: KnownDifference

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard TestEngine.isPostgres else { return try await function() }
    let refused = "PostgreSQL refuses: \(difference.rawValue)"
    try await withKnownIssue(Comment(rawValue: refused)) {
      try await function()
    } matching: { issue in
      issue.error is UnsupportedByEngine
    }
  }
}

extension Trait where Self == Refusal {
  /// Expects that PostgreSQL throws ``UnsupportedByEngine``.
  static func refused(_ difference: KnownDifference) -> Self { Refusal(difference: difference) }
}
