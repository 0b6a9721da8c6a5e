import Foundation
import Larder
import TestSupport

/// Runs random queries, and looks whether they have the rows that SQLite's shell finds with the values
/// in their text, and that Swift does.
package struct RandomComparison {
  /// What went wrong, each with the seed of its query.
  package private(set) var failures: [String] = []
  /// How many queries were run, and for how many Swift could compute the rows.
  package private(set) var tried = 0
  package private(set) var computed = 0
  private let shell: SQLiteShell
  private let db: Database
  private let data: RandomData
  private var source: SeededGenerator

  package init(seed: UInt64, folder: String) throws {
    source = SeededGenerator(seed: seed)
    data = RandomData(&source)
    shell = SQLiteShell(folder: folder)
    _ = try shell.run(data.script)
    db = try Database(path: folder + "/database")
  }

  /// Compares as many queries as this, by one process of the shell.
  package mutating func run(count: Int) throws {
    try run(seeds: (0..<count).map { _ in source.next() })
  }

  package mutating func run(seeds: [UInt64]) throws {
    let queries = seeds.map { TreeGenerator(seed: $0, data).query() }
    let texts = try queries.map { try $0.sql.literalText() }
    let rows = try shell.rows(texts)
    for (index, query) in queries.enumerated() {
      tried += 1
      let problem = try problem(query, shown: rows[index])
      if let problem { failures.append("query \(seeds[index]), \(problem): \(texts[index])") }
    }
  }

  private mutating func problem(_ query: RandomQuery, shown: [[DatabaseValue]]) throws -> String? {
    guard try db.prepare(query.sql).parameterCount == query.sql.arguments.count else {
      return "more or fewer parameters than arguments"
    }
    let found = try Self.keys(query) { try query.fetch(db) }
    guard try Self.keys(query, { shown }) == found else { return "the shell has other rows" }
    if let count = query.count, try count(db) != found.count { return "its count is another one" }
    do {
      let expected = try Self.keys(query, query.expected)
      computed += 1
      return expected == found ? nil : "Swift has other rows"
    } catch is UnknownValue {
      return nil
    }
  }

  /// The rows as texts, sorted where they have no order of their own.
  private static func keys(
    _ query: RandomQuery, _ rows: () throws -> [[DatabaseValue]]
  ) throws -> [String] {
    let keys = try rows().map(RowSet.key)
    return query.isOrdered ? keys : keys.sorted()
  }
}
