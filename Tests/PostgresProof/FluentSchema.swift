import Larder
import LarderPostgres

/// The database of an index of packages that a service with Fluent and SQLKit made over the years: its statements are
/// those that such migrations send to PostgreSQL, one migration after the other.
enum FluentSchema {
  /// Creates the schema as Fluent's migrations do, with their two tables of its own.
  static func make(_ db: Database) throws {
    try db.executeStatements(
      """
      CREATE TABLE "_fluent_migrations"("id" UUID PRIMARY KEY, "name" TEXT NOT NULL, "batch" BIGINT NOT NULL,
        "created_at" TIMESTAMPTZ, "updated_at" TIMESTAMPTZ,
        CONSTRAINT "uq:_fluent_migrations.name" UNIQUE ("name"));
      CREATE TABLE "_fluent_enums"("id" UUID PRIMARY KEY, "name" TEXT NOT NULL, "case" TEXT NOT NULL,
        CONSTRAINT "uq:_fluent_enums.name+_fluent_enums.case" UNIQUE ("name", "case"));
      """)
    for (number, step) in steps.enumerated() {
      try db.executeStatements(step)
      try db.executeUpdate(
        """
        INSERT INTO _fluent_migrations VALUES
          (gen_random_uuid(), \("App.Step\(number + 1)"), \(number + 1), now(), now())
        """)
    }
    for value in Latest.allCases {
      try db.executeUpdate(
        "INSERT INTO _fluent_enums VALUES (gen_random_uuid(), 'version_latest', \(value.rawValue))")
    }
  }

  /// The first migration of a program with Larder: what the dump of the schema is in the program itself.
  static let migrator = Migrator([
    Migration("schema of Fluent") { db in
      for step in steps { try db.executeStatements(step) }
    }
  ])

  /// What the database has otherwise than the records declare it.
  static func differences(_ db: Database) throws -> [TableDifference] {
    try IndexedPackage.table.differences(db) + Repository.table.differences(db)
      + PackageVersion.table.differences(db) + Product.table.differences(db)
      + Target.table.differences(db)
      + PackageBuild.table.differences(db) + PackageCollection.table.differences(db)
      + CollectedPackage.table.differences(db) + FoundPackage.table.differences(db)
      + RecentPackage.table.differences(db) + WeightedKeyword.table.differences(db)
  }

  private static let stamps: SQL = "\"created_at\" TIMESTAMPTZ, \"updated_at\" TIMESTAMPTZ"

  static let steps: [SQL] = [
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """
    CREATE TABLE "packages"("id" UUID PRIMARY KEY, \(stamps), "url" TEXT NOT NULL, "last_commit_at" TIMESTAMPTZ,
      CONSTRAINT "uq:packages.url" UNIQUE ("url"))
    """,
    """
    CREATE TABLE "repositories"("id" UUID PRIMARY KEY, \(stamps), "package_id" UUID, "summary" TEXT,
      "default_branch" TEXT, "license" TEXT, "stars" BIGINT, "forks" BIGINT,
      CONSTRAINT "fk:repositories.package_id+packages.id" FOREIGN KEY ("package_id") REFERENCES "packages" ("id")
        ON DELETE CASCADE ON UPDATE NO ACTION,
      CONSTRAINT "uq:repositories.package_id" UNIQUE ("package_id"))
    """,
    """
    CREATE TABLE "versions"("id" UUID PRIMARY KEY, \(stamps), "package_id" UUID NOT NULL, "reference" JSONB,
      "package_name" TEXT, "commit" TEXT, "commit_date" TIMESTAMPTZ, "swift_versions" TEXT[],
      CONSTRAINT "fk:versions.package_id+packages.id" FOREIGN KEY ("package_id") REFERENCES "packages" ("id")
        ON DELETE CASCADE ON UPDATE NO ACTION)
    """,
    """
    CREATE TABLE "products"("id" UUID PRIMARY KEY, \(stamps), "version_id" UUID NOT NULL, "name" TEXT NOT NULL,
      CONSTRAINT "fk:products.version_id+versions.id" FOREIGN KEY ("version_id") REFERENCES "versions" ("id")
        ON DELETE CASCADE ON UPDATE NO ACTION)
    """,
    "ALTER TABLE \"packages\" ADD \"status\" TEXT DEFAULT 'none'",
    "ALTER TABLE \"packages\" ADD \"score\" BIGINT",
    "CREATE INDEX idx_packages_score ON packages (score)",
    "ALTER TABLE \"repositories\" ADD \"owner\" TEXT, ADD \"name\" TEXT",
    "CREATE UNIQUE INDEX idx_repositories_owner_name ON repositories (lower(owner), lower(name))",
    """
    CREATE INDEX idx_repositories_name_trgm ON repositories USING gin (name gin_trgm_ops);
    CREATE INDEX idx_repositories_summary_trgm ON repositories USING gin (summary gin_trgm_ops)
    """,
    "ALTER TABLE \"repositories\" ADD \"keywords\" TEXT[] DEFAULT '{}'",
    "CREATE INDEX idx_repositories_keywords ON repositories USING gin (keywords)",
    "CREATE TYPE \"version_latest\" AS ENUM ('default_branch', 'release')",
    "ALTER TABLE \"versions\" ADD \"latest\" version_latest",
    "ALTER TYPE \"version_latest\" ADD VALUE 'pre_release'",
    "CREATE INDEX idx_versions_latest_package ON versions (latest, package_id)",
    "CREATE INDEX idx_versions_package_id ON versions (package_id)",
    "ALTER TABLE \"versions\" ADD \"published_at\" TIMESTAMPTZ, ADD \"release_notes\" TEXT",
    "ALTER TABLE \"versions\" ADD \"supported_platforms\" JSONB[] DEFAULT '{}'",
    "ALTER TABLE \"versions\" ADD \"product_dependencies\" JSONB",
    """
    CREATE TABLE "builds"("id" UUID PRIMARY KEY, \(stamps), "version_id" UUID NOT NULL, "platform" TEXT NOT NULL,
      "status" TEXT NOT NULL, "swift_version" JSONB NOT NULL, "job_url" TEXT,
      CONSTRAINT "fk:builds.version_id+versions.id" FOREIGN KEY ("version_id") REFERENCES "versions" ("id")
        ON DELETE CASCADE ON UPDATE NO ACTION,
      CONSTRAINT "uq:builds.version_id+builds.platform+builds.swift_version"
        UNIQUE ("version_id", "platform", "swift_version"))
    """,
    "CREATE TYPE \"build_status\" AS ENUM ('triggered', 'ok', 'failed')",
    "ALTER TABLE \"builds\" ALTER COLUMN \"status\" TYPE build_status USING status::build_status",
    "ALTER TABLE \"builds\" ADD \"runner_id\" TEXT, ADD \"warnings\" TEXT[]",
    "CREATE INDEX idx_builds_status_created_at ON builds (status, created_at)",
    """
    ALTER TABLE "products" ADD "type" JSONB;
    UPDATE "products" SET "type" = '{"executable": {}}' WHERE "type" IS NULL;
    ALTER TABLE "products" ALTER COLUMN "type" SET NOT NULL
    """,
    "ALTER TABLE \"products\" ADD \"targets\" TEXT[] NOT NULL DEFAULT '{}'",
    "CREATE INDEX idx_products_version_id ON products (version_id)",
    """
    CREATE TABLE "targets"("id" UUID PRIMARY KEY, \(stamps), "version_id" UUID NOT NULL, "name" TEXT NOT NULL,
      CONSTRAINT "fk:targets.version_id+versions.id" FOREIGN KEY ("version_id") REFERENCES "versions" ("id")
        ON DELETE CASCADE ON UPDATE NO ACTION)
    """,
    "CREATE INDEX idx_targets_version_id ON targets (version_id)",
    "ALTER TABLE \"repositories\" ADD \"authors\" JSONB, ADD \"releases\" JSONB[] NOT NULL DEFAULT '{}'",
    "ALTER TABLE \"repositories\" ADD \"is_archived\" BOOL DEFAULT false",
    "ALTER TABLE \"repositories\" ADD \"last_activity_at\" TIMESTAMPTZ",
    "ALTER TABLE \"packages\" DROP \"last_commit_at\"",
    "ALTER TABLE \"packages\" ADD \"processing_stage\" TEXT",
    "CREATE INDEX idx_packages_stage ON packages (processing_stage, updated_at)",
    "ALTER TABLE \"packages\" ADD \"platform_compatibility\" TEXT[] DEFAULT '{}'",
    """
    CREATE TABLE "custom_collections"("id" UUID PRIMARY KEY, "created_at" TIMESTAMPTZ, "key" TEXT NOT NULL,
      "name" TEXT NOT NULL, CONSTRAINT "uq:custom_collections.key" UNIQUE ("key"))
    """,
    """
    CREATE TABLE "custom_collections+packages"("id" UUID PRIMARY KEY, "custom_collection_id" UUID NOT NULL,
      "package_id" UUID NOT NULL,
      CONSTRAINT "fk:cc+p.custom_collection_id" FOREIGN KEY ("custom_collection_id")
        REFERENCES "custom_collections" ("id") ON DELETE CASCADE,
      CONSTRAINT "fk:cc+p.package_id" FOREIGN KEY ("package_id") REFERENCES "packages" ("id") ON DELETE CASCADE,
      CONSTRAINT "uq:cc+p" UNIQUE ("custom_collection_id", "package_id"))
    """,
    """
    CREATE MATERIALIZED VIEW search AS
      SELECT p.id AS package_id, p.platform_compatibility, p.score, r.keywords, r.name AS repo_name, r.owner AS repo_owner,
        r.summary, r.stars, r.license, r.last_activity_at, v.package_name
      FROM packages p JOIN repositories r ON r.package_id = p.id
      JOIN versions v ON v.package_id = p.id AND v.latest = 'default_branch'
    """,
    """
    CREATE UNIQUE INDEX idx_search_package_id ON search (package_id);
    CREATE INDEX idx_search_names ON search USING gin (repo_name gin_trgm_ops, summary gin_trgm_ops)
    """,
    """
    CREATE MATERIALIZED VIEW recent_packages AS
      SELECT p.id AS package_id, v.package_name, p.created_at FROM packages p
      JOIN versions v ON v.package_id = p.id AND v.latest = 'default_branch' ORDER BY p.created_at DESC LIMIT 500
    """,
    """
    CREATE MATERIALIZED VIEW weighted_keywords AS
      SELECT keyword, count(*) AS weight FROM repositories, unnest(keywords) AS keyword GROUP BY keyword
    """,
    "CREATE UNIQUE INDEX idx_weighted_keywords ON weighted_keywords (keyword)",
    """
    CREATE FUNCTION touch_stage() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
      IF new.processing_stage IS DISTINCT FROM old.processing_stage THEN new.updated_at = now(); END IF;
      RETURN new; END$$;
    CREATE TRIGGER stage_touched BEFORE UPDATE ON packages FOR EACH ROW EXECUTE FUNCTION touch_stage()
    """,
  ]

  /// Fills the tables, with three versions of each package, and three builds of each version.
  static func fill(_ db: Database, packages: Int) throws {
    try db.executeStatements(
      """
      INSERT INTO packages (id, created_at, updated_at, url, status, score, processing_stage, platform_compatibility)
        SELECT md5('package' || n)::uuid, timestamptz '2020-01-01' + n * interval '1 hour', now(),
          'https://example.org/' || n, CASE WHEN n % 50 = 0 THEN 'missing' ELSE 'ok' END,
          CASE WHEN n % 7 > 0 THEN n * 7919 % 100 END, (ARRAY['ingestion', 'analysis'])[1 + n % 2],
          CASE WHEN n % 3 > 0 THEN (ARRAY['linux', 'ios', 'macos'])[1:1 + n % 3] ELSE '{}' END
        FROM generate_series(1, \(packages)) AS n;
      INSERT INTO repositories (id, created_at, package_id, summary, default_branch, license, stars, forks, owner, name,
          keywords, authors, releases, is_archived, last_activity_at)
        SELECT md5('repository' || n)::uuid, now(), md5('package' || n)::uuid,
          'Package ' || n || ' for ' || (ARRAY['parsing', 'maps', 'storage', 'music'])[1 + n % 4], 'main',
          (ARRAY['mit', 'apache-2.0', 'gpl-3.0'])[1 + n % 3], n * 104729 % 5000, n % 40, 'Owner' || n % 500, 'Repo' || n,
          ARRAY['swift', 'tag' || n % 300, 'tag' || n % 311],
          jsonb_build_object('commits', n % 400, 'authors', jsonb_build_array(jsonb_build_object('name', 'Author ' || n % 900))),
          ARRAY[jsonb_build_object('tag', '1.' || n % 9, 'url', 'https://example.org/r/' || n)], n % 20 = 0,
          timestamptz '2024-01-01' - n * interval '17 minutes'
        FROM generate_series(1, \(packages)) AS n;
      INSERT INTO versions (id, created_at, package_id, reference, package_name, commit, commit_date, swift_versions,
          latest, published_at, supported_platforms, product_dependencies)
        SELECT md5('version' || n || '-' || k)::uuid, now(), md5('package' || n)::uuid,
          CASE WHEN k = 1 THEN '{"branch": "main"}' ELSE jsonb_build_object('tag',
            jsonb_build_object('semVer', jsonb_build_object('major', k, 'minor', n % 10, 'patch', 0))) END,
          'Package' || n, md5('commit' || n || k), timestamptz '2023-01-01' + (n * 13 % 9999) * interval '1 hour',
          (ARRAY['5.10', '6.0'])[1:1 + n % 2],
          CASE k WHEN 1 THEN 'default_branch' WHEN 2 THEN 'release' END::version_latest,
          CASE WHEN k > 1 THEN timestamptz '2023-06-01' + (n * 31 % 9999) * interval '1 hour' END,
          ARRAY[jsonb_build_object('name', 'ios', 'version', (12 + n % 5)::text)],
          jsonb_build_array(jsonb_build_object('identity', 'dependency' || n % 200, 'url', 'https://example.org/' || n % 200))
        FROM generate_series(1, \(packages)) AS n, generate_series(1, 3) AS k;
      INSERT INTO products (id, version_id, name, type, targets)
        SELECT md5('product' || n || k)::uuid, md5('version' || n || '-' || k)::uuid, 'Product' || n,
          CASE WHEN n % 5 = 0 THEN '{"executable": {}}' ELSE '{"library": {"automatic": {}}}' END::jsonb,
          ARRAY['Target' || n, 'Core' || n % 30]
        FROM generate_series(1, \(packages)) AS n, generate_series(1, 2) AS k;
      INSERT INTO targets (id, version_id, name)
        SELECT md5('target' || n)::uuid, md5('version' || n || '-1')::uuid, 'Target' || n
        FROM generate_series(1, \(packages)) AS n;
      INSERT INTO builds (id, created_at, version_id, platform, status, swift_version, job_url, runner_id, warnings)
        SELECT md5('build' || n || k || p)::uuid, timestamptz '2024-01-01' + n * interval '1 minute',
          md5('version' || n || '-' || k)::uuid, (ARRAY['linux', 'ios', 'macos'])[p],
          (ARRAY['ok', 'failed', 'triggered', 'ok', 'ok'])[1 + (n + k * p) % 5]::build_status,
          '{"major": 6, "minor": 0, "patch": 0}', 'https://example.org/job/' || n, 'runner' || n % 12,
          CASE WHEN n % 4 = 0 THEN ARRAY['deprecated', 'unused'] END
        FROM generate_series(1, \(packages)) AS n, generate_series(1, 3) AS k, generate_series(1, 3) AS p;
      INSERT INTO custom_collections (id, key, name)
        SELECT md5('collection' || n)::uuid, 'collection-' || n, 'Collection ' || n FROM generate_series(1, 5) AS n;
      INSERT INTO "custom_collections+packages"
        SELECT gen_random_uuid(), md5('collection' || 1 + n % 5)::uuid, md5('package' || n)::uuid
        FROM generate_series(1, least(200, \(packages))) AS n;
      REFRESH MATERIALIZED VIEW search; REFRESH MATERIALIZED VIEW recent_packages;
      REFRESH MATERIALIZED VIEW weighted_keywords; ANALYZE
      """)
  }
}
