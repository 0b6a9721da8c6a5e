import Foundation
import Larder
import LarderPostgres

/// Questions that an application asks an index of packages.
enum ByHandQueries {
  static let all = rows + orders + joins + sets + groups + documents + writes

  private static let day = Date(timeIntervalSince1970: 1_560_000_000)

  // MARK: One table

  private static let rows = [
    ByHandQuery("a row by its key", "SELECT * FROM release WHERE id = \(4711)") { db in
      try Release.filter { $0.id == 4711 }.fetchAll(db).count
    },
    ByHandQuery("rows by keys", "SELECT * FROM release WHERE id = ANY('{5, 50, 500, 5000, 9000}')")
    { db in
      try Release.filter { $0.id.in([5, 50, 500, 5000, 9000]) }.fetchAll(db).count
    },
    ByHandQuery(
      "a unique text", "SELECT * FROM package WHERE url = \("https://example.org/5/1000")"
    ) { db in
      let url = "https://example.org/5/1000"
      return try Project.filter { $0.url == url }.fetchAll(db).count
    },
    ByHandQuery(
      "a nullable column ==", "SELECT * FROM release WHERE package = \(1234)"
    ) { db in try Release.filter { $0.package == 1234 }.fetchAll(db).count },
    ByHandQuery(
      "two nullable columns ==",
      "SELECT * FROM release WHERE package = \(1234) AND kind IS NULL"
    ) { db in try Release.filter { $0.package == 1234 && $0.kind == nil }.fetchAll(db).count },
    ByHandQuery(
      "a nullable column !=", "SELECT count(*) FROM build WHERE status IS DISTINCT FROM \("ok")"
    ) { db in try Build.filter { $0.status != "ok" }.select { _ in count() }.fetchAll(db).count },
    ByHandQuery(
      "a nullable column == nil", "SELECT count(*) FROM release WHERE published IS NULL"
    ) { db in
      try Release.filter { $0.published == nil }.select { _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "not equal, negated",
      "SELECT count(*) FROM build WHERE NOT (status = \("ok") AND status IS NOT NULL)"
    ) { db in try Build.filter { !($0.status == "ok") }.select { _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "a range of integers", "SELECT * FROM package WHERE stars BETWEEN \(100) AND \(120)"
    ) { db in try Project.filter { $0.stars.between(100...120) }.fetchAll(db).count },
    ByHandQuery(
      "a range of dates",
      "SELECT * FROM release WHERE published >= \(day) AND published < \(day + 86_400)"
    ) { db in
      try Release.filter { $0.published >= day && $0.published < day + 86_400 }.fetchAll(db).count
    },
    ByHandQuery(
      "a prefix", "SELECT * FROM release WHERE number >= \("3.14") AND number < \("3.15")"
    ) { db in try Release.filter { $0.number.hasPrefix("3.14") }.fetchAll(db).count },
    ByHandQuery(
      "LIKE", "SELECT * FROM release WHERE number COLLATE \"C\" ILIKE \("%.30.1_")"
    ) { db in try Release.filter { $0.number.like("%.30.1_") }.fetchAll(db).count },
    ByHandQuery(
      "one or the other", "SELECT * FROM package WHERE owner = \("owner 7") OR score = \(99)"
    ) { db in try Project.filter { $0.owner == "owner 7" || $0.score == 99 }.fetchAll(db).count },
    ByHandQuery(
      "a Bool", "SELECT * FROM package WHERE archived AND stars > \(4000)"
    ) { db in try Project.filter { $0.isArchived && $0.stars > 4000 }.fetchAll(db).count },
  ]

  // MARK: Orders

  private static let orders = [
    ByHandQuery("the last keys", "SELECT * FROM release ORDER BY id DESC LIMIT 20") { db in
      try Release.order { $0.id.desc }.limit(20).fetchAll(db).count
    },
    ByHandQuery(
      "the best of a nullable column",
      "SELECT * FROM package ORDER BY score DESC NULLS LAST LIMIT 20"
    ) { db in try Project.order { $0.score.desc }.limit(20).fetchAll(db).count },
    ByHandQuery(
      "a nullable column's first", "SELECT * FROM release ORDER BY published NULLS FIRST LIMIT 20"
    ) { db in try Release.order { $0.published }.limit(20).fetchAll(db).count },
    ByHandQuery(
      "behind many rows", "SELECT * FROM package ORDER BY stars, id LIMIT 20 OFFSET 5000"
    ) { db in
      try Project.order { ($0.stars, $0.id) }.limit(20, offset: 5000).fetchAll(db).count
    },
    ByHandQuery(
      "those of one, sorted",
      "SELECT * FROM release WHERE package = \(77) ORDER BY published DESC NULLS LAST, id"
    ) { db in
      try Release.filter { $0.package == 77 }.order { ($0.published.desc, $0.id) }.fetchAll(db)
        .count
    },
    ByHandQuery(
      "distinct values", "SELECT DISTINCT platform, status FROM build ORDER BY 1, 2 NULLS FIRST"
    ) { db in
      try Build.all.distinct().order { ($0.platform, $0.status) }.select {
        ($0.platform, $0.status)
      }.fetchAll(db).count
    },
  ]

  // MARK: Joins

  private static let joins = [
    ByHandQuery(
      "a join by the key",
      """
      SELECT * FROM release JOIN package ON release.package = package.id WHERE package.url = \
      \("https://example.org/5/1000")
      """
    ) { db in
      let url = "https://example.org/5/1000"
      return try Release.join(Project.self) { $0.package == $1.id }
        .filter { _, package in package.url == url }.fetchAll(db).count
    },
    ByHandQuery(
      "all of a join",
      """
      SELECT count(*) FROM build JOIN release ON build.release = release.id
      WHERE release.kind = \("branch")
      """
    ) { db in
      try Build.join(Release.self) { $0.release == $1.id }.filter { $1.kind == "branch" }
        .select { _, _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "three tables",
      """
      SELECT * FROM package JOIN release ON release.package = package.id
      JOIN build ON build.release = release.id WHERE package.owner = \("owner 42")
      """
    ) { db in
      try Project.join(Release.self) { $1.package == $0.id }.join(Build.self) {
        $2.release == $1.id
      }
      .filter { package, _, _ in package.owner == "owner 42" }.fetchAll(db).count
    },
    ByHandQuery(
      "four tables",
      """
      SELECT count(*) FROM owner JOIN package ON package.owner = owner.name
      JOIN release ON release.package = package.id JOIN build ON build.release = release.id
      WHERE owner.kind = \("kind 1") AND build.status = \("failed") AND release.kind = \("release")
      """
    ) { db in
      try Owner.join(Project.self) { $1.owner == $0.name }
        .join(Release.self) { $2.package == $1.id }.join(Build.self) { $3.release == $2.id }
        .filter { $0.kind == "kind 1" && $3.status == "failed" && $2.kind == "release" }
        .select { _, _, _, _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "those with none",
      """
      SELECT count(*) FROM package LEFT JOIN release ON release.package = package.id AND release.kind = \("x")
      WHERE release.id IS NULL
      """
    ) { db in
      try Project.leftJoin(Release.self) { $1.package == $0.id && $1.kind == "x" }
        .filter { $1.id == nil }.select { _, _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "a left join of some",
      """
      SELECT * FROM package LEFT JOIN release ON release.package = package.id AND release.kind = \("release")
      WHERE package.score = \(51)
      """
    ) { db in
      try Project.leftJoin(Release.self) { $1.package == $0.id && $1.kind == "release" }
        .filter { package, _ in package.score == 51 }.fetchAll(db).count
    },
    ByHandQuery(
      "two nullable columns joined",
      """
      SELECT count(*) FROM package JOIN build ON package.owner = build.runner WHERE package.stars < \(200)
      """
    ) { db in
      try Project.join(Build.self) { $0.owner == $1.runner && $1.runner != nil }
        .filter { package, _ in package.stars < 200 }.select { _, _ in count() }.fetchAll(db).count
    },
  ]

  // MARK: Subqueries, common tables, unions

  private static let sets = [
    ByHandQuery(
      "those for which there is one",
      """
      SELECT count(*) FROM release WHERE EXISTS (SELECT 1 FROM build WHERE build.release = release.id
      AND build.status = \("failed"))
      """
    ) { db in
      try Release.filter { release in
        Build.filter { $0.release == release.id && $0.status == "failed" }.exists
      }.select { _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "those for which there is none",
      """
      SELECT count(*) FROM release WHERE NOT EXISTS (SELECT 1 FROM build WHERE build.release = release.id)
      """
    ) { db in
      try Release.filter { release in !Build.filter { $0.release == release.id }.exists }
        .select { _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "those in a subquery",
      """
      SELECT * FROM release WHERE package IN (SELECT id FROM package WHERE owner = \("owner 99"))
      """
    ) { db in
      let packages = Project.filter { $0.owner == "owner 99" }.select { $0.id }
      return try Release.filter { $0.package.in(packages) }.fetchAll(db).count
    },
    ByHandQuery(
      "the first of each in a subquery",
      """
      SELECT id, (SELECT number FROM release WHERE release.package = package.id ORDER BY release.id DESC LIMIT 1)
      FROM package WHERE stars > \(4900)
      """
    ) { db in
      try Project.filter { $0.stars > 4900 }.select { package in
        (
          package.id,
          first(
            of: Release.filter { $0.package == package.id }.order { $0.id.desc }
              .select { $0.number })
        )
      }.fetchAll(db).count
    },
    ByHandQuery(
      "a common table, joined",
      """
      WITH big AS (SELECT id, url FROM package WHERE stars > \(4900))
      SELECT big.url, release.number FROM release JOIN big ON release.package = big.id
      """
    ) { db in
      let big = CommonTable("big", Project.filter { $0.stars > 4900 }.select { ($0.id, $0.url) })
      return try Release.all.join(common: big) { $0.package == $1.columns.0 }
        .select { ($1.columns.1, $0.number) }.fetchAll(db).count
    },
    ByHandQuery(
      "a union",
      """
      SELECT owner FROM package WHERE stars > \(4950) UNION SELECT runner FROM build WHERE seconds > \(599.5)
      """
    ) { db in
      try Project.filter { $0.stars > 4950 }.select { $0.owner }
        .union(Build.filter { $0.seconds > 599.5 }.select { $0.runner }).fetchAll(db).count
    },
    ByHandQuery(
      "the newest of each by a window",
      """
      SELECT c1, c2 FROM (SELECT id AS c1, package AS c2, row_number() OVER (PARTITION BY package
      ORDER BY published DESC NULLS LAST, id) AS c3 FROM release) AS numbered WHERE c3 = 1
      """
    ) { db in
      let numbered = CommonTable(
        "numbered",
        Release.all.select {
          (
            $0.id, $0.package,
            rowNumber().over(partitionBy: $0.package, orderBy: $0.published.desc, $0.id.asc)
          )
        })
      return try numbered.all.filter { $0.columns.2 == 1 }
        .select { ($0.columns.0, $0.columns.1) }.fetchAll(db).count
    },
  ]

  // MARK: Groups

  private static let groups = [
    ByHandQuery("how many", "SELECT count(*) FROM build") { db in
      try Build.all.select { _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "how many of each", "SELECT platform, count(*) FROM build GROUP BY platform ORDER BY platform"
    ) { db in
      try Build.all.group { $0.platform }.order { $0.platform }
        .select { ($0.platform, count()) }.fetchAll(db).count
    },
    ByHandQuery(
      "the most of each",
      """
      SELECT package, count(*) FROM release GROUP BY package HAVING count(*) > \(3) ORDER BY count(*) DESC,
      package NULLS FIRST LIMIT 20
      """
    ) { db in
      try Release.all.group { $0.package }.having { _ in count() > 3 }
        .order { (count().desc, $0.package) }.limit(20).select { ($0.package, count()) }
        .fetchAll(db).count
    },
    ByHandQuery(
      "sums and means",
      """
      SELECT status, sum(seconds), avg(seconds), min(seconds), max(seconds) FROM build GROUP BY status
      """
    ) { db in
      try Build.all.group { $0.status }.select {
        ($0.status, $0.seconds.sum(), $0.seconds.average(), $0.seconds.min(), $0.seconds.max())
      }.fetchAll(db).count
    },
    ByHandQuery(
      "different ones", "SELECT count(DISTINCT release) FROM build WHERE platform = \("linux")"
    ) { db in
      try Build.filter { $0.platform == "linux" }.select { $0.release.count(distinct: true) }
        .fetchAll(db).count
    },
    ByHandQuery(
      "groups of a join",
      """
      SELECT package.owner, count(*), max(release.published) FROM package
      JOIN release ON release.package = package.id GROUP BY package.owner ORDER BY 2 DESC LIMIT 10
      """
    ) { db in
      try Project.join(Release.self) { $1.package == $0.id }.group { package, _ in package.owner }
        .order { _, _ in count().desc }.limit(10)
        .select { ($0.owner, count(), $1.published.max()) }.fetchAll(db).count
    },
  ]

  // MARK: JSON

  private static let documents = [
    ByHandQuery(
      "JSON, a text at a path",
      """
      SELECT * FROM package WHERE payload @> '{"name": "package 4711"}'
      """
    ) { db in try Project.filter { $0.payload["name"] == "package 4711" }.fetchAll(db).count },
    ByHandQuery(
      "JSON, a number at a path",
      """
      SELECT * FROM package WHERE payload @> '{"forks": 17}'
      """
    ) { db in try Project.filter { $0.payload["forks"] == 17 }.fetchAll(db).count },
    ByHandQuery(
      "JSON that contains a text",
      """
      SELECT * FROM package WHERE payload @> '{"tags": ["tag 7"]}'
      """
    ) { db in try Project.filter { $0.payload["tags"].contains("tag 7") }.fetchAll(db).count },
    ByHandQuery(
      "JSON, a range",
      "SELECT count(*) FROM package WHERE (payload -> 'forks')::numeric > \(900)::numeric"
    ) { db in
      try Project.filter { $0.payload["forks"] > 900 }.select { _ in count() }.fetchAll(db).count
    },
    ByHandQuery(
      "JSON, groups of texts", "SELECT payload ->> 'license', count(*) FROM package GROUP BY 1"
    ) { db in
      try Project.all.group { $0.payload["license"].as(String.self) }
        .select { ($0.payload["license"].as(String.self), count()) }.fetchAll(db).count
    },
    ByHandQuery(
      "JSON, each element of some",
      """
      SELECT package.id, tag #>> '{}' FROM package, jsonb_array_elements(payload -> 'tags') AS tag
      WHERE package.stars > \(4800)
      """
    ) { db in
      try Project.all.join(each: { $0.payload["tags"] })
        .filter { package, _ in package.stars > 4800 }
        .select { ($0.id, $1.value.as(String.self, strict: false)) }.fetchAll(db).count
    },
    ByHandQuery(
      "JSON, how many of each element",
      """
      SELECT tag #>> '{}', count(*) FROM package, jsonb_array_elements(payload -> 'tags') AS tag GROUP BY 1
      """
    ) { db in
      try Project.all.join(each: { $0.payload["tags"] })
        .group { $1.value.as(String.self, strict: false) }
        .select { ($1.value.as(String.self, strict: false), count()) }.fetchAll(db).count
    },
  ]

  // MARK: Writing

  private static let writes = [
    ByHandQuery(
      "an update by the key", "UPDATE release SET size = size WHERE id = \(4711) RETURNING id"
    ) { db in try Release.filter { $0.id == 4711 }.update(db) { $0.size = $0.size } },
    ByHandQuery(
      "an update of some", "UPDATE release SET kind = kind WHERE package = \(1234) RETURNING id"
    ) { db in try Release.filter { $0.package == 1234 }.update(db) { $0.kind = $0.kind } },
  ]
}
