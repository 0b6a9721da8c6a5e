import LarderSQLite
import Testing

// What the tested library is built with: tests of an option run where it is there, and those of its error where it
// isn't.

extension Trait where Self == ConditionTrait {
  /// For tests of rows' changes.
  static var needsPreupdateHook: Self { needs("ENABLE_PREUPDATE_HOOK") }

  /// For tests of changesets.
  static var needsSessions: Self { needs("ENABLE_SESSION") }

  /// For tests of the origins of a result's columns.
  static var needsColumnMetadata: Self { needs("ENABLE_COLUMN_METADATA") }

  private static func needs(_ option: String) -> Self {
    .enabled(
      if: SQLiteLibrary.compileOptions.contains(option), "SQLite was built without \(option)")
  }
}

extension SQLiteLibrary {
  /// The place that an error should tell: SQLite knows it since 3.38.
  static func offset(_ bytes: Int) -> Int? { versionNumber < 3_038_000 ? nil : bytes }
}
