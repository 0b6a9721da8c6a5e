import LarderSQLite

// A record in a variable gets its new version. For constants, each call has a second form, which overload
// resolution takes if the mutating one can't be called.

extension Record {
  /// Updates the row with the record's primary key: all columns, or only those that are named.
  ///
  /// ```swift
  /// try city.update(db)                                  // UPDATE "city" SET … WHERE "id" = :id
  /// try city.update(db, City.columns.population)
  /// ```
  ///
  /// A column marked ``ColumnOption/version`` is incremented in the row and, if the record is a variable,
  /// in the record. Throws ``RecordError/notFound(table:key:)`` if there is no such row,
  /// ``RecordError/stale(table:key:)`` if it has another version, and
  /// ``LarderSQLite/DatabaseError``, also if a trigger or a constraint skips the row
  /// (`RAISE(IGNORE)`, `ON CONFLICT IGNORE`).
  @inlinable
  public mutating func update<each Value>(
    _ db: Database, _ columns: repeat Column<Self, each Value>
  ) throws {
    let table = Self.table
    if table.needsScope {
      try table.inScope(db, &self) { record, db in
        try table.willUpdate(&record, db)
        try withUnsafeMutablePointer(to: &record) {
          try table.update($0, db, repeat each columns)
        }
      }
    } else {
      try withUnsafeMutablePointer(to: &self) { try table.update($0, db, repeat each columns) }
    }
  }

  /// The same for a constant record. Returns the record with its new version.
  @discardableResult @inlinable @_disfavoredOverload
  public func update<each Value>(
    _ db: Database, _ columns: repeat Column<Self, each Value>
  ) throws -> Self {
    var record = self
    try record.update(db, repeat each columns) as Void
    return record
  }

  /// Updates the columns that differ from an earlier copy. Returns whether any does; if none does, no
  /// statement runs. Throws as `update` does, and if the key or a generated or read-only column differs.
  @discardableResult
  public mutating func update(_ db: Database, changedSince copy: Self) throws -> Bool {
    let table = Self.table
    try table.core.checkChangesRows()
    return try table.inScope(db, &self) { record, db in
      let before = record
      try table.willUpdate(&record, db)
      let changed = try withUnsafePointer(to: copy) { copy in
        try withUnsafePointer(to: record) { try table.core.changes(copy, $0, db) }
      }
      if changed.isEmpty {
        table.unstamp(&record, as: before)
        return false
      }
      return try withUnsafeMutablePointer(to: &record) { record in
        try table.core.update(record, db, changed)
        if table.core.hasVersion { try table.core.raiseVersion(record, db) }
        return true
      }
    }
  }

  /// Updates the row with the record's primary key and returns the row as stored. Throws as `update` does.
  public func updated(_ db: Database) throws -> Self {
    let table = Self.table
    try table.core.checkChangesRows()
    var record = self
    return try table.inScope(db, &record) { record, db in
      try table.willUpdate(&record, db)
      try withUnsafePointer(to: record) { try table.core.checkVersion($0, db) }
      if let written = try table.writeReturning(
        table.core.sql.update(), record, db, for: .wholeRecord)
      {
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
    if _slowPath(try !updateIfThere(record, db)) { throw try missing(record, db) }
  }

  /// Updates the row with the record's key and version. Returns false if no row was changed.
  func updateIfThere(_ record: UnsafeRawPointer, _ db: Database) throws -> Bool {
    try checkChangesRows()
    if _slowPath(hasVersion) { try checkVersion(record, db) }
    return try write(update, record, db, for: .wholeRecord) > 0
  }

  @usableFromInline
  func update(_ record: UnsafeRawPointer, _ db: Database, _ chosen: [Int]) throws {
    try checkChangesRows()
    try checkChangeable(chosen)
    if hasVersion { try checkVersion(record, db) }
    let chosen = chosen.filter { !columns[$0].isVersion }
    if try write(sql.update(chosen), record, db, for: .row) == 0 {
      throw try missing(record, db)
    }
  }

  /// Throws if one of the chosen columns is read-only.
  func checkWritten(_ chosen: [Int]) throws {
    guard let column = chosen.first(where: { !columns[$0].isWritten }) else { return }
    throw DatabaseError(.misuse, "“\(columns[column].name)” of the table “\(name)” is read-only")
  }

  /// Throws if one of the chosen columns is read-only, or belongs to the primary key.
  private func checkChangeable(_ chosen: [Int]) throws {
    try checkWritten(chosen)
    guard let column = chosen.first(where: { columns[$0].isPrimaryKey }) else { return }
    throw DatabaseError(
      .misuse,
      "“\(columns[column].name)” is part of the key of “\(name)”, by which the update finds its row"
    )
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
    let changes = try columns.indices.filter { index in
      try !columns[index].isVersion && !sql.updated.contains(index)
        && value(index, old) != value(index, new)
    }
    try checkChangeable(changes)
    return changes
  }
}
