import Foundation
import Larder
import TestSupport
import Testing

/// A folder in which a test runs the built `larder` command, as a user would.
final class Tool {
  private let scratch: ScratchFolder
  var folder: String { scratch.path }

  /// The output and exit status of a run.
  struct Result {
    let status: Int32
    let output: String
    let errors: String
    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  init() throws { scratch = try ScratchFolder() }

  /// A folder with a database `cities.db` of two tables, a view and 300 rows.
  static func withCities(_ journalMode: String = "delete") throws -> Tool {
    let tool = try Tool()
    let db = try tool.database("cities.db")
    try db.executeStatements(
      SQL(
        raw: """
          PRAGMA journal_mode = \(journalMode);
          CREATE TABLE country (code TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
          CREATE TABLE city (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE,
            country TEXT REFERENCES country (code) ON DELETE CASCADE, population INTEGER DEFAULT 0);
          CREATE INDEX city_country ON city (country);
          CREATE VIEW large AS SELECT name FROM city WHERE population > 200;
          CREATE TRIGGER city_added AFTER INSERT ON city BEGIN SELECT 1; END;
          INSERT INTO country VALUES ('CN', '中国'), ('NO', 'Norge');
          WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 300)
          INSERT INTO city SELECT i, 'City ' || i, iif(i % 2, 'NO', 'CN'), i FROM numbers;
          """))
    try db.close()
    return tool
  }

  func file(_ name: String) -> String { scratch.file(name) }

  /// Opens or makes a database in the folder.
  func database(_ name: String) throws -> Database {
    var configuration = Configuration()
    configuration.journalMode = nil
    return try Database(path: file(name), configuration: configuration)
  }

  func write(_ name: String, _ bytes: some Sequence<UInt8>) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
  }

  func contents(of name: String) throws -> Data { try ScratchFolder.contents(of: file(name)) }

  /// The names of all files in the folder, except the runs' outputs.
  func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { !$0.hasPrefix("run-") }.sorted()
  }

  /// Runs the program in the folder, and waits for its end.
  func run(_ arguments: String...) throws -> Result { try run(arguments) }

  func run(_ arguments: [String]) throws -> Result {
    try runOther(ChildProcess.built("larder"), arguments)
  }

  /// Runs another program in the folder, and waits for its end.
  func runOther(_ program: String, _ arguments: [String]) throws -> Result {
    let name = "run-" + UUID().uuidString
    let process = try start(program, arguments, output: name)
    let status = process.end()
    return Result(
      status: status, output: try text(name + ".out"), errors: try text(name + ".err"))
  }

  func start(_ arguments: [String], output name: String) throws -> ChildProcess {
    try start(ChildProcess.built("larder"), arguments, output: name)
  }

  private func start(
    _ program: String, _ arguments: [String], output name: String
  ) throws -> ChildProcess {
    try ChildProcess(
      program, arguments, in: folder, input: .nothing,
      output: .file(file(name + ".out")), errors: .file(file(name + ".err")))
  }

  /// Runs a shell script in which `larder` is the built program.
  func shell(_ script: String) throws -> Result {
    let name = "run-" + UUID().uuidString
    let process = try ChildProcess(
      "/bin/sh", ["-c", "larder() { '\(ChildProcess.built("larder"))' \"$@\"; }\n\(script)"],
      in: folder, input: .nothing, output: .file(file(name + ".out")),
      errors: .file(file(name + ".err")))
    let status = process.end()
    return Result(status: status, output: try text(name + ".out"), errors: try text(name + ".err"))
  }

  /// The rows of a query that is run with the library.
  func values(_ name: String, _ sql: String) throws -> [[DatabaseValue]] {
    let db = try database(name)
    defer { try? db.close() }
    let rows = try db.executeQuery(SQL(raw: sql))
    return try rows.map { row in try row.columnNames.indices.map { try row[$0] } }
  }

  func text(_ name: String) throws -> String {
    String(decoding: try contents(of: name), as: UTF8.self)
  }

  /// The JSON object that a command prints.
  func object(_ arguments: String...) throws -> [String: Any] {
    let result = try run(arguments + ["--json"])
    try #require(result.status == 0, "\(result.errors)")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(object as? [String: Any])
  }

  /// The rows that a query prints as JSON.
  func rows(_ arguments: String...) throws -> [NSDictionary] {
    let result = try run(["query"] + arguments + ["--json"])
    try #require(result.status == 0, "\(result.errors)")
    let rows = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(rows as? [NSDictionary])
  }
}
