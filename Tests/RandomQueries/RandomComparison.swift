import Foundation
import Larder
import TestSupport

/// Runs random queries, and looks whether they have the rows that SQLite's shell finds with the values
/// in their text, and that Swift does; or are refused where Swift says that they have to be.
package struct RandomComparison {
  /// What went wrong, each with the seed of its query.
  package private(set) var failures: [String] = []
  /// How many queries were run, and for how many Swift could compute the rows.
  package private(set) var tried = 0
  package private(set) var computed = 0
  /// How many were refused, as they have to be, by the reason.
  package private(set) var refused: [String: Int] = [:]
  /// How many of each kind were run.
  package private(set) var kinds: [QueryKind: Int] = [:]
  private let seed: UInt64
  private let shell: SQLiteShell
  private let databases: RandomDatabases
  private let data: RandomData
  private let only: [QueryKind]
  private var source: SeededGenerator

  /// - Parameter kinds: the kinds of queries; all of them if none are named.
  package init(seed: UInt64, folder: String, kinds: [QueryKind] = []) throws {
    self.seed = seed
    source = SeededGenerator(seed: seed)
    data = RandomData(&source)
    only = kinds.isEmpty ? QueryKind.allCases : kinds
    shell = SQLiteShell(folder: folder)
    _ = try shell.run(data.script)
    databases = try RandomDatabases(Database(path: folder + "/database"), data)
  }

  /// Compares as many queries as this, by one process of the shell.
  package mutating func run(count: Int) throws {
    try run(seeds: (0..<count).map { _ in source.next() })
  }

  package mutating func run(seeds: [UInt64]) throws {
    var shown: [(query: RandomQuery, seed: UInt64, text: String, rows: [[DatabaseValue]])] = []
    for seed in seeds {
      let query = TreeGenerator(seed: seed, data).query(only)
      tried += 1
      kinds[query.kind, default: 0] += 1
      let outcome = Outcome { try query.fetch(databases[query]) }
      do {
        guard case .rows(let rows) = outcome else {
          try refuse(query, outcome)
          continue
        }
        try check(query, rows)
        if query.isForShell { shown.append((query, seed, try query.sql.literalText(), rows)) }
      } catch {
        fail(query, seed, "\(error)")
      }
    }
    let answers = try shell.rows(shown.map(\.text))
    for (question, answer) in zip(shown, answers)
    where question.query.keys(answer) != question.query.keys(question.rows) {
      fail(question.query, question.seed, "the shell has other rows: \(answer.prefix(3))")
    }
  }

  private mutating func fail(_ query: RandomQuery, _ seed: UInt64, _ problem: String) {
    let text = (try? query.sql.literalText()) ?? query.sql.text
    failures.append(
      "--seed \(self.seed) -- \(seed) (\(query.kind), the \(tried)th), \(problem): \(text) \(query.note)"
    )
  }

  private struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  private mutating func check(_ query: RandomQuery, _ rows: [[DatabaseValue]]) throws {
    let db = databases[query]
    guard try db.prepare(query.sql).parameterCount == query.sql.arguments.count else {
      throw Problem(description: "more or fewer parameters than arguments")
    }
    if let count = query.count, try count(db) != rows.count {
      throw Problem(description: "its count is another one")
    }
    do {
      let (found, expected) = (query.keys(rows), query.keys(try query.expected()))
      computed += 1
      guard expected != found else { return }
      let place = zip(expected, found).first { $0 != $1 }
      throw Problem(
        description: "Swift has other rows: \(expected.count) for \(found.count), "
          + "first \(place?.0 ?? "") for \(place?.1 ?? "")")
    } catch is UnknownValue {
    } catch is Undecided {
    } catch let error as Refused {
      throw Problem(description: "it should have been refused for \(error.reason)")
    }
  }

  private mutating func refuse(_ query: RandomQuery, _ outcome: Outcome) throws {
    guard outcome.isTyped, let reason = query.refusal else {
      throw Problem(description: "it was refused: \(outcome)")
    }
    refused[reason, default: 0] += 1
    computed += 1
  }
}

/// What came of a query.
package enum Outcome {
  case rows([[DatabaseValue]])
  case refused(any Error)

  package init(_ rows: () throws -> [[DatabaseValue]]) {
    do { self = .rows(try rows()) } catch { self = .refused(error) }
  }

  /// Whether it is refused by an error of Larder's.
  package var isTyped: Bool {
    switch self {
    case .rows: false
    case .refused(let error):
      error is DatabaseError || error is ConversionError || error is RecordError
        || error is UnsupportedByEngine
    }
  }
}

/// The databases that random queries run on: where dates are stored in other formats, another one.
package struct RandomDatabases {
  private let main: Database
  private let others: [DateFormat: Database]

  package init(_ main: Database, _ data: RandomData) throws {
    self.main = main
    var others: [DateFormat: Database] = [:]
    for format in RandomMoments.formats {
      var configuration = Configuration()
      configuration.dateFormat = format
      let db = try Database(configuration: configuration)
      try db.executeStatements(SQL(raw: data.moments.script(format)))
      others[format] = db
    }
    self.others = others
  }

  package subscript(query: RandomQuery) -> Database { others[query.dateFormat] ?? main }
}
