import Foundation
import Larder
import LarderPostgres

// The records of the database that FluentSchema makes. No type is named where the property's own is right: the
// types of the server's own enumerations are.

enum Latest: String, CaseIterable, DatabaseValueConvertible {
  case branch = "default_branch"
  case release
  case preRelease = "pre_release"
}

enum BuildStatus: String, CaseIterable, DatabaseValueConvertible { case triggered, ok, failed }

/// Values in JSON columns.
struct GitReference: Codable, Hashable, Sendable {
  struct Tag: Codable, Hashable, Sendable { var semVer: SemanticVersion }
  var branch: String?
  var tag: Tag?
}

struct SemanticVersion: Codable, Hashable, Sendable { var major, minor, patch: Int }

struct Authors: Codable, Hashable, Sendable {
  struct Author: Codable, Hashable, Sendable { var name: String }
  var commits: Int
  var authors: [Author]
}

struct PublishedRelease: Codable, Hashable, Sendable { var tag, url: String }

struct SupportedPlatform: Codable, Hashable, Sendable { var name, version: String }

struct PackageDependency: Codable, Hashable, Sendable { var identity, url: String }

struct ProductType: Codable, Hashable, Sendable {
  struct Nothing: Codable, Hashable, Sendable {}
  struct Library: Codable, Hashable, Sendable { var automatic: Nothing? }
  var executable: Nothing?
  var library: Library?
}

struct IndexedPackage: Record {
  var id: UUID
  var createdAt: Date?
  var updatedAt: Date?
  var url: String
  var status: String?
  var score: Int?
  var stage: String?
  var platforms: [String]?

  struct Columns: Sendable {
    let id = Column("id", \IndexedPackage.id, .primaryKey)
    let createdAt = Column("created_at", \IndexedPackage.createdAt, .createdAt)
    let updatedAt = Column("updated_at", \IndexedPackage.updatedAt, .updatedAt)
    let url = Column("url", \IndexedPackage.url, .unique)
    let status = Column("status", \IndexedPackage.status, .default("none"))
    let score = Column("score", \IndexedPackage.score, .indexed)
    let stage = Column("processing_stage", \IndexedPackage.stage)
    let platforms = Column(
      "platform_compatibility", \IndexedPackage.platforms, .default([]), as: .array)
  }
  static let columns = Columns()
  static let table = Table(
    "packages", IndexedPackage.init, columns.id, columns.createdAt, columns.updatedAt, columns.url,
    columns.status,
    columns.score, columns.stage, columns.platforms,
    constraints: [.index(columns.stage, columns.updatedAt)])
}

struct Repository: Record {
  var id: UUID
  var createdAt: Date?
  var updatedAt: Date?
  var package: UUID?
  var summary: String?
  var branch: String?
  var license: String?
  var stars: Int?
  var forks: Int?
  var owner: String?
  var name: String?
  var keywords: [String]?
  var authors: Authors?
  var releases: [PublishedRelease]
  var isArchived: Bool?
  var lastActivity: Date?

  struct Columns: Sendable {
    let id = Column("id", \Repository.id, .primaryKey)
    let createdAt = Column("created_at", \Repository.createdAt, .createdAt)
    let updatedAt = Column("updated_at", \Repository.updatedAt, .updatedAt)
    let package = Column(
      "package_id", \Repository.package, .unique,
      .references(IndexedPackage.self, onDelete: .cascade))
    let summary = Column("summary", \Repository.summary)
    let branch = Column("default_branch", \Repository.branch)
    let license = Column("license", \Repository.license)
    let stars = Column("stars", \Repository.stars)
    let forks = Column("forks", \Repository.forks)
    let owner = Column("owner", \Repository.owner)
    let name = Column("name", \Repository.name)
    let keywords = Column("keywords", \Repository.keywords, .default([]), as: .array)
    let authors = Column("authors", \Repository.authors, as: .json)
    let releases = Column("releases", \Repository.releases, .default([]), as: .array)
    let isArchived = Column("is_archived", \Repository.isArchived, .default(false))
    let lastActivity = Column("last_activity_at", \Repository.lastActivity)
  }
  static let columns = Columns()
  static let table = Table(
    "repositories", Repository.init, columns.id, columns.createdAt, columns.updatedAt,
    columns.package,
    columns.summary, columns.branch, columns.license, columns.stars, columns.forks, columns.owner,
    columns.name,
    columns.keywords, columns.authors, columns.releases, columns.isArchived, columns.lastActivity)
}

struct PackageVersion: Record {
  var id: UUID
  var createdAt: Date?
  var updatedAt: Date?
  var package: UUID
  var reference: GitReference?
  var name: String?
  var commit: String?
  var commitDate: Date?
  var swiftVersions: [String]?
  var latest: Latest?
  var published: Date?
  var notes: String?
  var platforms: [SupportedPlatform]?
  var dependencies: [PackageDependency]?

  struct Columns: Sendable {
    let id = Column("id", \PackageVersion.id, .primaryKey)
    let createdAt = Column("created_at", \PackageVersion.createdAt, .createdAt)
    let updatedAt = Column("updated_at", \PackageVersion.updatedAt, .updatedAt)
    let package = Column(
      "package_id", \PackageVersion.package, .indexed,
      .references(IndexedPackage.self, onDelete: .cascade))
    let reference = Column("reference", \PackageVersion.reference, as: .json)
    let name = Column("package_name", \PackageVersion.name)
    let commit = Column("commit", \PackageVersion.commit)
    let commitDate = Column("commit_date", \PackageVersion.commitDate)
    let swiftVersions = Column("swift_versions", \PackageVersion.swiftVersions, as: .array)
    let latest = Column("latest", \PackageVersion.latest, .sqlType(postgres: "version_latest"))
    let published = Column("published_at", \PackageVersion.published)
    let notes = Column("release_notes", \PackageVersion.notes)
    let platforms = Column(
      "supported_platforms", \PackageVersion.platforms, .default([]), as: .array)
    let dependencies = Column("product_dependencies", \PackageVersion.dependencies, as: .json)
  }
  static let columns = Columns()
  static let table = Table(
    "versions", PackageVersion.init, columns.id, columns.createdAt, columns.updatedAt,
    columns.package,
    columns.reference, columns.name, columns.commit, columns.commitDate, columns.swiftVersions,
    columns.latest,
    columns.published, columns.notes, columns.platforms, columns.dependencies,
    constraints: [.index(columns.latest, columns.package)])
}

struct Product: Record {
  var id: UUID
  var createdAt: Date?
  var updatedAt: Date?
  var version: UUID
  var name: String
  var type: ProductType
  var targets: [String]

  struct Columns: Sendable {
    let id = Column("id", \Product.id, .primaryKey)
    let createdAt = Column("created_at", \Product.createdAt, .createdAt)
    let updatedAt = Column("updated_at", \Product.updatedAt, .updatedAt)
    let version = Column(
      "version_id", \Product.version, .indexed, .references(PackageVersion.self, onDelete: .cascade)
    )
    let name = Column("name", \Product.name)
    let type = Column("type", \Product.type, as: .json)
    let targets = Column("targets", \Product.targets, .default([]), as: .array)
  }
  static let columns = Columns()
  static let table = Table(
    "products", Product.init, columns.id, columns.createdAt, columns.updatedAt, columns.version,
    columns.name,
    columns.type, columns.targets)
}

struct Target: Record {
  var id: UUID
  var createdAt: Date?
  var updatedAt: Date?
  var version: UUID
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \Target.id, .primaryKey)
    let createdAt = Column("created_at", \Target.createdAt, .createdAt)
    let updatedAt = Column("updated_at", \Target.updatedAt, .updatedAt)
    let version = Column(
      "version_id", \Target.version, .indexed, .references(PackageVersion.self, onDelete: .cascade))
    let name = Column("name", \Target.name)
  }
  static let columns = Columns()
  static let table = Table(
    "targets", Target.init, columns.id, columns.createdAt, columns.updatedAt, columns.version,
    columns.name)
}

struct PackageBuild: Record {
  var id: UUID
  var createdAt: Date?
  var updatedAt: Date?
  var version: UUID
  var platform: String
  var status: BuildStatus
  var swiftVersion: SemanticVersion
  var job: String?
  var runner: String?
  var warnings: [String]?

  struct Columns: Sendable {
    let id = Column("id", \PackageBuild.id, .primaryKey)
    let createdAt = Column("created_at", \PackageBuild.createdAt, .createdAt)
    let updatedAt = Column("updated_at", \PackageBuild.updatedAt, .updatedAt)
    let version = Column(
      "version_id", \PackageBuild.version, .references(PackageVersion.self, onDelete: .cascade))
    let platform = Column("platform", \PackageBuild.platform)
    let status = Column("status", \PackageBuild.status, .sqlType(postgres: "build_status"))
    let swiftVersion = Column("swift_version", \PackageBuild.swiftVersion, as: .json)
    let job = Column("job_url", \PackageBuild.job)
    let runner = Column("runner_id", \PackageBuild.runner)
    let warnings = Column("warnings", \PackageBuild.warnings, as: .array)
  }
  static let columns = Columns()
  static let table = Table(
    "builds", PackageBuild.init, columns.id, columns.createdAt, columns.updatedAt, columns.version,
    columns.platform,
    columns.status, columns.swiftVersion, columns.job, columns.runner, columns.warnings,
    constraints: [
      .unique(columns.version, columns.platform, columns.swiftVersion),
      .index(columns.status, columns.createdAt),
    ])
}

struct PackageCollection: Record {
  var id: UUID
  var createdAt: Date?
  var key: String
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \PackageCollection.id, .primaryKey)
    let createdAt = Column("created_at", \PackageCollection.createdAt, .createdAt)
    let key = Column("key", \PackageCollection.key, .unique)
    let name = Column("name", \PackageCollection.name)
  }
  static let columns = Columns()
  static let table = Table(
    "custom_collections", PackageCollection.init, columns.id, columns.createdAt, columns.key,
    columns.name)
}

struct CollectedPackage: Record {
  var id: UUID
  var collection: UUID
  var package: UUID

  struct Columns: Sendable {
    let id = Column("id", \CollectedPackage.id, .primaryKey)
    let collection = Column(
      "custom_collection_id", \CollectedPackage.collection,
      .references(PackageCollection.self, onDelete: .cascade))
    let package = Column(
      "package_id", \CollectedPackage.package, .references(IndexedPackage.self, onDelete: .cascade))
  }
  static let columns = Columns()
  static let table = Table(
    "custom_collections+packages", CollectedPackage.init, columns.id, columns.collection,
    columns.package,
    constraints: [.unique(columns.collection, columns.package)])
}

/// A row of the materialized view that searches read.
struct FoundPackage: Record {
  var package: UUID
  var platforms: [String]?
  var score: Int?
  var keywords: [String]?
  var repository: String?
  var owner: String?
  var summary: String?
  var stars: Int?
  var license: String?
  var lastActivity: Date?
  var name: String?

  struct Columns: Sendable {
    // In the order of the view: the server then sorts its rows as they are.
    let package = Column("package_id", \FoundPackage.package)
    let platforms = Column("platform_compatibility", \FoundPackage.platforms, as: .array)
    let score = Column("score", \FoundPackage.score)
    let keywords = Column("keywords", \FoundPackage.keywords, as: .array)
    let repository = Column("repo_name", \FoundPackage.repository)
    let owner = Column("repo_owner", \FoundPackage.owner)
    let summary = Column("summary", \FoundPackage.summary)
    let stars = Column("stars", \FoundPackage.stars)
    let license = Column("license", \FoundPackage.license)
    let lastActivity = Column("last_activity_at", \FoundPackage.lastActivity)
    let name = Column("package_name", \FoundPackage.name)
  }
  static let columns = Columns()
  static let table = Table(
    "search", FoundPackage.init, columns.package, columns.platforms, columns.score,
    columns.keywords, columns.repository, columns.owner, columns.summary, columns.stars,
    columns.license, columns.lastActivity, columns.name,
    options: .view)
}

struct RecentPackage: Record {
  var package: UUID
  var name: String?
  var createdAt: Date?

  struct Columns: Sendable {
    let package = Column("package_id", \RecentPackage.package)
    let name = Column("package_name", \RecentPackage.name)
    let createdAt = Column("created_at", \RecentPackage.createdAt)
  }
  static let columns = Columns()
  static let table = Table(
    "recent_packages", RecentPackage.init, columns.package, columns.name, columns.createdAt,
    options: .view)
}

struct WeightedKeyword: Record {
  var keyword: String?
  var weight: Int?

  struct Columns: Sendable {
    let keyword = Column("keyword", \WeightedKeyword.keyword)
    let weight = Column("weight", \WeightedKeyword.weight)
  }
  static let columns = Columns()
  static let table = Table(
    "weighted_keywords", WeightedKeyword.init, columns.keyword, columns.weight, options: .view)
}
