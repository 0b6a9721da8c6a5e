import Foundation
import Larder
import LarderPostgres

// The queries of versions and what belongs to them, of collections, and the changes.

extension FluentQueries {
  // MARK: Versions, products, targets

  static let versions = [
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

  static let builds = [
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

  static let collections = [
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

  static let changes = [
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
