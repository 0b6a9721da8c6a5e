import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// Mutation testing of the tool `larder`, which is built beside this program: database files of which bytes, pages or
/// the end were changed are given to `inspect`, `check` and `generate`. Each ends by itself, with one of the statuses
/// that are documented, and the file stays as it was. Built with the address sanitizer it finds more.
enum ToolFiles: ProofRow {
  static let name = "tool-files"
  static let number = 21
  static let unit = "mutated files through inspect, check and generate"

  private static let commands = ["inspect", "check", "generate"]

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let tool = ChildProcess.built("larder")
    guard access(tool, X_OK) == 0 else {
      result.skipped = "larder isn't built"
      return result
    }
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let seeds = try FileMutation.originals(in: scratch)
    var statuses: [Int32: Int] = [:]
    while result.tried < options.count ?? 100, options.goesOn(after: result.tried) {
      let number = result.tried
      var random = SeededGenerator(seed: options.seed &+ UInt64(number) &* 0x1_0000_0001)
      let bytes = FileMutation.mutated(seeds, using: &random)
      let path = scratch.file("mutated.db")
      try bytes.write(to: URL(fileURLWithPath: path))
      for command in commands {
        fault_watch("tool-files: \(command), seed \(options.seed), file \(number)", 300)
        let errors = scratch.file("errors")
        let process = try ChildProcess(
          tool, [command, path, "--wait", "1"], input: .nothing, output: .file("/dev/null"),
          errors: .file(errors))
        let status = process.end()
        statuses[status, default: 0] += 1
        let place = "\(command), seed \(options.seed), file \(number)"
        if !(0...3).contains(status) {
          let text = try String(decoding: ScratchFolder.contents(of: errors), as: UTF8.self)
          result.failures.append("\(place): status \(status): \(text.prefix(2000))")
        }
        let isSame = try ScratchFolder.contents(of: path) == bytes
        if !isSame { result.failures.append("\(place): the file was changed") }
      }
      result.tried += 1
    }
    fault_watch("", 0)
    result.details =
      [fault_has_address_sanitizer() == 0 ? "no sanitizer" : "under the address sanitizer"]
      + statuses.sorted { $0.key < $1.key }.map { "status \($0.key): \($0.value)" }
    return result
  }
}

/// Database files, and random changes of their bytes.
enum FileMutation {
  /// Files with everything in them that the tool looks at.
  static func originals(in scratch: ScratchFolder) throws -> [Data] {
    let statements: [String] = [
      CraftedFile.city,
      """
      CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE) STRICT, WITHOUT ROWID;
      CREATE TABLE city (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL COLLATE NOCASE, founded TEXT, is_capital INTEGER,
        country TEXT REFERENCES country ON DELETE CASCADE, payload TEXT CHECK (json_valid(payload)),
        length AS (length(name)) STORED, UNIQUE (name, country));
      CREATE INDEX city_country ON city (country DESC) WHERE is_capital;
      CREATE INDEX city_lower ON city (lower(name));
      CREATE VIEW capital AS SELECT name, country FROM city WHERE is_capital;
      CREATE TRIGGER founded AFTER INSERT ON city BEGIN UPDATE city SET founded = '2026-01-01' WHERE id = new.id; END;
      INSERT INTO country VALUES ('NO', 'Norge'), ('CN', '中国');
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO city (name, is_capital, country, payload)
      SELECT 'City ' || i, i % 2, iif(i % 3, 'NO', 'CN'), '{"a":[1,"x"]}' FROM n;
      ANALYZE;
      """,
      """
      PRAGMA page_size = 512;
      CREATE VIRTUAL TABLE doc USING fts5 (title, body, tokenize = 'trigram');
      INSERT INTO doc VALUES ('Oslo', hex(zeroblob(3000))), ('Bergen', 'rain');
      CREATE VIRTUAL TABLE box USING rtree (id, a, b);
      INSERT INTO box VALUES (1, 0, 1), (2, 3, 4);
      CREATE TABLE "a ""b"" c" ("select" BLOB, x'' , "let" REAL DEFAULT 1.5);
      INSERT INTO "a ""b"" c" VALUES (zeroblob(9000), 1, 2);
      DELETE FROM doc WHERE title = 'Oslo';
      """.replacing("x'' ,", with: "\"\" INTEGER,"),
      """
      PRAGMA encoding = 'UTF-16le'; PRAGMA auto_vacuum = FULL;
      CREATE TABLE t (a UNIQUE, b, c, PRIMARY KEY (b, c));
      INSERT INTO t VALUES ('å', 1, 2), (NULL, 3.5, x'00'), (9223372036854775807, '2026-01-01', '{}');
      """,
    ]
    return try statements.enumerated().map { index, sql in
      let path = scratch.file("original-\(index).db")
      try WrongAnswer.check(hostile_file_write(path, sql), 0, "writing the file \(index)")
      return try ScratchFolder.contents(of: path)
    }
  }

  static func mutated(_ originals: [Data], using random: inout SeededGenerator) -> Data {
    var bytes = [UInt8](originals[Int.random(in: 0..<originals.count, using: &random)])
    for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
      change(&bytes, using: &random)
    }
    return Data(bytes)
  }

  private static func change(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
    let place = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: bytes[place] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
    case 2:
      for index in place..<min(bytes.count, place + 64) {
        bytes[index] = .random(in: 0...255, using: &random)
      }
    case 3:
      let header = Int.random(in: 0..<min(100, bytes.count), using: &random)
      bytes[header] = .random(in: 0...255, using: &random)
    case 4:
      // The beginning of a page, where its kind and its cells are told.
      let page = place / 512 * 512 + Int.random(in: 0..<12, using: &random)
      if page < bytes.count { bytes[page] = .random(in: 0...255, using: &random) }
    case 5: bytes.removeLast(min(bytes.count, Int.random(in: 1...4096, using: &random)))
    case 6:
      let (from, to) = (
        Int.random(in: 0..<bytes.count, using: &random) / 512 * 512, place / 512 * 512
      )
      for index in 0..<512 where from + index < bytes.count && to + index < bytes.count {
        bytes[to + index] = bytes[from + index]
      }
    default:
      // Within the text of the schema.
      let words = ["TABLE", "(", "PRIMARY", "'", "\"", "CHECK", ",", "AS", "REFERENCES"]
      let word = Array((words.randomElement(using: &random) ?? "").utf8)
      let start = min(place, 4096)
      for (index, byte) in word.enumerated() where start + index < bytes.count {
        bytes[start + index] = byte
      }
    }
  }
}
