import Foundation
import Larder
import LarderPostgres

/// What the service asks the database of FluentSchema: typed, and in the SQL that one writes by hand with SQLKit.
enum FluentQueries {
  static let all = packages + searches + versions + builds + collections + changes

  // MARK: Packages and repositories

  private static let packages = [
    ByHandQuery(
      "a package by its repository's owner and name",
      """
      SELECT p.*, r.* FROM packages p JOIN repositories r ON r.package_id = p.id
      WHERE lower(r.owner) = \("owner42") AND lower(r.name) = \("repo4542")
      """
    ) { db in
      try IndexedPackage.join(Repository.self) { $1.package == $0.id }
        .filter { $1.owner.lowercased == "owner42" && $1.name.lowercased == "repo4542" }.fetchAll(
          db
        ).count
    },
    ByHandQuery(
      "a package with its repository and its default version",
      """
      SELECT p.*, r.*, v.* FROM packages p JOIN repositories r ON r.package_id = p.id
      JOIN versions v ON v.package_id = p.id WHERE v.latest = \("default_branch")::version_latest
      AND lower(r.owner) = \("owner42") AND lower(r.name) = \("repo4542")
      """
    ) { db in
      try IndexedPackage.join(Repository.self) { $1.package == $0.id }
        .join(PackageVersion.self) { $2.package == $0.id && $2.latest == .branch }
        .filter { _, repository, _ in
          repository.owner.lowercased == "owner42" && repository.name.lowercased == "repo4542"
        }.fetchAll(db).count
    },
    ByHandQuery(
      "a package by its URL", "SELECT * FROM packages WHERE url = \("https://example.org/4711")"
    ) { db in
      try IndexedPackage.filter { $0.url == "https://example.org/4711" }.fetchAll(db).count
    },
    ByHandQuery("how many packages there are", "SELECT count(*) FROM packages") { db in
      try IndexedPackage.select { _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "packages that wait for a stage",
      """
      SELECT * FROM packages WHERE processing_stage = \("ingestion") OR processing_stage IS NULL
      ORDER BY updated_at LIMIT 20
      """
    ) { db in
      try IndexedPackage.filter { $0.stage == "ingestion" || $0.stage == nil }
        .order { $0.updatedAt.asc.nullsLast }.limit(20).fetchAll(db).count
    },
    ByHandQuery(
      "an owner's packages by score",
      """
      SELECT r.owner, r.name, p.score FROM packages p JOIN repositories r ON r.package_id = p.id
      WHERE lower(r.owner) = \("owner77") ORDER BY p.score DESC NULLS LAST
      """
    ) { db in
      try IndexedPackage.join(Repository.self) { $1.package == $0.id }
        .filter { $1.owner.lowercased == "owner77" }.order { package, _ in
          package.score.desc.nullsLast
        }
        .select { ($1.owner, $1.name, $0.score) }.fetchAll(db).count
    },
    ByHandQuery(
      "repositories with a keyword",
      "SELECT * FROM repositories WHERE keywords @> ARRAY[\("tag42")]::text[]"
    ) { db in try Repository.filter { $0.keywords.contains("tag42") }.fetchAll(db).count },
    ByHandQuery(
      "repositories with all of the keywords",
      "SELECT * FROM repositories WHERE keywords @> ARRAY[\("swift"), \("tag7")]::text[]"
    ) { db in
      try Repository.filter { $0.keywords.contains(all: ["swift", "tag7"]) }.fetchAll(db).count
    },
    ByHandQuery(
      "repositories with one of the keywords",
      "SELECT * FROM repositories WHERE keywords && ARRAY[\("tag3"), \("tag7")]::text[]"
    ) { db in try Repository.filter { $0.keywords.overlaps(["tag3", "tag7"]) }.fetchAll(db).count },
    ByHandQuery(
      "a repository's summary by a part of its text",
      "SELECT * FROM repositories WHERE summary ILIKE \("%4711 for%")"
    ) { db in
      try Repository.filter { $0.summary.like("%4711 for%") }.fetchAll(db)
        .count
    },
    ByHandQuery(
      "licenses with their packages",
      "SELECT license, count(*) FROM repositories WHERE NOT is_archived GROUP BY license ORDER BY 2 DESC"
    ) { db in
      try Repository.filter { $0.isArchived == false }.group { $0.license }.order { _ in
        count().desc
      }
      .select { ($0.license, count()) }.fetchAll(db).count
    },
    ByHandQuery(
      "authors of many commits",
      "SELECT id, authors FROM repositories WHERE (authors ->> 'commits')::bigint > \(395)"
    ) { db in
      try Repository.filter { $0.authors["commits"].as(Int.self) > 395 }.select {
        ($0.id, $0.authors)
      }
      .fetchAll(db).count
    },
  ]

  // MARK: The search

  private static let searches = [
    ByHandQuery(
      "a search of names and summaries",
      """
      SELECT * FROM search WHERE repo_name ILIKE \("%repo47%") OR summary ILIKE \("%repo47%")
      ORDER BY score DESC NULLS LAST, package_name LIMIT 20
      """
    ) { db in
      try FoundPackage.filter {
        $0.repository.like("%repo47%")
          || $0.summary.like("%repo47%")
      }.order { ($0.score.desc.nullsLast, $0.name.asc.nullsLast) }.limit(20).fetchAll(db).count
    },
    ByHandQuery(
      "a search with an exact name first",
      """
      SELECT *, lower(repo_name) = \("repo47") AS has_exact_name FROM search WHERE summary ILIKE \("%maps%")
      OR repo_name ILIKE \("%repo47%") ORDER BY lower(repo_name) = \("repo47") DESC, score DESC NULLS LAST LIMIT 20
      """
    ) { db in
      try FoundPackage.filter {
        $0.summary.like("%maps%")
          || $0.repository.like("%repo47%")
      }
      .order {
        (
          when($0.repository.lowercased == "repo47", then: 1).otherwise(0).desc,
          $0.score.desc.nullsLast
        )
      }
      .limit(20).fetchAll(db).count
    },
    ByHandQuery(
      "a search by platform, license and stars",
      """
      SELECT * FROM search WHERE platform_compatibility @> ARRAY[\("ios")]::text[] AND license = \("apache-2.0")
      AND stars > \(4900) ORDER BY stars DESC NULLS LAST LIMIT 20
      """
    ) { db in
      try FoundPackage.filter {
        $0.platforms.contains("ios") && $0.license == "apache-2.0" && $0.stars > 4900
      }
      .order { $0.stars.desc.nullsLast }.limit(20).fetchAll(db).count
    },
    ByHandQuery(
      "a search by activity",
      """
      SELECT * FROM search WHERE last_activity_at > \(Date(timeIntervalSince1970: 1_703_900_000))
      ORDER BY last_activity_at DESC LIMIT 20
      """
    ) { db in
      try FoundPackage.filter { $0.lastActivity > Date(timeIntervalSince1970: 1_703_900_000) }
        .order { $0.lastActivity.desc }.limit(20).fetchAll(db).count
    },
    ByHandQuery(
      "the second page of a keyword",
      """
      SELECT * FROM search WHERE keywords @> ARRAY[\("swift")]::text[] ORDER BY score DESC NULLS LAST, package_name
      LIMIT 21 OFFSET 20
      """
    ) { db in
      try FoundPackage.filter { $0.keywords.contains("swift") }
        .order { ($0.score.desc.nullsLast, $0.name.asc.nullsLast) }.limit(21, offset: 20).fetchAll(
          db
        ).count
    },
    ByHandQuery(
      "keywords like a text, with their weights",
      "SELECT keyword, weight FROM weighted_keywords WHERE keyword ILIKE \("tag1%") ORDER BY weight DESC LIMIT 50"
    ) { db in
      try WeightedKeyword.filter { $0.keyword.like("tag1%") }
        .order { $0.weight.desc.nullsLast }.limit(50).select { ($0.keyword, $0.weight) }.fetchAll(
          db
        ).count
    },
    ByHandQuery(
      "owners like a text",
      "SELECT DISTINCT repo_owner FROM search WHERE repo_owner ILIKE \("owner4%") ORDER BY repo_owner LIMIT 50"
    ) { db in
      try FoundPackage.filter { $0.owner.like("owner4%") }
        .select { $0.owner }.distinct().order { $0.asc.nullsLast }.limit(50).fetchAll(db).count
    },
    ByHandQuery(
      "recent packages", "SELECT * FROM recent_packages ORDER BY created_at DESC LIMIT 50"
    ) { db in
      try RecentPackage.order { $0.createdAt.desc }.limit(50).fetchAll(db).count
    },
    ByHandQuery(
      "keywords with their packages",
      "SELECT keyword, count(*) FROM repositories, unnest(keywords) AS keyword GROUP BY keyword"
    ) { db in
      try Repository.all.join(each: { $0.keywords.json })
        .group { $1.value.as(String.self, strict: false) }
        .select { ($1.value.as(String.self, strict: false), count()) }.fetchAll(db).count
    },
  ]

  // MARK: Versions, products, targets

  private static let versions = [
    ByHandQuery(
      "the latest versions of a package",
      """
      SELECT v.* FROM versions v JOIN packages p ON p.id = v.package_id
      WHERE p.url = \("https://example.org/4711") AND v.latest IS NOT NULL
      """
    ) { db in
      try PackageVersion.all.join(IndexedPackage.self) { $0.package == $1.id }
        .filter { $1.url == "https://example.org/4711" && $0.latest != nil }.fetchAll(db).count
    },
    ByHandQuery(
      "recent releases",
      """
      SELECT v.package_name, v.published_at, v.reference FROM versions v
      WHERE v.latest = \("release")::version_latest ORDER BY v.published_at DESC NULLS LAST LIMIT 50
      """
    ) { db in
      try PackageVersion.filter { $0.latest == .release }.order { $0.published.desc.nullsLast }
        .limit(50)
        .select { ($0.name, $0.published, $0.reference) }.fetchAll(db).count
    },
    ByHandQuery(
      "a version's products and targets",
      """
      SELECT v.id, pr.name, pr.targets FROM versions v JOIN products pr ON pr.version_id = v.id
      WHERE v.package_name = \("Package4711") ORDER BY pr.name
      """
    ) { db in
      try PackageVersion.join(Product.self) { $1.version == $0.id }.filter {
        $0.name == "Package4711" && $1.name != ""
      }
      .order { $1.name }.select { ($0.id, $1.name, $1.targets) }.fetchAll(db).count
    },
    ByHandQuery(
      "products that are executable",
      "SELECT count(*) FROM products WHERE type -> 'executable' IS NOT NULL"
    ) { db in
      try Product.filter { !$0.type["executable"].isNull }.select { _ in count() }.fetchAll(db)
        .count
    },
    ByHandQuery(
      "products with a target",
      "SELECT * FROM products WHERE targets @> ARRAY[\("Target4711")]::text[]"
    ) { db in try Product.filter { $0.targets.contains("Target4711") }.fetchAll(db).count },
    ByHandQuery(
      "versions of a branch",
      "SELECT count(*) FROM versions WHERE reference ->> 'branch' = \("main")"
    ) { db in
      try PackageVersion.filter { $0.reference["branch"] == "main" }.select { _ in count() }
        .fetchAll(db).count
    },
    ByHandQuery(
      "versions with a Swift version and a count of platforms",
      """
      SELECT count(*) FROM versions WHERE swift_versions @> ARRAY[\("6.0")]::text[]
      AND cardinality(supported_platforms) = \(1)
      """
    ) { db in
      try PackageVersion.filter { $0.swiftVersions.contains("6.0") && $0.platforms.length == 1 }
        .select { _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "packages that depend on one",
      """
      SELECT v.package_id FROM versions v WHERE v.latest = \("default_branch")::version_latest
      AND v.product_dependencies @> \(#"[{"identity": "dependency7"}]"#)::jsonb
      """
    ) { db in
      try PackageVersion.filter { version in
        version.latest == .branch
          && PackageDependency.named("dependency7", in: version.dependencies)
      }.select { $0.package }.fetchAll(db).count
    },
    ByHandQuery(
      "the newest version of each package of an owner",
      """
      SELECT DISTINCT ON (v.package_id) v.* FROM versions v JOIN repositories r ON r.package_id = v.package_id
      WHERE lower(r.owner) = \("owner77") ORDER BY v.package_id, v.commit_date DESC NULLS LAST
      """
    ) { db in
      try PackageVersion.filter { version in
        Repository.filter { $0.package == version.package && $0.owner.lowercased == "owner77" }
          .exists
      }.order { $0.commitDate.desc }.distinct { $0.package }.fetchAll(db).count
    },
    ByHandQuery(
      "a target by its name",
      "SELECT v.package_id FROM targets t JOIN versions v ON v.id = t.version_id WHERE t.name = \("Target4711")"
    ) { db in
      try Target.join(PackageVersion.self) { $0.version == $1.id }.filter { target, _ in
        target.name == "Target4711"
      }
      .select { $1.package }.fetchAll(db).count
    },
  ]

  // MARK: Builds

  private static let builds = [
    ByHandQuery(
      "a package's builds of its latest versions",
      """
      SELECT b.* FROM builds b JOIN versions v ON v.id = b.version_id JOIN packages p ON p.id = v.package_id
      WHERE p.url = \("https://example.org/4711") AND v.latest IS NOT NULL
      """
    ) { db in
      try PackageBuild.join(PackageVersion.self) { $0.version == $1.id }
        .join(IndexedPackage.self) { $1.package == $2.id }
        .filter { $1.latest != nil && $2.url == "https://example.org/4711" && $0.platform != "" }
        .select { build, _, _ in (build.id, build.platform, build.status, build.swiftVersion) }
        .fetchAll(db).count
    },
    ByHandQuery(
      "builds of each status", "SELECT status, count(*) FROM builds GROUP BY status ORDER BY status"
    ) { db in
      try PackageBuild.all.group { $0.status }.order { $0.status }.select { ($0.status, count()) }
        .fetchAll(db).count
    },
    ByHandQuery(
      "builds that were triggered long ago",
      """
      SELECT id FROM builds WHERE status = \("triggered")::build_status
      AND created_at < \(Date(timeIntervalSince1970: 1_704_100_000)) LIMIT 200
      """
    ) { db in
      try PackageBuild.filter {
        $0.status == .triggered && $0.createdAt < Date(timeIntervalSince1970: 1_704_100_000)
      }.limit(200).select { $0.id }.fetchAll(db).count
    },
    ByHandQuery(
      "runners with their builds and failures",
      """
      SELECT runner_id, count(*), count(*) FILTER (WHERE status = \("failed")::build_status) FROM builds
      GROUP BY runner_id ORDER BY 2 DESC
      """
    ) { db in
      try PackageBuild.all.group { $0.runner }.order { _ in count().desc }
        .select { ($0.runner, count(), when($0.status == .failed, then: 1).otherwise(0).sum()) }
        .fetchAll(db).count
    },
    ByHandQuery(
      "versions without a build on a platform",
      """
      SELECT v.id FROM versions v WHERE v.latest IS NOT NULL AND NOT EXISTS (SELECT 1 FROM builds b
      WHERE b.version_id = v.id AND b.platform = \("linux") AND b.status = \("ok")::build_status)
      """
    ) { db in
      try PackageVersion.filter { version in
        version.latest != nil
          && !PackageBuild.filter {
            $0.version == version.id && $0.platform == "linux" && $0.status == .ok
          }.exists
      }.select { $0.id }.fetchAll(db).count
    },
    ByHandQuery(
      "a build of a version, platform and Swift",
      """
      SELECT * FROM builds WHERE version_id = (SELECT id FROM versions WHERE package_name = \("Package4711") AND latest =
      \("release")::version_latest) AND platform = \("ios") AND swift_version = \(#"{"major":6,"minor":0,"patch":0}"#)::jsonb
      """
    ) { db in
      try PackageBuild.filter {
        $0.version
          == first(
            of: PackageVersion.filter { $0.name == "Package4711" && $0.latest == .release }.select {
              $0.id
            })
          && $0.platform == "ios"
          && $0.swiftVersion == .value(SemanticVersion(major: 6, minor: 0, patch: 0))
      }.fetchAll(db).count
    },
  ]

  // MARK: Collections

  private static let collections = [
    ByHandQuery(
      "a collection's packages",
      """
      SELECT p.* FROM packages p JOIN "custom_collections+packages" cp ON cp.package_id = p.id
      JOIN custom_collections c ON c.id = cp.custom_collection_id WHERE c.key = \("collection-3")
      """
    ) { db in
      try IndexedPackage.join(CollectedPackage.self) { $1.package == $0.id }
        .join(PackageCollection.self) { $1.collection == $2.id }
        .filter { _, _, collection in collection.key == "collection-3" }
        .select { package, _, _ in (package.id, package.url, package.score, package.platforms) }
        .fetchAll(db).count
    },
    ByHandQuery(
      "collections with their packages",
      """
      SELECT c.name, count(cp.id) FROM custom_collections c
      LEFT JOIN "custom_collections+packages" cp ON cp.custom_collection_id = c.id GROUP BY c.name ORDER BY c.name
      """
    ) { db in
      try PackageCollection.leftJoin(CollectedPackage.self) { $1.collection == $0.id }
        .group { collection, _ in collection.name }.order { collection, _ in collection.name }
        .select { ($0.name, $1.id.count()) }.fetchAll(db).count
    },
  ]

  // MARK: Changes

  private static let changes = [
    ByHandQuery(
      "a package's stage is set",
      "UPDATE packages SET processing_stage = \("analysis"), updated_at = \(Date()) WHERE url = \("https://example.org/4712") RETURNING id"
    ) { db in
      try IndexedPackage.filter { $0.url == "https://example.org/4712" }.update(db) {
        $0.stage = "analysis"
      }
    },
    ByHandQuery(
      "scores are computed from stars",
      """
      UPDATE packages SET score = r.stars / 50, updated_at = \(Date()) FROM repositories r WHERE r.package_id = packages.id
      AND lower(r.owner) = \("owner77") RETURNING packages.id
      """
    ) { db in
      try IndexedPackage.join(Repository.self) { $1.package == $0.id }.filter {
        $1.owner.lowercased == "owner77"
      }
      .update(db) { $0.score = $1.stars / 50 }
    },
    ByHandQuery(
      "old builds are run again",
      """
      UPDATE builds SET status = \("triggered")::build_status, updated_at = \(Date()) WHERE status = \("triggered")::build_status
      AND created_at < \(Date(timeIntervalSince1970: 1_704_070_000)) RETURNING id
      """
    ) { db in
      try PackageBuild.filter {
        $0.status == .triggered && $0.createdAt < Date(timeIntervalSince1970: 1_704_070_000)
      }.update(db) { $0.status = .triggered }
    },
  ]
}

extension PackageDependency {
  /// Whether a version's dependencies contain a package of this identity.
  static func named(
    _ identity: String, in dependencies: SQLExpression<[PackageDependency]?>
  ) -> SQLExpression<Bool> {
    SQLExpression(
      sql:
        "\(dependencies.sql) @> jsonb_build_array(jsonb_build_object('identity', \(identity)::text))"
    )
  }
}
