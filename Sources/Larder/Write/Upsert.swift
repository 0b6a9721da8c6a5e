import LarderSQLite

// UPSERT (INSERT … ON CONFLICT DO UPDATE), and save: an update or else an insert.

extension Record {
  /// Updates the row with the record's primary key, or inserts the record if there is none or the
  /// key is nil.
  ///
  /// - Throws: ``RecordError/stale(table:key:)`` if the row has another version, and what ``insert(_:)->()``
  ///   throws.
  public mutating func save(_ db: Database) throws {
    let table = Self.table
    try table.core.checkChangesRows()
    let hasKey = withUnsafePointer(to: self) { table.core.hasKey($0, db) }
    guard hasKey else { return try insert(db) }
    // In one transaction, so that both statements see the same rows.
    try db.inTransaction { db in
      if table.hooks != nil {
        // Only the hook of the operation that is done is called.
        let isThere = try withUnsafePointer(to: self) { try table.core.isThere($0, db) }
        return isThere ? try update(db) as Void : try insert(db)
      }
      if try updateIfThere(db) { return }
      do {
        try insert(db)
      } catch let error as DatabaseError where error.code == .constraint && db.engine == nil {
        // If the row is there, then the update was skipped, which is the reason.
        let isThere = try withUnsafePointer(to: self) { try table.core.isThere($0, db) }
        throw isThere ? table.core.skipped : error
      }
    }
  }

  /// Updates the record's row. Returns false if there is none, and throws if it has another
  /// version.
  private mutating func updateIfThere(_ db: Database) throws -> Bool {
    let core = Self.table.core
    return try Self.table.inScope(db, &self) { record, db in
      try Self.table.willUpdate(&record, db)
      return try withUnsafeMutablePointer(to: &record) { record in
        if try core.updateIfThere(record, db) {
          if core.hasVersion { try core.raiseVersion(record, db) }
          return true
        }
        // Without a version the row is looked up only if it can't be inserted.
        guard core.hasVersion else { return false }
        let error = try core.missing(record, db)
        if case RecordError.notFound = error { return false }
        throw error
      }
    }
  }

  /// The same for a constant record. Returns the record with its key and new version.
  @discardableResult @_disfavoredOverload
  public func save(_ db: Database) throws -> Self {
    var record = self
    try record.save(db) as Void
    return record
  }

  /// Inserts the record or, if there is a row with the same primary key or other unique columns, updates
  /// that row.
  ///
  /// ```swift
  /// try city.upsert(db)
  /// try city.upsert(db, onConflict: City.columns.name, updating: City.columns.population)
  /// // INSERT … ON CONFLICT ("name") DO UPDATE SET "population" = excluded."population"
  /// ```
  ///
  /// See [UPSERT](https://www.sqlite.org/lang_upsert.html). The record gets the row's version, which is
  /// incremented if the row existed, whatever version it had. It also gets the row's key if its own was nil
  /// or the target is other columns. Throws ``LarderSQLite/DatabaseError``, also if a trigger or a
  /// constraint skips the row (`RAISE(IGNORE)`, `ON CONFLICT IGNORE`), and ``RecordError``.
  ///
  /// - `target`: the columns that decide whether the row exists, which need a unique index; the primary key
  ///   if none are named.
  /// - `columns`: the columns to update; all but the key and the target if none are named.
  public mutating func upsert<each Target, each Value>(
    _ db: Database, onConflict target: repeat Column<Self, each Target>,
    updating columns: repeat Column<Self, each Value>
  ) throws {
    let upsert = try Self.table.upsert(
      Self.table.indices(repeat each target), Self.table.indices(repeat each columns))
    try run(upsert, db)
  }

  /// Inserts the record or, if there is a row with the same primary key or other unique columns, updates
  /// that row by expressions over its columns and the record's values (SQLite's `excluded`).
  ///
  /// ```swift
  /// try item.upsert(db, onConflict: Item.columns.name) { row, new in row.count += new.count }
  /// // INSERT … ON CONFLICT ("name") DO UPDATE SET "count" = "item"."count" + "excluded"."count"
  /// ```
  ///
  /// Otherwise like the form with columns. Throws ``LarderSQLite/DatabaseError`` if nothing is assigned.
  public mutating func upsert<each Target>(
    _ db: Database, onConflict target: repeat Column<Self, each Target>,
    updating change: (inout Assignments<Self>, RecordFields<Self>) -> Void
  ) throws {
    let upsert = try Self.table.upsert(Self.table.indices(repeat each target), change)
    try run(upsert, db)
  }

  private mutating func run(_ upsert: Upsert, _ db: Database) throws {
    let table = Self.table
    try table.inScope(db, &self) { record, db in
      try table.willInsert(&record, db)
      try withUnsafeMutablePointer(to: &record) { try table.core.upsert($0, db, upsert) }
    }
  }

  /// The same for a constant record. Returns the record with its key and version.
  @discardableResult @_disfavoredOverload
  public func upsert<each Target, each Value>(
    _ db: Database, onConflict target: repeat Column<Self, each Target>,
    updating columns: repeat Column<Self, each Value>
  ) throws -> Self {
    var record = self
    try record.upsert(db, onConflict: repeat each target, updating: repeat each columns) as Void
    return record
  }

  /// The same for a constant record. Returns the record with its key and version.
  @discardableResult @_disfavoredOverload
  public func upsert<each Target>(
    _ db: Database, onConflict target: repeat Column<Self, each Target>,
    updating change: (inout Assignments<Self>, RecordFields<Self>) -> Void
  ) throws -> Self {
    var record = self
    try record.upsert(db, onConflict: repeat each target, updating: change) as Void
    return record
  }

  /// Upserts all of these records or, if one fails, none.
  ///
  /// Outside a transaction, this runs in one of its own; inside, in a savepoint. The records' keys and
  /// versions stay as they are. Throws ``RecordError/batch(table:index:error:)`` with the position of the
  /// record that could not be written, and the reason.
  ///
  /// - `target`, `columns`: as for a single record.
  public static func upsert<each Target, each Value>(
    _ db: Database, contentsOf records: some Sequence<Self>,
    onConflict target: repeat Column<Self, each Target>,
    updating columns: repeat Column<Self, each Value>
  ) throws {
    let upsert = try table.upsert(
      table.indices(repeat each target), table.indices(repeat each columns))
    try run(upsert, db, records)
  }

  /// Upserts all of these records or, if one fails, none, with expressions for existing rows. Throws as the
  /// form with columns does, and ``LarderSQLite/DatabaseError`` if nothing is assigned.
  public static func upsert<each Target>(
    _ db: Database, contentsOf records: some Sequence<Self>,
    onConflict target: repeat Column<Self, each Target>,
    updating change: (inout Assignments<Self>, RecordFields<Self>) -> Void
  ) throws {
    try run(table.upsert(table.indices(repeat each target), change), db, records)
  }

  private static func run(
    _ upsert: Upsert, _ db: Database, _ records: some Sequence<Self>
  ) throws {
    try BatchForeignKeys.inTransaction(table.name, db) { keys, db in
      for (index, var record) in records.enumerated() {
        do {
          do {
            try record.run(upsert, db)
          } catch {
            guard try keys.deferKeys(after: error, or: nil) else { throw error }
            try record.run(upsert, db)
          }
        } catch {
          throw RecordError.ofBatch(table.name, at: index, error)
        }
      }
    }
  }
}

/// The statements of an upsert, made once for all records.
private final class Upsert {
  private let core: TableCore
  /// Makes the statement, without the given column if it isn't nil, for a table with some columns
  /// that convert values.
  private let make: (Int?, [ConvertingColumn]) throws -> SQLFragment
  /// Whether values are assigned that some tables would convert.
  let mayConvert: Bool
  /// Whether a row that exists stays as it is, because there is nothing to update.
  let keepsRows: Bool
  /// Whether this is the statement that the table keeps ready.
  private let isReady: Bool
  /// The columns that identify an existing row, which may have another key than the record; empty for the
  /// primary key.
  let target: [Int]
  private var last: (key: StatementKey, converting: [Int], statement: RecordStatement)?

  init(
    _ core: TableCore, isReady: Bool = false, mayConvert: Bool = false, keepsRows: Bool = false,
    onConflict target: [Int],
    _ make: @escaping (Int?, [ConvertingColumn]) throws -> SQLFragment
  ) {
    self.core = core
    self.isReady = isReady
    self.mayConvert = mayConvert
    self.keepsRows = keepsRows
    self.target = target
    self.make = make
  }

  /// The statement for a record, which returns columns of the row, or nothing.
  func statement(
    _ record: UnsafeRawPointer, _ db: Database, returning columns: [Int] = []
  ) throws -> RecordStatement {
    if isReady, columns.isEmpty, db.engine == nil { return core.upsert }
    // Other engines choose a key if its column is left out, not if it is NULL.
    let leftOut = db.engine == nil ? nil : try core.missingKey(of: record, db)
    let key = StatementKey(
      engine: db.engine?.name, isUpsert: true, leftOut: leftOut, returned: columns)
    let converting = mayConvert ? try core.converting(db) : []
    let converted = converting.map(\.index)
    if let last, last.key == key, last.converting == converted { return last.statement }
    func fragment() throws -> SQLFragment {
      let fragment = try make(leftOut, converting)
      return columns.isEmpty ? fragment : fragment.returning(core.sql.names(columns))
    }
    let statement =
      try isReady ? core.statement(key, fragment) : RecordStatement(fragment(), in: db.dialect)
    last = (key, converted, statement)
    return statement
  }
}

extension Table {
  fileprivate func upsert(_ target: [Int], _ chosen: [Int]) throws -> Upsert {
    if target.isEmpty { try core.checkChangesRows() } else { try core.checkWritable() }
    try core.checkWritten(chosen)
    let isReady = target.isEmpty && chosen.isEmpty
    let columns = chosen.isEmpty ? nil : chosen
    let keepsRows = core.sql.upsertKeepsRows(onConflict: target, updating: columns)
    return Upsert(core, isReady: isReady, keepsRows: keepsRows, onConflict: target) {
      [sql = core.sql] left, _ in
      sql.upsert(onConflict: target, updating: columns, leavingOut: left)
    }
  }

  fileprivate func upsert(
    _ target: [Int], _ change: (inout Assignments<R>, RecordFields<R>) -> Void
  ) throws -> Upsert {
    if target.isEmpty { try core.checkChangesRows() } else { try core.checkWritable() }
    var assignments = Assignments<R>(core.alias)
    let excluded = QueryAlias("excluded")
    QueryScope.run(core.tables) { change(&assignments, RecordFields(excluded)) }
    assignments.stamp(core) { column, _ in excluded.column(column.name) }
    let list = try assignments.list(core, raised: core.sql.next)
    guard !list.isEmpty else {
      throw DatabaseError(.misuse, "the upsert assigns nothing; use insert(_:or:)")
    }
    let known = core.sql.upsert(onConflict: target, set: .list(list))
    return Upsert(core, mayConvert: core.mayConvert, onConflict: target) {
      [core, assignments] left, converting in
      if left == nil, converting.isEmpty { return known }
      try core.check(assignments.values, converting)
      let list = try assignments.list(core, raised: core.sql.next, converting)
      return core.sql.upsert(onConflict: target, set: .list(list), leavingOut: left)
    }
  }
}

extension TableCore {
  /// Whether no part of the record's key is NULL.
  fileprivate func hasKey(_ record: UnsafeRawPointer, _ db: Database) -> Bool {
    sql.key.allSatisfy { (try? layout.value(of: $0, in: record, db.dateFormat)) != .null }
  }

  fileprivate func upsert(
    _ record: UnsafeMutableRawPointer, _ db: Database, _ upsert: Upsert
  ) throws {
    guard db.engine != nil else { return try write(record, db, upsert) }
    let key = try rowKey(of: record, db)
    try passKeys(before: record, db)
    try write(record, db, upsert)
    try noteKey(key, db)
  }

  private func write(
    _ record: UnsafeMutableRawPointer, _ db: Database, _ upsert: Upsert
  ) throws {
    if isInState([.constantKey, .part]) { try checkInsertion(record, db) }
    let use: TableUse = upsert.target.isEmpty ? .newOrKnownRecord : .newRecord
    var returned = (sql.version.map { [$0] } ?? []) + sql.created
    // The row may exist under another key. (The last row id is then that of an earlier INSERT.)
    if !upsert.target.isEmpty || rowIDColumn != nil && !hasKey(record, db) { returned += sql.key }
    if returned.isEmpty, !upsert.mayConvert { return try writeOnly(record, db, upsert, for: use) }
    try db.whileSchemaStays {
      if returned.isEmpty { return try writeOnly(record, db, upsert, for: use) }
      try write(record, db, upsert, returning: returned, for: use)
    }
  }

  private func writeOnly(
    _ record: UnsafeMutableRawPointer, _ db: Database, _ upsert: Upsert, for use: TableUse
  ) throws {
    let count = try write(upsert.statement(record, db), record, db, for: use)
    if count == 0, !upsert.keepsRows { throw skipped }
  }

  /// The same, reading back some columns of the row.
  private func write(
    _ record: UnsafeMutableRawPointer, _ db: Database, _ upsert: Upsert, returning returned: [Int],
    for use: TableUse
  ) throws {
    guard try misreturns(db, for: use) else {
      let statement = try upsert.statement(record, db, returning: returned)
      // A version that exceeds its type's range, or a time in another form, shows only after the row was
      // written.
      let isWritten =
        try hasVersion || hasTimestamps
        ? db.inTransaction { try take(returned, of: statement, record, $0, for: use) }
        : take(returned, of: statement, record, db, for: use)
      if !isWritten, !upsert.keepsRows { throw skipped }
      return
    }
    // RETURNING isn't reliable there: see ``TableCore/misreturns(_:for:)``.
    try db.inTransaction { db in
      let isNumbered = upsert.target.isEmpty && rowIDColumn != nil && !hasKey(record, db)
      try writeOnly(record, db, upsert, for: use)
      if isNumbered { try assignRowID(record, db) }
      let found = RecordStatement(sql.find(returned, by: upsert.target))
      _ = try take(returned, of: found, record, db, for: [])
    }
  }

  /// Sets properties to the columns of a statement's first row. Returns false if it has none.
  private func take(
    _ returned: [Int], of statement: RecordStatement, _ record: UnsafeMutableRawPointer,
    _ db: Database, for use: TableUse
  ) throws -> Bool {
    try withRows(of: statement, record, db, for: use) { statement in
      guard try statement.step() else { return false }
      for (index, column) in returned.enumerated() {
        let reader = ColumnReader(
          statement: statement.arena.statement, index: Int32(truncatingIfNeeded: index),
          format: statement.arena.format)
        try layout.take(reader, column, of: record)
      }
      try statement.stepToEnd()
      return true
    }
  }
}
