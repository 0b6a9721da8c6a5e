// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "Larder",
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "LarderSQLite", targets: ["LarderSQLite"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]
    ),
    .target(name: "LarderSQLite", dependencies: ["CSQLite"]),
    .target(name: "Larder", dependencies: ["LarderSQLite"]),
    .executableTarget(
      name: "gazetteer",
      dependencies: ["Larder"],
      path: "Sample",
      exclude: ["run", "Data"]
    ),
    .executableTarget(
      name: "benchmarks",
      dependencies: ["Larder", "CSQLite"],
      path: "Tests/Benchmarks"
    ),
    .executableTarget(
      name: "fork-check", dependencies: ["LarderSQLite"], path: "Tests/ForkCheck"),
    .executableTarget(
      name: "crash-check", dependencies: ["LarderSQLite"], path: "Tests/CrashCheck"),
    .executableTarget(
      name: "migration-check", dependencies: ["Larder"], path: "Tests/MigrationCheck"),
    .executableTarget(name: "example", dependencies: ["Larder"], path: "Tests/Example"),
    .testTarget(name: "LarderTests", dependencies: ["Larder", "example", "migration-check"]),
    .testTarget(name: "SampleTests", dependencies: ["Larder", "gazetteer"]),
    .target(name: "CFaultInjection", dependencies: ["CSQLite"], path: "Tests/FaultInjection"),
    .executableTarget(
      name: "proof",
      dependencies: ["Larder", "CFaultInjection"],
      path: "Tests/Proof",
      exclude: ["results.jsonl", "RandomQueries/RandomQueryTests.swift"]
    ),
    .testTarget(
      name: "LarderSQLiteTests", dependencies: ["LarderSQLite", "fork-check", "crash-check"]),
    .testTarget(
      name: "ProofTests", dependencies: ["LarderSQLite", "CFaultInjection", "proof"]),
  ],
  swiftLanguageModes: [.v6]
)
