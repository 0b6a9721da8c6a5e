/// The tables that Larder itself creates in a database.
package enum BookkeepingTables {
  /// The history of migrations.
  package static let migrations = "larder_migration"
  /// The tokens of commits whose answer may be lost.
  package static let commits = "larder_commit"
  /// The identity of a database that is copied.
  package static let identity = "larder_identity"
  /// The places that the batches of migrations have come to.
  package static let backfills = "larder_backfill"

  package static let all = [migrations, commits, identity, backfills]

  /// The tables in which other programs' migrations keep their history.
  package static let ofOtherTools: Set<String> = [
    "_fluent_migrations", "_fluent_enums", "django_migrations", "schema_migrations",
    "ar_internal_metadata", "alembic_version", "_prisma_migrations", "flyway_schema_history",
    "databasechangelog", "databasechangeloglock", "knex_migrations", "knex_migrations_lock",
    "sequelizemeta", "grdb_migrations", "__efmigrationshistory", "__efmigrationslock",
    "goose_db_version", "_sqlx_migrations", "__diesel_schema_migrations", "__drizzle_migrations",
    "room_master_table", "android_metadata",
  ]
}
