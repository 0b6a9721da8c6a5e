import LarderSQLite
import Synchronization

// Fetching records by key, all of a table, or by any SQL.

extension Table {
  /// Calls a closure with each record of a statement's rows.
  @inlinable
  func readAll(
    _ statement: PreparedStatement, _ positions: UnsafePointer<Int32>, _ body: (R) throws -> Void
  ) throws {
    if core.isInState(.uncheckedInitializer), try !readUnchecked(statement, positions, body) {
      return
    }
    // Loaded once: in the loop it would be retained and released for every row.
    let read = read
    let row = RecordRow(statement, positions, core.layout)
    while try statement.step() {
      let record: R
      do {
        record = try read(row)
      } catch {
        throw core.describe(error, reading: row, sql: statement.sql)
      }
      try body(record)
    }
  }

  /// Calls a closure with each record until the initializer is proven to keep values as they are. Returns
  /// whether there may be more rows.
  @inline(never)
  @usableFromInline
  func readUnchecked(
    _ statement: PreparedStatement, _ positions: UnsafePointer<Int32>, _ body: (R) throws -> Void
  ) throws -> Bool {
    while core.isInState(.uncheckedInitializer) {
      guard try statement.step() else { return false }
      let record = try record(statement, positions)
      try checkInitializer(record)
      try body(record)
    }
    return true
  }

  /// Calls a closure with each record of the table.
  ///
  /// - Parameter atOnce: whether the caller keeps all of the records.
  @inlinable
  func readAll(_ db: Database, atOnce: Bool, _ body: (R) throws -> Void) throws {
    try core.check()
    try db.withRows(core.select.sql, of: core.tableNumber, for: .allColumns, { core }) { _ in
    } _: { statement in
      if atOnce { statement.readAtOnce() }
      try readAll(statement, core.identity.first, body)
    }
  }

  /// Calls a closure with each record of any SQL query's rows. Columns are found by name.
  @inlinable
  func readAll(_ db: Database, _ sql: SQL, atOnce: Bool, _ body: (R) throws -> Void) throws {
    try core.check()
    try db.withRows(of: db.take(bound: sql)) { statement in
      if atOnce { statement.readAtOnce() }
      guard try statement.step() else { return }
      let positions = try core.positions(in: statement)
      let record = try record(statement, positions.first)
      if core.isInState(.uncheckedInitializer) { try checkInitializer(record) }
      try body(record)
      try readAll(statement, positions.first, body)
    }
  }

  /// The record with a key, or nil.
  @inlinable
  func fetchOne<each Key: DatabaseValueConvertible>(
    _ db: Database, _ key: repeat each Key
  ) throws -> R? {
    try core.checkHasKey()
    var types: UInt = 1
    repeat types = types &* 31 &+ UInt(bitPattern: ObjectIdentifier((each Key).self))
    if types != core.knownKey.load(ordering: .relaxed) {
      try core.checkKey(types, repeat (each Key).self)
    }
    let found: R? = try db.withRows(
      core.find.sql, of: core.tableNumber, for: .allColumns, { core }
    ) { arena in
      var index: Int32 = 0
      func bind(_ value: some DatabaseValueConvertible) throws {
        index += 1
        try value.bind(to: ParameterBinder(arena: arena, index: index))
      }
      if core.hasCodedKey {
        var values: [any DatabaseValueConvertible] = []
        repeat values.append(each key)
        for value in core.coded(key: values) { try bind(value) }
      } else {
        repeat try bind(each key)
      }
    } _: { statement in
      db.isReading(row: core.rowID(db, key: repeat each key))
      statement.readAtOnce()
      guard try statement.step() else { return nil }
      return try record(statement, core.identity.first)
    }
    if core.isInState(.uncheckedInitializer) { try found.map(checkInitializer) }
    return found
  }
}

extension TableCore {
  @usableFromInline
  func checkKeyCount(_ count: Int) throws {
    guard count == sql.key.count else {
      throw DatabaseError(
        .misuse, "the key of “\(name)” has \(sql.key.count) values, but \(count) were given")
    }
  }

  /// The row id that a key stands for; nil if the key isn't a row id.
  @usableFromInline
  func rowID<each Key: DatabaseValueConvertible>(
    _ db: Database, key: repeat each Key
  ) -> Int64? {
    guard rowIDColumn != nil else { return nil }
    if isInState(.unlikeDeclared), fitting.keepsKey(db) { return nil }
    var values: [DatabaseValue?] = []
    repeat values.append(try? (each key).databaseValue)
    guard values.count == 1, case .integer(let id) = values[0] else { return nil }
    return id
  }

  /// Throws if values of these types can't be a key of the table, and otherwise remembers the types'
  /// number.
  @inline(never)
  @usableFromInline
  func checkKey<each Key: DatabaseValueConvertible>(
    _ number: UInt, _ keyTypes: repeat (each Key).Type
  ) throws {
    var types: [any DatabaseValueConvertible.Type] = []
    repeat types.append(each keyTypes)
    try checkKeyCount(types.count)
    for (column, type) in zip(sql.key, types) { try checkKey(type, column) }
    knownKey.store(number, ordering: .relaxed)
  }

  /// Throws if no value of a type can equal a column's, neither as the property's type nor as its stored
  /// type.
  func checkKey(_ type: any DatabaseValueConvertible.Type, _ column: Int) throws {
    let property = propertyTypes[column]
    func optional<T>(of type: T.Type) -> any Any.Type { T?.self }
    let isSame =
      type == property || _openExistential(type as any Any.Type, do: optional) == property
      || type == _openExistential(property, do: optional)
    if isSame || type.columnType.canBeCompared(with: columns[column].type) { return }
    throw DatabaseError(
      .misuse,
      "the key “\(columns[column].name)” of “\(name)” is of type \(property), which can't be compared with \(type)"
    )
  }

  /// The values of a key as the columns store them.
  @usableFromInline
  func coded(key: [any DatabaseValueConvertible]) -> [any DatabaseValueConvertible] {
    zip(sql.key, key).map { columns[$0].code?($1) ?? $1 }
  }

  /// The positions of the table's columns in a statement's row.
  @usableFromInline
  func positions(in statement: PreparedStatement) throws -> Positions {
    let names = statement.columnNames
    return try names.layout(for: self) {
      Positions(
        try columns.map {
          Int32(truncatingIfNeeded: try names.index(of: $0.name, sql: statement.sql))
        })
    }
  }

  @usableFromInline
  func notFound(_ key: [any DatabaseValueConvertible], _ db: Database) -> RecordError {
    .notFound(table: name, key: coded(key: key).map { Self.stored($0, db.dateFormat) })
  }

  private static func stored<V: DatabaseValueConvertible>(
    _ value: V, _ format: DateFormat
  ) -> DatabaseValue {
    (try? ColumnCoding<V>.plain.stored(value, format)) ?? .null
  }
}

extension Record {
  /// The record with this primary key, or nil if there is none.
  ///
  /// A composite key is given in the order of its columns. Throws ``LarderSQLite/DatabaseError``, also for
  /// a value that can't be a key of the table, such as a text for a number, and ``RecordError`` for a row
  /// that can't be read.
  @inlinable
  public static func fetchOne<each Key: DatabaseValueConvertible>(
    _ db: Database, _ key: repeat each Key
  ) throws -> Self? {
    try table.fetchOne(db, repeat each key)
  }

  /// The first record of the table, in unspecified order, or nil if it is empty.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` for a row that can't be read.
  public static func fetchOne(_ db: Database) throws -> Self? { try all.fetchOne(db) }

  /// The record with this primary key. Throws ``RecordError/notFound(table:key:)`` if there is none, and
  /// what ``fetchOne(_:_:)`` throws.
  ///
  /// ```swift
  /// let city = try City.find(db, 42)
  /// // SELECT "id", "name", "population" FROM "city" WHERE "id" = :id
  /// ```
  @inlinable
  public static func find<First: DatabaseValueConvertible, each Key: DatabaseValueConvertible>(
    _ db: Database, _ key: First, _ others: repeat each Key
  ) throws -> Self {
    if let record = try table.fetchOne(db, key, repeat each others) { return record }
    var values: [any DatabaseValueConvertible] = [key]
    repeat values.append(each others)
    throw table.core.notFound(values, db)
  }

  /// All records of the table, in unspecified order.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` for a row that can't be read.
  @inlinable
  public static func fetchAll(_ db: Database) throws -> [Self] {
    var records: [Self] = []
    try table.readAll(db, atOnce: true) { records.append($0) }
    return records
  }

  /// Calls a closure with each record of the table in turn, without keeping any.
  /// - Throws: the errors of ``fetchAll(_:)``, and those of the closure.
  @inlinable
  public static func forEach(_ db: Database, _ body: (Self) throws -> Void) throws {
    try table.readAll(db, atOnce: false, body)
  }

  /// The records of any SQL query. Columns are found by name, and there may be others among them.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` for a row that can't be read.
  ///
  /// ```swift
  /// let cities = try City.fetchAll(db, sql: "SELECT * FROM city WHERE name LIKE \(pattern)")
  /// ```
  @inlinable
  public static func fetchAll(_ db: Database, sql: SQL) throws -> [Self] {
    var records: [Self] = []
    try table.readAll(db, sql, atOnce: true) { records.append($0) }
    return records
  }

  /// Calls a closure with each record of any SQL query in turn, without keeping any.
  /// - Throws: the errors of ``fetchAll(_:sql:)``, and those of the closure.
  @inlinable
  public static func forEach(
    _ db: Database, sql: SQL, _ body: (Self) throws -> Void
  ) throws {
    try table.readAll(db, sql, atOnce: false, body)
  }

  /// The records with these primary keys, in unspecified order; keys without a row are left out. Only for
  /// tables whose key is one column. Keys that are equal only by the column's collation may return their
  /// record twice.
  /// - Throws: ``LarderSQLite/DatabaseError``, also for keys of the wrong type, and ``RecordError`` for a
  ///   row that can't be read.
  public static func fetchAll<Key: DatabaseValueConvertible>(
    _ db: Database, keys: some Sequence<Key>
  ) throws -> [Self] {
    let table = table
    try table.core.checkHasKey()
    try table.core.checkKeyCount(1)
    for column in table.core.sql.key { try table.core.checkKey(Key.self, column) }
    var records: [Self] = []
    var seen: Set<ExactValue> = []
    var rest = try keys.filter { seen.insert(ExactValue(try $0.databaseValue)).inserted }[...]
    var most = 256
    while most > 1, most > db.limit(.variables) { most /= 2 }
    while let last = rest.last {
      // Powers of two as lengths make few different statements. The last key is repeated to fill one up.
      var part = rest.prefix(most)
      rest = rest.dropFirst(part.count)
      var count = 1
      while count < part.count { count *= 2 }
      let filler = part.last ?? last
      part += Array(repeating: filler, count: count - part.count)
      let query = table.core.sql.find(keys: table.core.coded(keys: Array(part)))
      try db.withRows(of: db.take(query)) { statement in
        statement.readAtOnce()
        try table.readAll(statement, table.core.identity.first) { records.append($0) }
      }
    }
    return records
  }
}

extension TableCore {
  /// The values of a single-column key, as the column stores them.
  fileprivate func coded(
    keys: [any DatabaseValueConvertible]
  ) -> [any DatabaseValueConvertible] {
    keys.map { primaryKey.first?.code?($0) ?? $0 }
  }
}
