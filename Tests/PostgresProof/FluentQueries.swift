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
}
