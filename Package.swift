// swift-tools-version: 6.3
import CompilerPluginSupport
import PackageDescription

// `LARDER_SQLITE=sqlcipher` links SQLCipher in place of SQLite: for encrypted files.
let usesCipher = Context.environment["LARDER_SQLITE"] == "sqlcipher"

// `LARDER_QUICK_BUILD=yes` leaves the proofs' own code without optimization, which takes six times as long to compile;
// most of them wait for the library.
let proofSettings: [SwiftSetting] =
  Context.environment["LARDER_QUICK_BUILD"] == "yes"
  ? [.unsafeFlags(["-Onone"], .when(configuration: .release))] : []

let package = Package(
  name: "Larder",
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "LarderSQLite", targets: ["LarderSQLite"]),
    .library(name: "LarderBackup", targets: ["LarderBackup"]),
    .library(name: "LarderFleet", targets: ["LarderFleet"]),
    .library(name: "LarderJobs", targets: ["LarderJobs"]),
    .library(name: "LarderOutbox", targets: ["LarderOutbox"]),
    .library(name: "LarderReplication", targets: ["LarderReplication"]),
    .library(name: "LarderS3", targets: ["LarderS3"]),
    .library(name: "LarderChangeset", targets: ["LarderChangeset"]),
    .library(name: "LarderVirtualTables", targets: ["LarderVirtualTables"]),
    .library(name: "LarderTesting", targets: ["LarderTesting"]),
    .library(name: "LarderPostgres", targets: ["LarderPostgres"]),
    .library(name: "LarderMacros", targets: ["LarderMacros"]),
    .executable(name: "larder", targets: ["LarderTool"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite",
      path: usesCipher ? "Sources/CSQLCipher" : "Sources/CSQLite",
      pkgConfig: usesCipher ? "sqlcipher" : "sqlite3",
      providers: [.apt([usesCipher ? "libsqlcipher-dev" : "libsqlite3-dev"])]
    ),
    .target(name: "LarderSQLite", dependencies: ["CSQLite"]),
    .target(name: "LarderBackup", dependencies: ["LarderSQLite", "CSQLite"]),
    .target(name: "LarderReplication", dependencies: ["LarderSQLite", "CSQLite"]),
    .systemLibrary(
      name: "CCrypto",
      pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"])]
    ),
    .target(name: "LarderS3", dependencies: ["LarderReplication", "CCrypto"]),
    .target(name: "Larder", dependencies: ["LarderSQLite"]),
    .target(name: "LarderFleet", dependencies: ["Larder", "LarderReplication"]),
    .target(name: "LarderJobs", dependencies: ["Larder"]),
    .target(name: "LarderOutbox", dependencies: ["Larder"]),
    .target(name: "LarderChangeset", dependencies: ["Larder", "CSQLite"]),
    .target(name: "LarderVirtualTables", dependencies: ["Larder", "CSQLite"]),
    .systemLibrary(
      name: "CLibPQ",
      pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"])]
    ),
    .target(name: "LarderPostgres", dependencies: ["Larder", "CLibPQ"]),
    .target(name: "LarderMacros", dependencies: ["Larder", "LarderMacrosPlugin"]),
    .macro(name: "LarderMacrosPlugin", dependencies: ["LarderMacroExpansion"]),
    .target(name: "LarderMacroExpansion"),
    .target(name: "LarderTerminal", dependencies: ["LarderSQLite"]),
    .executableTarget(
      name: "LarderTool",
      dependencies: [
        "Larder", "LarderJobs", "LarderPostgres", "LarderReplication", "LarderTerminal",
      ]),
    .target(name: "LarderTesting", dependencies: ["Larder"]),
    .executableTarget(
      name: "gazetteer",
      dependencies: ["LarderMacros", "LarderPostgres", "LarderTerminal"],
      path: "Sample/gazetteer"
    ),
    .target(name: "CTableReference", dependencies: ["CSQLite"], path: "Tests/TableReference"),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "LarderBackup", "LarderMacros", "LarderReplication", "LarderVirtualTables", "CSQLite",
        "CTableReference", "TestSupport",
      ],
      path: "Tests/Benchmarks"
    ),
    .testTarget(
      name: "SampleTests",
      dependencies: ["Larder", "PostgresSupport", "TestSupport", "gazetteer"]),
    .executableTarget(
      name: "desk",
      dependencies: ["LarderBackup", "LarderFleet", "LarderMacros", "LarderPostgres"],
      path: "Sample/desk",
      exclude: ["README.md"]),
    .executableTarget(
      name: "reader",
      dependencies: [
        "LarderJobs", "LarderMacros", "LarderOutbox", "LarderPostgres", "LarderReplication",
      ],
      path: "Sample/reader",
      exclude: ["Deploy"]),
    .testTarget(
      name: "ReaderTests",
      dependencies: ["LarderPostgres", "PostgresSupport", "TestSupport", "reader"]),
    .testTarget(
      name: "DeskTests", dependencies: ["LarderTesting", "PostgresSupport", "TestSupport", "desk"]),
    .testTarget(
      name: "LarderToolTests",
      dependencies: [
        "Larder", "LarderJobs", "LarderReplication", "LarderTerminal", "PostgresSupport",
        "TestSupport", "LarderTool",
      ],
      exclude: ["Golden"]),
    .target(name: "TestSupport", dependencies: ["Larder"], path: "Tests/TestSupport"),
    .target(
      name: "RandomQueries", dependencies: ["Larder", "TestSupport"], path: "Tests/RandomQueries",
      swiftSettings: proofSettings),
    .executableTarget(
      name: "test-process",
      dependencies: [
        "Larder", "LarderBackup", "LarderFleet", "LarderReplication", "TestSupport",
      ],
      path: "Tests/TestProcess"),
    .testTarget(
      name: "LarderSQLiteTests",
      dependencies: [
        "LarderBackup", "LarderChangeset", "LarderReplication", "LarderS3", "LarderSQLite",
        "LarderVirtualTables", "TestSupport", "test-process",
      ]),
    .testTarget(
      name: "LarderTests",
      dependencies: [
        "Larder", "LarderChangeset", "LarderFleet", "LarderReplication", "LarderTesting",
        "LarderVirtualTables", "PostgresSupport", "RandomQueries", "TestSupport", "test-process",
      ]),
    .testTarget(
      name: "LarderJobsTests",
      dependencies: ["LarderJobs", "LarderPostgres", "PostgresSupport", "TestSupport"]),
    .testTarget(
      name: "LarderOutboxTests",
      dependencies: ["LarderOutbox", "LarderPostgres", "PostgresSupport", "TestSupport"]),
    .target(
      name: "PostgresSupport", dependencies: ["LarderPostgres", "TestSupport"],
      path: "Tests/PostgresSupport"),
    .target(
      name: "CPostgresReference", dependencies: ["CLibPQ"], path: "Tests/PostgresReference"),
    .executableTarget(
      name: "postgres-benchmarks", dependencies: ["LarderPostgres", "CPostgresReference"],
      path: "Tests/PostgresBenchmarks"),
    .executableTarget(
      name: "postgres-proof", dependencies: ["LarderPostgres", "PostgresSupport", "TestSupport"],
      path: "Tests/PostgresProof"),
    .testTarget(
      name: "LarderPostgresTests",
      dependencies: [
        "LarderChangeset", "LarderPostgres", "PostgresSupport", "TestSupport", "test-process",
      ]),
    .testTarget(
      name: "LarderMacrosTests",
      dependencies: ["LarderMacros", "LarderMacroExpansion", "TestSupport"]),
    .target(name: "CFaultInjection", dependencies: ["CSQLite"], path: "Tests/FaultInjection"),
    .target(
      name: "ProofSupport", dependencies: ["Larder", "CFaultInjection", "TestSupport"],
      path: "Tests/ProofSupport"),
    .target(
      name: "ConcurrencyProofs",
      dependencies: [
        "Larder", "LarderChangeset", "CFaultInjection", "ProofSupport", "TestSupport",
      ],
      path: "Tests/ConcurrencyProofs",
      swiftSettings: proofSettings),
    // Apart from `proof`, since the thread sanitizer has everything compiled that it is to see.
    .executableTarget(
      name: "concurrency-proof", dependencies: ["ConcurrencyProofs", "ProofSupport"],
      path: "Tests/ConcurrencyProof"),
    .executableTarget(
      name: "proof",
      dependencies: [
        "Larder", "LarderBackup", "LarderChangeset", "LarderFleet", "LarderJobs",
        "LarderMacroExpansion", "LarderOutbox", "LarderReplication", "LarderTesting",
        "LarderVirtualTables", "CFaultInjection", "ConcurrencyProofs",
        "PostgresSupport", "ProofSupport", "RandomQueries", "TestSupport",
      ],
      path: "Tests/Proof",
      exclude: ["results.jsonl"],
      swiftSettings: proofSettings
    ),
    .testTarget(
      name: "ProofTests",
      dependencies: [
        "LarderPostgres", "LarderSQLite", "CFaultInjection", "PostgresSupport", "TestSupport",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
