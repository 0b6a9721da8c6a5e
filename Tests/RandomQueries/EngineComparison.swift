import Foundation
import Larder
import TestSupport

/// Runs the same random queries on SQLite and on another engine, over the same rows: both have to find the same, or
/// the other one refuses the query by an error that says what it hasn't.
package struct EngineComparison {
  /// What went wrong, each with the seed of its query.
  package private(set) var failures: [String] = []
  package private(set) var tried = 0
  /// How many had the same rows.
  package private(set) var equal = 0
  /// How many were refused, by the reason.
  package private(set) var refused: [String: Int] = [:]
  /// How many of each kind had the same rows.
  package private(set) var kinds: [QueryKind: Int] = [:]
  private let seed: UInt64
  private let sqlite: Database
  private let other: Database
  private let data: RandomData
  private let only: [QueryKind]
  private let isHostile: Bool
  private var source: SeededGenerator

  /// - Parameters:
  ///   - other: a database of the other engine, with nothing in it.
  ///   - kinds: the kinds of queries; all of them if none are named.
  ///   - isHostile: whether there are many numbers that are infinite or very large.
  package init(
    seed: UInt64, _ other: Database, kinds: [QueryKind] = [], isHostile: Bool = false
  ) throws {
    self.seed = seed
    self.isHostile = isHostile
    self.other = other
    source = SeededGenerator(seed: seed)
    data = RandomData(&source, isForSQLite: false, isHostile: isHostile)
    only = kinds.isEmpty ? QueryKind.allCases : kinds
    sqlite = try Database()
    // What tables remember of one engine must not be taken for the other's, whichever was first.
    for db in seed.isMultiple(of: 2) ? [sqlite, other] : [other, sqlite] {
      try data.insert(into: db)
    }
  }

  package mutating func run(count: Int) throws {
    try run(seeds: (0..<count).map { _ in source.next() })
  }

  package mutating func run(seeds: [UInt64]) throws {
    for seed in seeds {
      let query = TreeGenerator(seed: seed, data, dateFormat: .secondsSince1970).query(only)
      tried += 1
      let one = Outcome { try query.fetch(sqlite) }
      let two = Outcome { try query.fetch(other) }
      switch (one, two) {
      case (.rows(let left), .rows(let right)):
        if let difference = query.difference(left, right) {
          // SQLite takes rows that leave a frame off its sum, which gets nothing back that was lost in it.
          guard !isHostile || ![.frames, .windows].contains(query.kind) else {
            refused["a moving frame's average", default: 0] += 1
            continue
          }
          fail(query, seed, difference)
        } else {
          equal += 1
          kinds[query.kind, default: 0] += 1
        }
      case (_, .refused(let error)):
        let isBoth = if case .refused = one { true } else { false }
        if let reason = Self.reason(error, isBoth: isBoth) {
          refused[reason, default: 0] += 1
        } else {
          fail(query, seed, "it failed: \(error)")
        }
      case (.refused(let error), .rows):
        // What the other engine never came to see it needn't refuse, nor numbers on the way that it can hold.
        let reasons = ["what the engine needn't have looked at", "a decimal of too many digits"]
        if let reason = query.refusal, reasons.contains(reason) {
          refused["by SQLite alone, \(reason)", default: 0] += 1
        } else {
          fail(query, seed, "only SQLite refused it: \(error)")
        }
      }
    }
  }

  private mutating func fail(_ query: RandomQuery, _ seed: UInt64, _ problem: String) {
    let text = (try? query.sql.literalText()) ?? query.sql.text
    failures.append(
      "--seed \(self.seed) -- \(seed) (\(query.kind)), \(problem): \(text) \(query.note)")
  }

  /// Why it was refused; nil for an error that nobody is told about.
  private static func reason(_ error: any Error, isBoth: Bool) -> String? {
    switch error {
    case let error as UnsupportedByEngine: error.feature
    case let error as ConversionError: "a value that is read: \(error.kind)"
    // Integers go on as real numbers on SQLite alone.
    case let error as DatabaseError where error.sqlState == "22003": "a number out of range"
    case let error as DatabaseError where error.sqlState == "22008": "a date out of range"
    case let error as DatabaseError where error.sqlState == "0A000": "what the server hasn't"
    case is DatabaseError where isBoth: "on both"
    case is RecordError where isBoth: "on both"
    default: nil
    }
  }
}

extension RandomQuery {
  /// Where two results differ; nil where they don't. Real numbers may in their last digits, since dates have
  /// microseconds on one side.
  fileprivate func difference(_ left: [[DatabaseValue]], _ right: [[DatabaseValue]]) -> String? {
    guard left.count == right.count else { return "\(left.count) rows for \(right.count)" }
    let (left, right) = isOrdered ? (left, right) : (sorted(left), sorted(right))
    guard let place = zip(left, right).first(where: { !Self.isSame($0, $1) }) else { return nil }
    return "rows differ: \(RowSet.key(place.0)) for \(RowSet.key(place.1))"
  }

  private func sorted(_ rows: [[DatabaseValue]]) -> [[DatabaseValue]] {
    rows.map { (RowSet.key($0, digits: 1e4), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  private static func isSame(_ left: [DatabaseValue], _ right: [DatabaseValue]) -> Bool {
    left.count == right.count
      && zip(left, right).allSatisfy { one, two in
        guard case .real(let one) = one, case .real(let two) = two else { return one == two }
        return one == two || (one - two).magnitude <= 1e-9 * max(1000, one.magnitude)
      }
  }
}

extension RandomData {
  /// Makes the tables and their rows by Larder, some of them twice.
  fileprivate func insert(into db: Database) throws {
    try db.inTransaction { db in
      try RandomPlace.table.create(db)
      try RandomArea.table.create(db)
      try RandomSale.table.create(db)
      try RandomStock.table.create(db)
      try RandomMoment.table.create(db)
      try RandomPlace.insert(db, contentsOf: places)
      try RandomArea.insert(db, contentsOf: areas)
      try RandomSale.insert(db, contentsOf: sales.sales)
      try RandomStock.insert(db, contentsOf: sales.stocks)
      try RandomMoment.insert(db, contentsOf: moments.records)
      try RandomPlace.insert(db, contentsOf: places, or: .ignore)
      try RandomSale.insert(db, contentsOf: sales.sales, or: .ignore)
      for var place in places.prefix(3) {
        try place.insert(db, or: .ignore)
        try place.upsert(db) as Void
        try place.save(db) as Void
      }
    }
  }
}
