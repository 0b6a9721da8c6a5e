/// What migrations have done to a copy of a database; see `Migrator.dryRun`.
public struct MigrationReport: Sendable {
  /// What one migration did.
  public struct Migration: Sendable {
    /// Its name.
    public let name: String
    /// What it ran, in the order of the first times. A statement that ran again is counted.
    public internal(set) var statements: [Statement] = []
    /// How many rows it inserted, changed or deleted, by triggers too.
    public internal(set) var rowsChanged = 0
    /// How long it took, with the check of foreign keys.
    public internal(set) var duration: Duration = .zero
  }

  /// A statement, and how often it ran.
  public struct Statement: Sendable {
    /// Its text, with placeholders for arguments unless
    /// ``LarderSQLite/Configuration/showsArguments`` is on.
    public let sql: String
    /// How often it ran.
    public internal(set) var count: Int
    /// The time spent in SQLite, of all runs.
    public internal(set) var duration: Duration
  }

  /// The migrations that ran, in order. The last one failed if there is an error.
  public let migrations: [Migration]
  /// Why the last one failed, usually a ``MigrationError``; nil if all is well.
  public let error: (any Error)?
  /// What is wrong with the file afterwards, in SQLite's words; empty if nothing is.
  public let integrityProblems: [String]
  /// Rows that afterwards refer to rows that aren't there, up to a hundred.
  public let foreignKeyViolations: [ForeignKeyViolation]

  /// Whether all migrations ran and nothing is wrong afterwards.
  public var isSuccess: Bool {
    error == nil && integrityProblems.isEmpty && foreignKeyViolations.isEmpty
  }
}

extension MigrationReport: CustomStringConvertible {
  /// Some lines for each migration, and what is wrong.
  public var description: String {
    var lines = migrations.flatMap { migration in
      ["“\(migration.name)”: \(migration.rowsChanged) rows changed in \(migration.duration)"]
        + migration.statements.map { "  \($0.count) × \($0.sql)" }
    }
    if migrations.isEmpty { lines.append("nothing to migrate") }
    if let error { lines.append("error: \(error)") }
    lines += integrityProblems.map { "integrity: \($0)" }
    lines += foreignKeyViolations.map { "foreign key: \($0)" }
    return lines.joined(separator: "\n")
  }
}
