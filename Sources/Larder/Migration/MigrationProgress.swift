/// How far `Migrator.migrate` has got: a migration begins, or has ended.
public struct MigrationProgress: Hashable, Sendable {
  /// The name of the migration.
  public let name: String
  /// Its place in the list from 0.
  public let index: Int
  /// The number of migrations in the list.
  public let count: Int
  /// How long it took; nil while it begins.
  public let duration: Duration?
}
