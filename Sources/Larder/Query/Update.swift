import LarderSQLite

// A record that is a variable gets its new version. For one that isn't there is a second form of
// each call, which overload resolution takes where the first can't be called.

extension Record {
  /// Updates the row with the record's primary key: all columns or, if some are named, these.
  ///
  /// ```swift
  /// try city.update(db)                                  // UPDATE "city" SET … WHERE "id" = :id
  /// try city.update(db, City.columns.population)
  /// ```
  ///
  /// A column marked ``ColumnOption/version`` goes up by one in the row and, where the record is a
  /// variable, in the record. Throws ``RecordError/notFound(table:key:)`` if there is no such row,
  /// and ``RecordError/stale(table:key:)`` if it has another version.
  @inlinable
  public mutating func update<each Value>(
    _ db: Database, _ columns: repeat Column<Self, each Value>
  ) throws {
    let table = Self.table
    if table.needsScope {
      try table.inScope(db, &self) { record, db in
        try table.hooks?.willUpdate(&record, db)
        try withUnsafeMutablePointer(to: &record) {
          try table.update($0, db, repeat each columns)
        }
      }
    } else {
      try withUnsafeMutablePointer(to: &self) { try table.update($0, db, repeat each columns) }
    }
  }

  /// The same for a record that isn't a variable; returns it with its new version.
  @discardableResult @inlinable @_disfavoredOverload
  public func update<each Value>(
    _ db: Database, _ columns: repeat Column<Self, each Value>
  ) throws -> Self {
    var record = self
    try record.update(db, repeat each columns) as Void
    return record
  }

  /// Updates the columns whose values differ from those of an earlier copy. Returns whether any
  /// does; if none does, the database isn't asked. Throws as `update`, and where the key differs.
  @discardableResult
  public mutating func update(_ db: Database, changedSince copy: Self) throws -> Bool {
    let table = Self.table
    try table.core.checkHasKey()
    return try table.inScope(db, &self) { record, db in
      try table.hooks?.willUpdate(&record, db)
      return try withUnsafeMutablePointer(to: &record) { record in
        let changed = try withUnsafePointer(to: copy) { try table.core.changes($0, record, db) }
        if changed.isEmpty { return false }
        try table.core.update(record, db, changed)
        if table.core.hasVersion { try table.core.raiseVersion(record, db) }
        return true
      }
    }
  }

  /// Updates the row with the record's primary key and returns it as the table has it then. Throws
  /// as `update`.
  public func updated(_ db: Database) throws -> Self {
    let table = Self.table
    try table.core.checkHasKey()
    var record = self
    return try table.inScope(db, &record) { record, db in
      try table.hooks?.willUpdate(&record, db)
      try withUnsafePointer(to: record) { try table.core.checkVersion($0, db) }
      if let written = try table.writeReturning(table.core.sql.update(), record, db) {
        return written
      }
      throw try withUnsafePointer(to: record) { try table.core.missing($0, db) }
    }
  }
}

extension Table {
  @inlinable
  func update<each Value>(
    _ record: UnsafeMutableRawPointer, _ db: Database, _ columns: repeat Column<R, each Value>
  ) throws {
    var isWhole = true
    for _ in repeat each columns { isWhole = false }
    if isWhole {
      try core.update(record, db)
    } else {
      try core.update(record, db, indices(repeat each columns))
    }
    if core.hasVersion { try core.raiseVersion(record, db) }
  }
}

extension TableCore {
  @usableFromInline
  func update(_ record: UnsafeRawPointer, _ db: Database) throws {
    try checkHasKey()
    if hasVersion { try checkVersion(record, db) }
    if try write(update, record, db) == 0 { throw try missing(record, db) }
  }

  @usableFromInline
  func update(_ record: UnsafeRawPointer, _ db: Database, _ chosen: [Int]) throws {
    try checkHasKey()
    try checkChangeable(chosen)
    if hasVersion { try checkVersion(record, db) }
    let chosen = chosen.filter { !columns[$0].isVersion }
    if try write(sql.update(chosen), record, db) == 0 { throw try missing(record, db) }
  }

  /// Throws if a column that was asked for is never written.
  func checkWritten(_ chosen: [Int]) throws {
    guard let column = chosen.first(where: { !columns[$0].isWritten }) else { return }
    throw DatabaseError(.misuse, "“\(columns[column].name)” of the table “\(name)” is only read")
  }

  /// Throws if a column that was asked for tells rows apart, or is never written.
  private func checkChangeable(_ chosen: [Int]) throws {
    try checkWritten(chosen)
    guard let column = chosen.first(where: { columns[$0].isPrimaryKey }) else { return }
    throw DatabaseError(
      .misuse, "“\(columns[column].name)” is the key of “\(name)”, by which the row is found")
  }

  /// The columns whose values differ in two records.
  func changes(
    _ old: UnsafeRawPointer, _ new: UnsafeRawPointer, _ db: Database
  ) throws -> [Int] {
    func value(_ column: Int, _ record: UnsafeRawPointer) throws -> ExactValue {
      do {
        return ExactValue(try layout.value(of: column, in: record, db.dateFormat))
      } catch {
        throw describe(error, writing: record, db, sql: update.text)
      }
    }
    let changes = try sql.written.filter { index in
      try !columns[index].isVersion && value(index, old) != value(index, new)
    }
    try checkChangeable(changes)
    return changes
  }
}

// MARK: Many rows

/// The columns of an UPDATE: what is assigned to one is written.
///
/// ```swift
/// try City.filter { $0.id == 5 }.update(db) {
///   $0.population += 1
///   $0.name = "Oslo"
///   $0.mayor = .value(name)
/// }
/// // UPDATE "city" SET "population" = "city"."population" + ?, "name" = ?, "mayor" = ? WHERE …
/// ```
@dynamicMemberLookup
public struct Assignments<R: Record> {
  private let alias: QueryAlias
  private(set) var columns: [String] = []
  private(set) var values: [SQLFragment] = []

  init(_ alias: QueryAlias) { self.alias = alias }

  /// A column: what was assigned to it here, or else its value before the update. To swap two columns,
  /// keep one of them first: `let name = $0.name`.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value> {
    // With the table's name: inside of another query, a name alone would be that of its own column.
    get {
      let column = R.columns[keyPath: keyPath].storage
      guard let index = index(of: column.definition) else {
        return column.expression(of: alias)
      }
      let value = values[index]
      // What it is compared with is stored as the column is.
      return SQLExpression(
        column.expressionCoding.map { SQLFragment(.parentheses, value, coding: $0) } ?? value)
    }
    set {
      let column = R.columns[keyPath: keyPath].storage
      let value = newValue.node.coded { column.definition.code?($0) } ?? newValue.node
      if let index = index(of: column.definition) {
        values[index] = value
      } else {
        columns.append(column.definition.name)
        values.append(value)
      }
    }
  }

  private func index(of column: ColumnDefinition) -> Int? {
    columns.firstIndex { $0.isSame(as: column.name) }
  }
}

extension Query where From: Record {
  /// Updates the query's rows and returns their number.
  ///
  /// A column that is marked ``ColumnOption/version`` goes up by one; where one of them is the greatest
  /// that its type has, this throws.
  @discardableResult
  public func update(
    _ db: Database, _ change: (inout Assignments<From>) -> Void
  ) throws -> Int {
    guard let update = try assignment(change) else { return 0 }
    return try db.run(update)
  }

  /// Updates the query's rows and returns them as they are then.
  public func updated(
    _ db: Database, _ change: (inout Assignments<From>) -> Void
  ) throws -> [From] {
    guard let update = try assignment(change) else { return [] }
    return try From.fetchAll(db, sql: returning(update))
  }

  /// The UPDATE; nil where nothing is assigned.
  private func assignment(
    _ change: (inout Assignments<From>) -> Void
  ) throws -> SQLFragment? {
    let core = From.table.core
    try core.check()
    var assignments = Assignments<From>(select.tables.alias(at: 0))
    change(&assignments)
    guard !assignments.columns.isEmpty else { return nil }
    var pieces = zip(assignments.columns, assignments.values).map { column, value in
      SQLFragment("\(name: column) = \(value)")
    }
    if let version = core.sql.version.map({ core.columns[$0] }),
      !assignments.columns.contains(where: { $0.isSame(as: version.name) })
    {
      pieces.append("\(name: version.name) = \(RecordSQL.raised(version))")
    }
    return try changing("UPDATE \(select.tables.text) SET \(.list(pieces))")
  }

  func returning(_ change: SQLFragment) -> SQL {
    let change: SQLFragment = "\(change) RETURNING \(From.table.core.sql.columnList)"
    return change.sql
  }

  /// The statement with a condition for the query's rows: the query's own or, where they are limited,
  /// that their keys are among those that it selects.
  func changing(_ statement: SQLFragment) throws -> SQLFragment {
    guard !select.isPlain else {
      return select.condition.map { "\(statement) WHERE \($0)" } ?? statement
    }
    guard select.groups == nil, select.groupCondition == nil, !select.isDistinct else {
      throw DatabaseError(.misuse, "rows of a grouped or distinct query can't be changed")
    }
    let core = From.table.core
    try core.checkHasKey()
    let key = core.sql.names(core.sql.key)
    return "\(statement) WHERE (\(key)) IN (\(select.fragment(key)))"
  }
}
