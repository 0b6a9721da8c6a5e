/// The tables that Larder itself creates in a database.
package enum BookkeepingTables {
  /// The history of migrations.
  package static let migrations = "larder_migration"
  /// The tokens of commits whose answer may be lost.
  package static let commits = "larder_commit"
  /// The identity of a database that is copied.
  package static let identity = "larder_identity"

  package static let all = [migrations, commits, identity]
}
