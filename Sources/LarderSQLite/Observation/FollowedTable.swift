import CSQLite

/// A table whose rows are followed: its columns, and how a changed row is found again.
final class FollowedTable {
  let name: Region.TableName
  /// The table's name as the schema spells it.
  let table: String
  /// The table's root page and declaration. Another table that takes its name differs in these.
  let definition: String
  let columns: [String]
  /// Which columns are REAL: SQLite stores their whole numbers as integers.
  let isReal: [Bool]
  /// For a WITHOUT ROWID table, the columns whose old whole numbers an older SQLite reports as REAL, because
  /// it looks up the affinity by storage position; true if the column's whole numbers are always integers.
  let isToldAsReal: [Int: Bool]
  /// The values that rows have in columns that were added after they were stored. For these columns the hook
  /// reports NULL. Nil if a value isn't known.
  let defaults: [DatabaseValue?]
  /// The indexes of the columns that identify a row; empty if the row id does.
  let key: [Int]

  /// Reads a table's columns from the schema. Throws for a table that doesn't exist, is virtual, or has
  /// VIRTUAL generated columns.
  init(_ name: Region.TableName, of database: Database) throws {
    guard sqlite3_db_readonly(database.connection.handle, name.database) >= 0 else {
      throw DatabaseError(.error, "no such database: \(name.database)")
    }
    let schema = name.database.quotedIdentifier
    let found = try database.executeQuery(
      SQL(
        raw: "SELECT name, sql, rootpage FROM \(schema).sqlite_schema WHERE type = 'table' AND "
          + "name = \(name.table.quotedText) COLLATE NOCASE"))
    guard try found.next() else {
      throw DatabaseError(.error, "no such table: \(name.database).\(name.table)")
    }
    let spelled = try found.get(at: 0, as: String.self)
    let declaration = try found.get(at: 1, as: String.self)
    definition = "\(try found.get(at: 2, as: Int64.self)) \(declaration)"
    found.close()
    guard larder_mentions(declaration, "virtual table") == 0 else {
      throw DatabaseError(.error, "the rows of a virtual table can't be followed: \(spelled)")
    }
    let listed = try database.executeQuery(
      """
      SELECT wr, strict FROM pragma_table_list
      WHERE schema = \(name.database) COLLATE NOCASE AND name = \(spelled) COLLATE NOCASE
      """)
    let isListed = try listed.next()
    let isWithoutRowID = try isListed && listed.get(at: 0, as: Int.self) == 1
    let isStrict = try isListed && listed.get(at: 1, as: Int.self) == 1
    listed.close()
    var columns: [String] = []
    var affinities: [ColumnAffinity] = []
    var texts: [String?] = []
    var key: [(place: Int, column: Int)] = []
    let rows = try database.executeQuery(
      "SELECT name, dflt_value, pk, hidden, type FROM pragma_table_xinfo(\(spelled), \(name.database))"
    )
    while try rows.next() {
      guard try rows.get(at: 3, as: Int.self) != 2 else {
        let column = try rows.get(at: 0, as: String.self)
        throw DatabaseError(
          .error,
          "\(spelled).\(column) is a VIRTUAL generated column, whose changes SQLite doesn't report; "
            + "only a STORED one can be followed")
      }
      let place = try rows.get(at: 2, as: Int.self)
      if place > 0 { key.append((place, columns.count)) }
      columns.append(try rows.get(at: 0, as: String.self))
      affinities.append(
        ColumnAffinity(type: try rows.get(at: 4, as: String.self), isStrict: isStrict))
      texts.append(try rows.get(at: 1, as: String?.self))
    }
    rows.close()
    self.name = name
    self.table = spelled
    self.columns = columns
    isReal = affinities.map { $0 == .real }
    defaults = try AddedColumns.values(of: texts, affinities)
    let keyColumns = isWithoutRowID ? key.sorted { $0.place < $1.place }.map(\.column) : []
    self.key = keyColumns
    let stored = keyColumns + columns.indices.filter { !keyColumns.contains($0) }
    isToldAsReal =
      isWithoutRowID && PreupdateHook.tellsIntegersAsReal
      ? stored.enumerated().reduce(into: [:]) { told, part in
        guard affinities[part.offset] == .real, affinities[part.element] != .real else { return }
        told[part.element] = affinities[part.element] == .numeric
      } : [:]
  }

  /// The values of a row, column by column; nil if one can't be read.
  func values(
    _ format: StorageFormat, isOld: Bool,
    _ value: (Int32, UnsafeMutablePointer<OpaquePointer?>) -> Int32
  ) -> [DatabaseValue]? {
    var values: [DatabaseValue] = []
    values.reserveCapacity(columns.count)
    for index in columns.indices {
      var found: OpaquePointer?
      guard value(Int32(index), &found) == SQLITE_OK, let found else { return nil }
      // SQLite returns this value for a column that the row lacks because the column was added later. It is
      // the same static value as for a missing statement.
      guard found != sqlite3_column_value(nil, 0) else {
        guard let value = defaults[index] else { return nil }
        values.append(value)
        continue
      }
      guard let value = try? DatabaseValue(column: ColumnReader(value: found, format: format))
      else { return nil }
      if isReal[index], case .integer(let number) = value {
        values.append(.real(Double(number)))
      } else if isOld, let isInteger = isToldAsReal[index], case .real(let number) = value,
        number.rounded() == number
      {
        // Beyond 2⁵³ several integers have the same Double.
        guard isInteger, abs(number) < 0x1p53 else { return nil }
        values.append(.integer(Int64(number)))
      } else {
        values.append(value)
      }
    }
    return values
  }

  /// Resolves the name of a feed's table. The part before the first dot is the database, if one has that
  /// name; otherwise all of it is a table of the main database.
  static func name(_ text: String, on database: Database) -> Region.TableName {
    if let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")) {
      let schema = String(text[..<dot])
      if sqlite3_db_readonly(database.connection.handle, schema) >= 0 {
        return .init(database: schema, table: String(text[text.utf8.index(after: dot)...]))
      }
    }
    return .init(database: "main", table: text)
  }

  /// The stored values of a row; nil if it doesn't exist.
  func row(at place: RowPlace, of database: Database) throws -> [DatabaseValue]? {
    let condition: SQL
    switch place {
    case .rowID(let id):
      let known = Set(columns.map(\.folded))
      guard let name = ["rowid", "_rowid_", "oid"].first(where: { !known.contains($0) }) else {
        throw DatabaseError(
          .error, "\(table) can't be followed: columns hide all names of its row id")
      }
      condition = "\(identifier: name) = \(id)"
    case .key(let key):
      condition = zip(self.key, key).reduce("1") { condition, part in
        "\(condition) AND \(identifier: columns[part.0]) = \(part.1.value)"
      }
    }
    let rows = try database.executeQuery(
      "SELECT * FROM \(identifier: name.database).\(identifier: table) WHERE \(condition)")
    defer { rows.close() }
    guard try rows.next() else { return nil }
    return try columns.indices.map { try rows.get(at: $0, as: DatabaseValue.self) }
  }

  /// The place of a row: its primary key in a WITHOUT ROWID table, else its row id.
  func place(_ values: [DatabaseValue]?, _ rowID: Int64) -> RowPlace? {
    guard let values else { return nil }
    return key.isEmpty ? .rowID(rowID) : .key(key.map { ExactValue(values[$0]) })
  }
}

/// The identity by which a row is found again.
enum RowPlace: Hashable {
  case rowID(Int64)
  case key([ExactValue])
}
