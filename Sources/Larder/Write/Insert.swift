import LarderSQLite

// INSERT of a record, and of a query's rows.

extension Record {
  /// Inserts the record. An integer primary key that is nil gets its value from SQLite. If its property is
  /// a constant, this throws ``RecordError/declaration(table:problem:)``; ``inserted(_:)`` returns the
  /// record with its key instead. Throws ``RecordError`` and ``LarderSQLite/DatabaseError``.
  ///
  /// ```swift
  /// try city.insert(db)   // INSERT INTO "city" ("id", "name") VALUES (:id, :name)
  /// ```
  @inlinable
  public mutating func insert(_ db: Database) throws {
    let table = Self.table
    if table.needsScope {
      try table.inScope(db, &self) { record, db in
        try table.willInsert(&record, db)
        try withUnsafeMutablePointer(to: &record) { try table.core.insert($0, db) }
      }
    } else {
      try withUnsafeMutablePointer(to: &self) { try table.core.insert($0, db) }
    }
  }

  /// Inserts the record. If that breaks a constraint, `policy` says what is done instead of throwing an
  /// error.
  ///
  /// Returns whether a row was inserted. See [ON CONFLICT](https://www.sqlite.org/lang_conflict.html). Throws
  /// as ``insert(_:)->()`` does.
  @discardableResult
  public mutating func insert(_ db: Database, or policy: ConflictPolicy) throws -> Bool {
    let table = Self.table
    return try table.inScope(db, &self) { record, db in
      try table.willInsert(&record, db)
      return try withUnsafeMutablePointer(to: &record) {
        try table.core.insert($0, db, or: policy)
      }
    }
  }

  /// The same for a constant record. Returns the record with its key.
  @discardableResult @_disfavoredOverload
  public func insert(_ db: Database) throws -> Self {
    var record = self
    try record.insert(db)
    return record
  }

  /// The same for a constant record. Returns the record with its key, or nil if no row was inserted.
  @discardableResult @_disfavoredOverload
  public func insert(_ db: Database, or policy: ConflictPolicy) throws -> Self? {
    var record = self
    let isInserted: Bool = try record.insert(db, or: policy)
    return isInserted ? record : nil
  }

  /// Inserts the record and returns it as stored: with its key, defaults and generated columns.
  ///
  /// Takes about three times as long as ``insert(_:)->()``, and throws the same, except for constant keys.
  public func inserted(_ db: Database) throws -> Self {
    let table = Self.table
    try table.core.checkIsWhole()
    var record = self
    return try table.inScope(db, &record) { record, db in
      try table.willInsert(&record, db)
      let insertion = try withUnsafePointer(to: record) { try table.core.insertion(of: $0, db) }
      if db.engine != nil {
        try withUnsafePointer(to: record) { try table.core.passKeys(before: $0, db) }
      }
      guard
        let written = try table.writeReturning(insertion, record, db, for: .newRecord)
      else {
        throw TableCore.notInserted
      }
      if db.engine != nil {
        try withUnsafePointer(to: record) { try table.core.noteKey(of: $0, db) }
      }
      return written
    }
  }
}

extension TableCore {
  static var notInserted: DatabaseError {
    @inline(never) get {
      DatabaseError(
        .abort, "a trigger or an ON CONFLICT IGNORE clause kept the row from being inserted")
    }
  }

  @usableFromInline
  func insert(_ record: UnsafeMutableRawPointer, _ db: Database) throws {
    try check()
    if _slowPath(isInState([.constantKey, .part])) { try checkInsertion(record, db) }
    if _slowPath(db.hasEngine) {
      if try !insertInEngine(record, db) { throw Self.notInserted }
      return
    }
    if _slowPath(try write(insert, record, db, for: .newRecord) == 0) { throw Self.notInserted }
    if rowIDColumn != nil { try assignRowID(record, db) }
  }

  func insert(
    _ record: UnsafeMutableRawPointer, _ db: Database, or policy: ConflictPolicy
  ) throws -> Bool {
    try check()
    if isInState([.constantKey, .part]) { try checkInsertion(record, db) }
    if db.engine != nil { return try insertInEngine(record, db, or: policy) }
    guard try write(sql.insert(or: policy.rawValue), record, db, for: .newRecord) > 0 else {
      return false
    }
    try assignRowID(record, db)
    return true
  }
}

// MARK: On other engines

extension TableCore {
  /// Inserts a record; the engine chooses its key if that is nil. Returns false if the row was skipped.
  private func insertInEngine(
    _ record: UnsafeMutableRawPointer, _ db: Database, or policy: ConflictPolicy? = nil
  ) throws -> Bool {
    if let policy, policy != .ignore { try db.checkIsSQLite("INSERT OR \(policy.rawValue)") }
    let key = try missingKey(of: record, db)
    let returned = key.map { [$0] } ?? []
    let statement =
      key == nil && policy == nil
      ? insert
      : statement(
        StatementKey(
          engine: db.engine?.name, policy: policy?.rawValue, leftOut: key, returned: returned)
      ) {
        let insert = sql.insert(leavingOut: key, ignoring: policy == .ignore)
        return key == nil ? insert : insert.returning(sql.names(returned))
      }
    guard let key else {
      guard try write(statement, record, db, for: .newRecord) > 0 else { return false }
      try noteKey(of: record, db)
      return true
    }
    try passKeys(before: record, db)
    return try withRows(of: statement, record, db, for: .newRecord) { statement in
      guard try statement.step() else { return false }
      try layout.take(statement.reader(at: 0), key, of: record)
      try statement.stepToEnd()
      return true
    }
  }

  /// The statement that inserts several records at once.
  package func insertion(
    rows: Int, leavingOut left: Int?, ignoring ignores: Bool, _ db: Database
  ) -> RecordStatement {
    let key = StatementKey(
      engine: db.engine?.name, rows: rows, policy: ignores ? "IGNORE" : nil, leftOut: left)
    return statement(key) { sql.insert(rows: rows, leavingOut: left, ignoring: ignores) }
  }

  /// Notes the key of a row that was written with one, so that the engine's key sequence continues after
  /// it.
  func noteKey(of record: UnsafeRawPointer, _ db: Database) throws {
    try noteKey(rowKey(of: record, db), db)
  }

  package func noteKey(_ key: Int64?, _ db: Database) throws {
    guard let key, let rowIDColumn else { return }
    try db.noteKey(key, of: columns[rowIDColumn].name, in: quotedName)
  }

  /// Advances the engine's key sequence past keys that the transaction has written, before a row without
  /// one is.
  package func passKeys(before record: UnsafeRawPointer, _ db: Database) throws {
    guard let column = try missingKey(of: record, db) else { return }
    try db.passKeys(of: columns[column].name, in: quotedName)
  }

  /// The record's row id; nil if the table has no such column, or the record no key.
  package func rowKey(of record: UnsafeRawPointer, _ db: Database) throws -> Int64? {
    guard let rowIDColumn,
      case .integer(let key) = try layout.value(of: rowIDColumn, in: record, db.dateFormat)
    else { return nil }
    return key
  }

  /// The row id's column if the record's key is missing.
  package func missingKey(of record: UnsafeRawPointer, _ db: Database) throws -> Int? {
    guard let rowIDColumn,
      try layout.value(of: rowIDColumn, in: record, db.dateFormat) == .null
    else { return nil }
    return rowIDColumn
  }

  /// The statement that inserts a record. On engines other than SQLite, a missing key's column is left out.
  func insertion(of record: UnsafeRawPointer, _ db: Database) throws -> SQLFragment {
    guard db.engine != nil else { return sql.insert() }
    return sql.insert(leavingOut: try missingKey(of: record, db))
  }
}

// MARK: From a query

extension Record {
  /// Inserts the rows of a selection without fetching them, and returns their number.
  ///
  /// ```swift
  /// try Archive.insert(
  ///   db, Archive.columns.name, Archive.columns.population,
  ///   from: City.filter { $0.isGone }.select { ($0.name, $0.population) })
  /// // INSERT INTO "archive" ("name", "population") SELECT "city"."name", … FROM "city" WHERE …
  /// ```
  ///
  /// Columns that aren't named get their defaults. Throws ``LarderSQLite/DatabaseError`` for a column that
  /// is generated or read-only, for an expression that is stored in another form than its column, and, as
  /// it runs, for a number that the column's property can't hold, or a text that the column would
  /// change.
  @discardableResult
  public static func insert<each Value: DatabaseValueConvertible>(
    _ db: Database, _ columns: repeat Column<Self, each Value>,
    from selection: Selection<(repeat each Value)>
  ) throws -> Int {
    try table.core.checkIsWhole()
    var definitions: [ColumnDefinition] = []
    repeat definitions.append((each columns).definition)
    var parts = selection.columns.parts
    var index = 0
    func assign<V>(_ column: Column<Self, V>) {
      parts[index] = column.storage.assigned(parts[index])
      index += 1
    }
    repeat assign(each columns)
    let now = ColumnTimestamp.now
    for column in table.core.columns {
      guard let timestamp = column.timestamp,
        !definitions.contains(where: { $0.name == column.name })
      else { continue }
      definitions.append(column)
      parts.append(timestamp.stored(now))
    }
    return try db.whileSchemaStays {
      let core = table.core
      let converting = try core.converting(db)
      if !converting.isEmpty {
        for (index, definition) in definitions.enumerated() {
          let name = definition.name
          if let value = parts[index].boundValue { try core.check([(name, value)], converting) }
          parts[index] = core.kept(parts[index], in: name, converting)
        }
      }
      return try db.run(
        insertion(of: definitions, selection.select.fragment(.list(parts))), for: .change)
    }
  }

  private static func insertion(
    of columns: [ColumnDefinition], _ selection: SQLFragment
  ) throws -> SQLFragment {
    if let column = columns.first(where: { !$0.isWritten }) {
      throw DatabaseError(.misuse, "“\(table.name)”.“\(column.name)” isn't written")
    }
    let names = SQLFragment.list(columns.map { SQLFragment(text: $0.name.quotedIdentifier) })
    return "INSERT INTO \(table.core.reference(as: table.name)) (\(names)) \(selection)"
  }
}
