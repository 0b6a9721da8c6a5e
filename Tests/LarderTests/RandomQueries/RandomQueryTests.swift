import Foundation
import Larder
import Testing

/// Queries that nobody thought of. LARDER_RANDOM_QUERIES tells how many, LARDER_RANDOM_SEED which, and
/// LARDER_RANDOM_QUERY the one that a failure named.
@Suite("Random queries")
struct RandomQueryTests {
  static let environment = ProcessInfo.processInfo.environment
  static let count = environment["LARDER_RANDOM_QUERIES"].flatMap(Int.init) ?? 1000
  static let seed = environment["LARDER_RANDOM_SEED"].flatMap(UInt64.init) ?? 1

  static let only = environment["LARDER_RANDOM_QUERY"].flatMap(UInt64.init)

  @Test(
    "Each has the rows that SQLite's shell finds with the values in its text, and that Swift does")
  func randomQueries() throws {
    let folder = NSTemporaryDirectory() + "/larder-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let shell = SQLiteShell(folder: folder)
    var source = RandomSource(seed: Self.seed)
    let data = RandomData(&source)
    _ = try shell.run(data.script)
    let db = try Database(path: folder + "/database")
    var computed = 0
    for start in stride(from: 0, to: Self.only == nil ? Self.count : 1, by: 1000) {
      let seeds =
        Self.only.map { [$0] }
        ?? (start..<min(Self.count, start + 1000)).map { _ in source.next() }
      let queries = seeds.map { TreeGenerator(seed: $0, data).query() }
      let texts = try queries.map { try $0.sql.literalText() }
      let rows = try shell.rows(texts)
      for (index, query) in queries.enumerated() {
        #expect(
          try db.prepare(query.sql).parameterCount == query.sql.arguments.count,
          "query \(seeds[index])")
        let text = Comment(rawValue: "query \(seeds[index]): \(texts[index])")
        let found = try Self.keys(query) { try query.fetch(db) }
        let shown = try Self.keys(query) { rows[index] }
        #expect(shown == found, text)
        if let count = query.count { #expect(try count(db) == found.count, text) }
        do {
          let expected = try Self.keys(query, query.expected)
          #expect(expected == found, text)
          computed += 1
        } catch is UnknownValue {}
      }
    }
    // Most can be computed: else this would prove little.
    #expect(computed * 2 > Self.count || Self.only != nil)
  }

  /// The rows as texts, sorted where they have no order of their own.
  private static func keys(
    _ query: RandomQuery, _ rows: () throws -> [[DatabaseValue]]
  ) throws -> [String] {
    let keys = try rows().map(RowSet.key)
    return query.isOrdered ? keys : keys.sorted()
  }
}
