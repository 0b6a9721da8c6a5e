import Larder
import LarderTerminal

/// Finds the changes of tables by comparing their rows between two looks: SQLite doesn't report the rows that
/// other processes change.
final class TableFollower: Sendable {
  /// The tables to follow; empty for all.
  private let names: [String]
  private let path: String
  /// The number of rows up to which a table is compared row by row.
  private let mostRows: Int
  private let state = Lock(State())

  private struct State {
    /// The schema's version at the last look; nil before the first.
    var schemaVersion: Int?
    var tables: [FollowedTable] = []
    var changes: [FollowedChange] = []
  }

  init(names: [String], path: String, mostRows: Int) {
    self.names = names
    self.path = path
    self.mostRows = mostRows
  }

  /// The changes that were found since the last call.
  func takeChanges() -> [FollowedChange] {
    state.withLock { state in
      defer { state.changes = [] }
      return state.changes
    }
  }

  /// Compares the tables with their state at the previous look.
  func look(_ db: Database) throws {
    try state.withLock { state in
      let schemaVersion = try db.pragma("schema_version")
      guard state.schemaVersion == schemaVersion else {
        let before = state.schemaVersion == nil ? nil : state.tables.map(\.name)
        state.schemaVersion = schemaVersion
        state.tables = try tables(db)
        for index in state.tables.indices { _ = try state.tables[index].look(db, mostRows) }
        if let before { state.changes.append(schemaChange(before, state.tables.map(\.name))) }
        return
      }
      var found: [FollowedChange] = []
      var unknown: [String] = []
      for index in state.tables.indices {
        guard let changes = try state.tables[index].look(db, mostRows) else {
          unknown.append(state.tables[index].name)
          continue
        }
        found += changes
      }
      if found.isEmpty, !unknown.isEmpty {
        let list = unknown.map { "“\($0)”" }.joined(separator: ", ")
        found.append(
          FollowedChange(operation: .commit, note: "a commit; too large to compare: \(list)"))
      }
      state.changes += found
    }
  }

  private func schemaChange(_ before: [String], _ after: [String]) -> FollowedChange {
    let made = after.filter { !before.contains($0) }.map { "“\($0)” was created" }
    let gone = before.filter { !after.contains($0) }.map { "“\($0)” was dropped" }
    let all = (made + gone).joined(separator: ", ")
    return FollowedChange(
      operation: .schema,
      note: "the schema has changed\(all.isEmpty ? "" : ": \(all)"); following the new schema")
  }

  private func tables(_ db: Database) throws -> [FollowedTable] {
    let all = try Schema(db).tables
    guard !names.isEmpty else { return try all.map { try FollowedTable($0, in: db) } }
    return try names.map { name in
      guard let table = all.first(where: { $0.name.isSameName(name) }) else {
        throw Failure("\(path): there is no table “\(name)” that can be followed")
      }
      return try FollowedTable(table, in: db)
    }
  }
}

/// A table, and its rows at the last look.
private struct FollowedTable {
  let name: String
  private let columns: [String]
  /// The positions of the key's columns; of all columns if there is no key.
  private let keyPlaces: [Int]
  private let sql: String
  private let source: String
  /// The name of the rowid, if the table has one.
  private let number: String?
  /// The rows by their keys; nil before the first look, and if there are too many. Keys are compared exactly:
  /// Swift would consider "é" of one scalar and of two equal, but they are two rows.
  private var rows: Rows?
  private var newest: Int64?

  private typealias Rows = [[ExactValue]: [DatabaseValue]]

  init(_ table: TableSchema, in db: Database) throws {
    name = table.name
    let unreadable = try table.unreadableColumns(in: db).map(\.name)
    let own = table.columns.map(\.name).filter { !unreadable.contains($0) }
    // Without a primary key, the rowid identifies a row.
    let rowID = table.primaryKey.isEmpty ? table.rowIDNames.first : nil
    columns = [rowID].compactMap { $0 } + own
    let places =
      rowID == nil ? table.primaryKey.compactMap { name in own.firstIndex(of: name) } : [0]
    keyPlaces = places.isEmpty ? Array(own.indices) : places
    source = "main.\(name.quotedIdentifier)"
    sql = "SELECT \(columns.map(\.quotedIdentifier).joined(separator: ", ")) FROM \(source)"
    number = (table.rowIDColumn ?? table.rowIDNames.first)?.quotedIdentifier
  }

  /// Returns the changes since the last look; nil if they are unknown, since there are too many rows.
  mutating func look(_ db: Database, _ mostRows: Int) throws -> [FollowedChange]? {
    let before = rows
    guard let now = try read(db, mostRows) else {
      rows = nil
      return try lookAtNewest(db)
    }
    rows = now
    newest = try newestRow(db)
    guard let before else { return [] }
    return changes(from: before, to: now)
  }

  private func read(_ db: Database, _ mostRows: Int) throws -> Rows? {
    let result = try db.executeQuery(SQL(raw: sql + " LIMIT \(mostRows + 1)"))
    defer { result.close() }
    var rows: Rows = [:]
    while try result.next() {
      guard rows.count < mostRows else { return nil }
      let row = try columns.indices.map { try result.storedValue(at: $0) }
      rows[key(of: row)] = row
    }
    return rows
  }

  private func key(of row: [DatabaseValue]) -> [ExactValue] {
    keyPlaces.map { ExactValue(row[$0]) }
  }

  private func named(_ places: some Sequence<Int>, _ row: [DatabaseValue])
    -> [FollowedChange.NamedValue]
  {
    places.map { FollowedChange.NamedValue(name: columns[$0], value: row[$0]) }
  }

  private func changes(from before: Rows, to now: Rows) -> [FollowedChange] {
    var found: [(key: [ExactValue], change: FollowedChange)] = []
    for (key, old) in before where now[key] == nil {
      found.append((key, change(.delete, old, old: named(columns.indices, old))))
    }
    for (key, new) in now {
      guard let old = before[key] else {
        found.append((key, inserted(new)))
        continue
      }
      let places = columns.indices.filter { !old[$0].isSame(as: new[$0]) }
      if places.isEmpty { continue }
      found.append((key, change(.update, new, old: named(places, old), new: named(places, new))))
    }
    return found.sorted { $0.key.map(\.value).precedes($1.key.map(\.value)) }.map(\.change)
  }

  private func change(
    _ operation: FollowedChange.Operation, _ row: [DatabaseValue],
    old: [FollowedChange.NamedValue] = [], new: [FollowedChange.NamedValue] = []
  ) -> FollowedChange {
    FollowedChange(
      operation: operation, table: name, key: named(keyPlaces, row), old: old, new: new)
  }

  private func inserted(_ row: [DatabaseValue]) -> FollowedChange {
    change(.insert, row, new: named(columns.indices, row))
  }

  // MARK: Large tables

  private func newestRow(_ db: Database) throws -> Int64? {
    try number.flatMap {
      try db.value(SQL(raw: "SELECT max(\($0)) FROM \(source)"), as: Int64?.self) ?? nil
    }
  }

  /// The number of new rows of a large table that are reported at each look.
  private static let mostTold = 1000

  /// The new rows at the end of a large table, by their rowid; nil if there are none.
  private mutating func lookAtNewest(_ db: Database) throws -> [FollowedChange]? {
    let before = newest
    newest = try newestRow(db)
    guard let before, let newest, newest > before, let number else { return nil }
    let result = try db.executeQuery(
      SQL(raw: "\(sql) WHERE \(number) > \(before) ORDER BY \(number) LIMIT \(Self.mostTold)"))
    return try result.map { row in
      inserted(try columns.indices.map { try row.storedValue(at: $0) })
    }
  }
}

extension [DatabaseValue] {
  /// Sorts by value, and values of different storage classes by class.
  fileprivate func precedes(_ other: [DatabaseValue]) -> Bool {
    for (own, other) in zip(self, other) where own != other {
      switch (own, other) {
      case (.integer(let own), .integer(let other)): return own < other
      case (.real(let own), .real(let other)): return own < other
      case (.text(let own), .text(let other)): return own < other
      default: return own.storageClass.rawValue < other.storageClass.rawValue
      }
    }
    return false
  }
}
