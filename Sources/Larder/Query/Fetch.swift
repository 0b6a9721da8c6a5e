import LarderSQLite
import Synchronization

// Records by key, all of them, or those of any SQL.

extension Table {
  /// Calls a closure with each record of a statement's rows.
  @inlinable
  func readAll(
    _ statement: PreparedStatement, _ positions: UnsafePointer<Int32>, _ body: (R) throws -> Void
  ) throws {
    if core.isInState(.unproven), try !readUnproven(statement, positions, body) { return }
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

  /// Calls a closure with each record while it isn't known that the initializer takes them as they are. Returns
  /// whether there may be more.
  @inline(never)
  @usableFromInline
  func readUnproven(
    _ statement: PreparedStatement, _ positions: UnsafePointer<Int32>, _ body: (R) throws -> Void
  ) throws -> Bool {
    while core.isInState(.unproven) {
      guard try statement.step() else { return false }
      let record = try record(statement, positions)
      try prove(record)
      try body(record)
    }
    return true
  }

  /// Calls a closure with each record of the table.
  ///
  /// - Parameter atOnce: whether all of them are going to be kept.
  @inlinable
  func readAll(_ db: Database, atOnce: Bool, _ body: (R) throws -> Void) throws {
    try core.check()
    try db.withRows(core.select.sql, of: core.tableNumber, for: .allColumns, { core }) { _ in
    } _: { statement in
      if atOnce { statement.readAtOnce() }
      try readAll(statement, core.identity.first, body)
    }
  }

  /// Calls a closure with each record of any query's rows, whose columns are found by their names.
  @inlinable
  func readAll(_ db: Database, _ sql: SQL, atOnce: Bool, _ body: (R) throws -> Void) throws {
    try core.check()
    try db.withRows(of: db.take(bound: sql)) { statement in
      if atOnce { statement.readAtOnce() }
      guard try statement.step() else { return }
      let positions = try core.positions(in: statement)
      let record = try record(statement, positions.first)
      if core.isInState(.unproven) { try prove(record) }
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
    if core.isInState(.unproven) { try found.map(prove) }
    return found
  }
}

extension TableCore {
  @usableFromInline
  func checkKeyCount(_ count: Int) throws {
    guard count == sql.key.count else {
      throw DatabaseError(
        .misuse, "the key of “\(name)” has \(sql.key.count) values, not \(count)")
    }
  }

  /// The id of the row with a key, where the key is one.
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

  /// Throws where values of these types are no key of the table's, and else keeps what they are known by.
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

  /// Throws where no value of a type can be a column's: as that of its property, or as what that is stored as.
  func checkKey(_ type: any DatabaseValueConvertible.Type, _ column: Int) throws {
    let property = propertyTypes[column]
    func optional<T>(of type: T.Type) -> any Any.Type { T?.self }
    let isSame =
      type == property || _openExistential(type as any Any.Type, do: optional) == property
      || type == _openExistential(property, do: optional)
    if isSame || type.columnType.canBeCompared(with: columns[column].type) { return }
    throw DatabaseError(
      .misuse,
      "the key “\(columns[column].name)” of “\(name)” is of type \(property), which no \(type) can equal"
    )
  }

  /// The values of a key as the columns store them.
  @usableFromInline
  func coded(key: [any DatabaseValueConvertible]) -> [any DatabaseValueConvertible] {
    zip(sql.key, key).map { columns[$0].code?($1) ?? $1 }
  }

  /// Where the columns of the table are in a statement's row.
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
  /// A composite key is given in the order of its columns. Throws ``LarderSQLite/DatabaseError`` for a value
  /// that can be no key of the table's, such as a text for a number.
  @inlinable
  public static func fetchOne<each Key: DatabaseValueConvertible>(
    _ db: Database, _ key: repeat each Key
  ) throws -> Self? {
    try table.fetchOne(db, repeat each key)
  }

  /// The record with this primary key. Throws ``RecordError/notFound(table:key:)`` if there is none.
  ///
  /// ```swift
  /// let city = try City.find(db, 42)
  /// // SELECT "id", "name", "population" FROM "city" WHERE "id" = :id
  /// ```
  @inlinable
  public static func find<each Key: DatabaseValueConvertible>(
    _ db: Database, _ key: repeat each Key
  ) throws -> Self {
    if let record = try table.fetchOne(db, repeat each key) { return record }
    var values: [any DatabaseValueConvertible] = []
    repeat values.append(each key)
    throw table.core.notFound(values, db)
  }

  /// All records of the table, in no order that could be relied on.
  @inlinable
  public static func fetchAll(_ db: Database) throws -> [Self] {
    var records: [Self] = []
    try table.readAll(db, atOnce: true) { records.append($0) }
    return records
  }

  /// Calls a closure with one record of the table after the other, and keeps none.
  @inlinable
  public static func forEach(_ db: Database, _ body: (Self) throws -> Void) throws {
    try table.readAll(db, atOnce: false, body)
  }

  /// The records that any query gives, whose columns are found by their names; others may be among
  /// them.
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

  /// Calls a closure with one record of a query after the other, and keeps none.
  @inlinable
  public static func forEach(
    _ db: Database, sql: SQL, _ body: (Self) throws -> Void
  ) throws {
    try table.readAll(db, sql, atOnce: false, body)
  }

  /// The records with these primary keys, in no order that could be relied on; keys that aren't
  /// there are left out. Only for tables whose key is one column; keys that are the same only
  /// by their column's collation may give their record twice.
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
      // Few different lengths, so that there are few different statements: the last key is
      // asked for again where there are too few.
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
  /// Values of a key of one column, as the column stores them.
  fileprivate func coded(
    keys: [any DatabaseValueConvertible]
  ) -> [any DatabaseValueConvertible] {
    keys.map { primaryKey.first?.code?($0) ?? $0 }
  }
}
