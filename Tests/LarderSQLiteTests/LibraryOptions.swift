import LarderSQLite
import Testing

// Traits for the compile options of the tested SQLite library. Tests of an option run only if the library was
// built with it.

extension Trait where Self == ConditionTrait {
  /// Enables tests that observe changes of rows.
  static var needsPreupdateHook: Self { needs("ENABLE_PREUPDATE_HOOK") }

  /// Enables tests of changesets.
  static var needsSessions: Self { needs("ENABLE_SESSION") }

  /// Enables tests of the origins of a result's columns.
  static var needsColumnMetadata: Self { needs("ENABLE_COLUMN_METADATA") }

  /// Enables tests of the table `dbstat`.
  static var needsDatabaseStatistics: Self { needs("ENABLE_DBSTAT_VTAB") }

  private static func needs(_ option: String) -> Self {
    .enabled(
      if: SQLiteLibrary.compileOptions.contains(option), "SQLite was built without \(option)")
  }
}

extension SQLiteLibrary {
  /// The offset that an error should have: `bytes` since SQLite 3.38, nil before.
  static func offset(_ bytes: Int) -> Int? { versionNumber < 3_038_000 ? nil : bytes }
}
