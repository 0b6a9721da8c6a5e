import Foundation
import Larder
import LarderPostgres

// An index of packages, as an application has one: what the proof `by-hand` asks for.

struct Owner: Record {
  var name: String
  var kind: String?

  struct Columns: Sendable {
    let name = Column("name", \Owner.name, .primaryKey)
    let kind = Column("kind", \Owner.kind)
  }
  static let columns = Columns()
  static let table = Table("owner", Owner.init, columns.name, columns.kind)
}

struct Project: Record {
  var id: Int64?
  var url: String
  var owner: String?
  var score: Int?
  var stars: Int
  var isArchived: Bool
  /// `{"license": …, "tags": […], "forks": …}`
  var payload: String

  struct Columns: Sendable {
    let id = Column("id", \Project.id, .primaryKey)
    let url = Column("url", \Project.url, .unique)
    let owner = Column("owner", \Project.owner, .indexed)
    let score = Column("score", \Project.score, .indexed)
    let stars = Column("stars", \Project.stars, .indexed)
    let isArchived = Column("archived", \Project.isArchived)
    let payload = Column("payload", \Project.payload, .sqlType("JSONB"))
  }
  static let columns = Columns()
  static let table = Table(
    "package", Project.init, columns.id, columns.url, columns.owner, columns.score, columns.stars,
    columns.isArchived, columns.payload)
}

struct Release: Record {
  var id: Int64?
  /// Of a release that was withdrawn none.
  var package: Int64?
  var number: String
  var kind: String?
  var published: Date?
  var size: Double

  struct Columns: Sendable {
    let id = Column("id", \Release.id, .primaryKey)
    let package = Column("package", \Release.package, .indexed, .references(Project.self))
    let number = Column("number", \Release.number, .indexed)
    let kind = Column("kind", \Release.kind)
    let published = Column("published", \Release.published, .indexed)
    let size = Column("size", \Release.size)
  }
  static let columns = Columns()
  static let table = Table(
    "release", Release.init, columns.id, columns.package, columns.number, columns.kind,
    columns.published, columns.size)
}

struct Build: Record {
  var id: Int64?
  var release: Int64
  var platform: String
  var status: String?
  var runner: String?
  var seconds: Double?

  struct Columns: Sendable {
    let id = Column("id", \Build.id, .primaryKey)
    let release = Column("release", \Build.release, .indexed, .references(Release.self))
    let platform = Column("platform", \Build.platform)
    let status = Column("status", \Build.status)
    let runner = Column("runner", \Build.runner, .indexed)
    let seconds = Column("seconds", \Build.seconds)
  }
  static let columns = Columns()
  static let table = Table(
    "build", Build.init, columns.id, columns.release, columns.platform, columns.status,
    columns.runner, columns.seconds)
}

/// The rows: a fifth as many packages as releases, and half as many more builds.
struct PackageIndex {
  static let platforms = ["linux", "ios", "macos", "tvos", "wasm", "android"]
  static let licenses = ["mit", "apache-2.0", "bsd-3", "gpl-3"]
  let releases: Int

  var packages: Int { max(20, releases / 5) }
  var builds: Int { releases * 3 / 2 }
  var owners: Int { max(4, packages / 10) }

  func insert(into pool: PostgresPool) throws {
    try pool.inTransaction { db in
      try Owner.table.create(db)
      try Project.table.create(db)
      try Release.table.create(db)
      try Build.table.create(db)
      try Owner.insert(
        db,
        contentsOf: (0..<owners).map {
          Owner(name: "owner \($0)", kind: $0 % 3 == 0 ? nil : "kind \($0 % 4)")
        })
      try Project.insert(db, contentsOf: (1...packages).map(package))
      try Release.insert(db, contentsOf: (1...releases).map(release))
      try Build.insert(db, contentsOf: (1...builds).map(build))
      try db.executeStatements(
        """
        CREATE INDEX package_payload ON package USING gin (payload jsonb_path_ops);
        SELECT setval('package_id_seq', (SELECT max(id) FROM package));
        SELECT setval('release_id_seq', (SELECT max(id) FROM release));
        SELECT setval('build_id_seq', (SELECT max(id) FROM build))
        """)
    }
    try pool.inDatabase { db in
      try db.executeUpdate("VACUUM ANALYZE")
    }
  }

  private func package(_ number: Int) -> Project {
    let mixed = number &* 104_729
    return Project(
      id: Int64(number), url: "https://example.org/\(mixed % 7)/\(number)",
      owner: number % 9 == 0 ? nil : "owner \(mixed % owners)",
      score: number % 5 == 0 ? nil : mixed % 100, stars: mixed % 5000,
      isArchived: number % 20 == 0,
      payload: """
        {"license": "\(Self.licenses[mixed % 4])", "forks": \(mixed % 1000), "name": "package \(number)", \
        "tags": ["tag \(mixed % 300)", "tag \(mixed % 311)", "all"]}
        """)
  }

  private func release(_ number: Int) -> Release {
    let mixed = number &* 7919
    return Release(
      id: Int64(number), package: number % 50 == 0 ? nil : Int64(mixed % packages) + 1,
      number: "\(mixed % 9).\(mixed % 31).\(number % 17)",
      kind: number % 3 == 0 ? nil : number % 3 == 1 ? "release" : "branch",
      published: number % 10 == 0
        ? nil : Date(timeIntervalSince1970: 1_500_000_000 + Double(mixed % 2_000_000) * 60),
      size: Double(mixed % 10_000) / 8)
  }

  private func build(_ number: Int) -> Build {
    let mixed = number &* 15_485_863
    return Build(
      id: Int64(number), release: Int64(mixed % releases) + 1,
      platform: Self.platforms[number % 6],
      status: number % 11 == 0 ? nil : number % 4 == 0 ? "failed" : "ok",
      runner: number % 7 == 0 ? "owner \(mixed % owners)" : nil,
      seconds: number % 13 == 0 ? nil : Double(mixed % 6000) / 10)
  }
}
