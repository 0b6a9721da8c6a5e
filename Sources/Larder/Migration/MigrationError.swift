import LarderSQLite

/// Why a ``Migrator`` refuses a database, or could not migrate it. Whatever the case, no migration
/// is half applied.
public enum MigrationError: Error, Sendable {
  /// The program's list of migrations doesn't hold together; all operations throw this.
  case declaration(problem: String)
  /// A newer program has applied these, which come after all that this one knows.
  case newerDatabase(unknown: [String])
  /// The database has no bookkeeping, and a `user_version` for which no migration stands.
  case unknownUserVersion(Int32, known: [Int32])
  /// It was applied, but isn't in the list.
  case missing(migration: String)
  /// One was applied where the list has another.
  case reordered(applied: String, declared: String)
  /// It isn't what was applied under its name.
  case changed(migration: String)
  /// It threw, or could not be committed, and was undone; but for what has run outside of a transaction.
  case failed(migration: String, error: any Error)
  /// It would have left rows that refer to rows that aren't there, or tables that refer to no key,
  /// which weren't there before, and was undone. The first hundred are listed.
  case foreignKeys(migration: String, violations: [ForeignKeyViolation])
  /// It has nothing that undoes it. None was undone.
  case irreversible(migration: String)
  /// It was to be the last that stays, but isn't applied.
  case notApplied(migration: String)
  /// What ``Migrator/check(oldDatabases:records:queries:configuration:)`` has found to be wrong: each
  /// in one text, which begins with the database that has it.
  case check(problems: [String])

  /// The statement that failed, where it was one.
  public var sql: String? {
    guard case .failed(_, let error) = self else { return nil }
    return (error as? DatabaseError)?.sql ?? (error as? ConversionError)?.sql
  }
}

extension MigrationError: CustomStringConvertible {
  /// One line with the migration and what is wrong; one for each problem of a check.
  public var description: String {
    switch self {
    case .declaration(let problem):
      "the list of migrations is wrong: \(problem)"
    case .newerDatabase(let unknown):
      "a newer program has migrated the database: this one doesn't know \(Self.list(unknown))"
    case .unknownUserVersion(let version, let known):
      if let last = known.last, version > last {
        "the database is newer than this program: its user_version is \(version), "
          + "the highest known is \(last)"
      } else {
        "no migration stands for the database's user_version \(version), "
          + "only for \(known.map { "\($0)" }.joined(separator: ", "))"
      }
    case .missing(let name):
      "the migration “\(name)” was applied, but is missing in the list"
    case .reordered(let applied, let declared):
      "the migration “\(applied)” was applied where the list has “\(declared)”"
    case .changed(let name):
      "the migration “\(name)” has changed since it was applied"
    case .failed(let name, let error):
      (error as? DatabaseError)?.leavesChanges == true
        ? "the migration “\(name)” failed, and what it has done outside of a transaction stays: \(error)"
        : "the migration “\(name)” failed and was undone: \(error)"
    case .foreignKeys(let name, let violations):
      "the migration “\(name)” violates foreign keys and was undone: "
        + violations.prefix(3).map { "\($0)" }.joined(separator: "; ")
        + (violations.count > 3 ? "; …" : "")
    case .irreversible(let name):
      "the migration “\(name)” can't be undone: it has no “down”"
    case .notApplied(let name):
      "the migration “\(name)” isn't applied"
    case .check(let problems):
      problems.joined(separator: "\n")
    }
  }

  private static func list(_ names: [String]) -> String {
    names.map { "“\($0)”" }.joined(separator: ", ")
  }
}
