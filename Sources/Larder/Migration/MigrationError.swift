import LarderSQLite

/// The reason why a ``Migrator`` refuses a database or couldn't migrate it. No migration is half applied,
/// except one that runs outside a transaction.
public enum MigrationError: Error, Sendable {
  /// The program's list of migrations is invalid; all operations throw this.
  case declaration(problem: String)
  /// A newer program has applied these migrations, which come after all that this program knows.
  case newerDatabase(unknown: [String])
  /// The database has no migration history, and its `user_version` is none that a migration replaces.
  case unknownUserVersion(Int32, known: [Int32])
  /// The migration was applied, but isn't in the list.
  case missing(migration: String)
  /// A migration was applied at a position where the list has another.
  case reordered(applied: String, declared: String)
  /// The migration isn't the one that was applied under its name.
  case changed(migration: String)
  /// The migration threw, or couldn't be committed, and was undone; changes outside a transaction stay.
  case failed(migration: String, error: any Error)
  /// The migration would have left rows that refer to missing rows, or tables that refer to a missing key,
  /// and was undone. Violations from before don't count. The first hundred are listed.
  case foreignKeys(migration: String, violations: [ForeignKeyViolation])
  /// The migration can't be undone, since it has no `down`. None was undone.
  case irreversible(migration: String)
  /// The migration was to be the last one kept, but isn't applied.
  case notApplied(migration: String)
  /// The database isn't as the migrations that were to be adopted would make it, in ways that weren't
  /// accepted: declared is what the migrations make, found is what the database has. Nothing was recorded.
  case differences(migration: String, [TableDifference])
  /// The problems found by ``Migrator/check(oldDatabases:dumps:records:queries:configuration:)``, each as a
  /// text that begins with the database's name.
  case check(problems: [String])

  /// The statement that failed, if the error is about one.
  public var sql: String? {
    guard case .failed(_, let error) = self else { return nil }
    return (error as? DatabaseError)?.sql ?? (error as? ConversionError)?.sql
  }
}

extension MigrationError: CustomStringConvertible {
  /// One line with the migration and the problem; for a check, one line for each problem.
  public var description: String {
    switch self {
    case .declaration(let problem): "the list of migrations is wrong: \(problem)"
    case .newerDatabase(let unknown):
      "a newer program has migrated the database: this one doesn't know \(unknown.quotedList)"
    case .unknownUserVersion(let version, let known):
      if let last = known.last, version > last {
        "the database is newer than this program: its user_version is \(version), "
          + "the highest known is \(last)"
      } else {
        "no migration replaces the database's user_version \(version), "
          + "only \(known.map { "\($0)" }.joined(separator: ", "))"
      }
    case .missing(let name): "the migration “\(name)” was applied, but is missing from the list"
    case .reordered(let applied, let declared):
      "the migration “\(applied)” was applied where the list has “\(declared)”"
    case .changed(let name): "the migration “\(name)” has changed since it was applied"
    case .failed(let name, let error):
      (error as? DatabaseError)?.leavesChanges == true
        ? "the migration “\(name)” failed, and what it did outside of a transaction remains: \(error)"
        : "the migration “\(name)” failed and was undone: \(error)"
    case .foreignKeys(let name, let violations):
      "the migration “\(name)” violates foreign keys and was undone: "
        + violations.prefix(3).map { "\($0)" }.joined(separator: "; ")
        + (violations.count > 3 ? "; …" : "")
    case .irreversible(let name): "the migration “\(name)” can't be undone: it has no “down”"
    case .notApplied(let name): "the migration “\(name)” isn't applied"
    case .differences(let name, let differences):
      "the database isn't as “\(name)” and the migrations before it make it:\n"
        + differences.map { "\($0)" }.joined(separator: "\n")
    case .check(let problems): problems.joined(separator: "\n")
    }
  }
}
