import CSQLite

/// A table whose rows are followed: its columns, and how its rows are found again.
final class FollowedTable {
  let name: Region.TableName
  /// As the schema spells it.
  let table: String
  /// Where it is in the file, and how it was declared: another table of the name has others.
  let definition: String
  let columns: [String]
  /// Which columns hold whole numbers as integers although they are REAL.
  let isReal: [Bool]
  /// Of a table without row ids: the columns whose whole numbers an older SQLite tells as REAL where they are old,
  /// since it asks for the affinity of the column in whose place they are stored; true for those that are always
  /// integers.
  let isToldAsReal: [Int: Bool]
  /// What SQLite reads in columns that were added to the table, of rows that are older, of which it tells NULL; nil
  /// where that isn't known.
  let defaults: [DatabaseValue?]
  /// The columns by which a row is found: none for the row id.
  let key: [Int]

  /// Reads a table's columns from the schema. Throws for what has no rows of its own, and for tables with
  /// columns that are computed when they are read.
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
          "\(spelled).\(column) is computed when it is read, of which SQLite doesn't tell; "
            + "a STORED column can be followed")
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

  /// The values of a row, column by column; nil where one can't be read.
  func values(
    _ format: StorageFormat, isOld: Bool,
    _ value: (Int32, UnsafeMutablePointer<OpaquePointer?>) -> Int32
  ) -> [DatabaseValue]? {
    var values: [DatabaseValue] = []
    values.reserveCapacity(columns.count)
    for index in columns.indices {
      var found: OpaquePointer?
      guard value(Int32(index), &found) == SQLITE_OK, let found else { return nil }
      // SQLite's answer for a column that the row doesn't have, as it doesn't where the column was added
      // later: the same as for a statement that isn't there.
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
        // Beyond that, several integers are one.
        guard isInteger, abs(number) < 0x1p53 else { return nil }
        values.append(.integer(Int64(number)))
      } else {
        values.append(value)
      }
    }
    return values
  }

  /// The table that a feed's name means: one of the database whose name stands before its first dot, if there is such a
  /// database, and else one of the main database.
  static func name(_ text: String, on database: Database) -> Region.TableName {
    if let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")) {
      let schema = String(text[..<dot])
      if sqlite3_db_readonly(database.connection.handle, schema) >= 0 {
        return .init(database: schema, table: String(text[text.utf8.index(after: dot)...]))
      }
    }
    return .init(database: "main", table: text)
  }

  /// What is stored now in the row that a change has left behind, or taken away; nil where there is none.
  func row(at place: RowPlace, of database: Database) throws -> [DatabaseValue]? {
    let condition: SQL
    switch place {
    case .rowID(let id):
      let known = Set(columns.map(\.folded))
      guard let name = ["rowid", "_rowid_", "oid"].first(where: { !known.contains($0) }) else {
        throw DatabaseError(.error, "all names of the row id are columns of \(table)")
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

  /// Where a row is, by its values or, in a table with row ids, by that.
  func place(_ values: [DatabaseValue]?, _ rowID: Int64) -> RowPlace? {
    guard let values else { return nil }
    return key.isEmpty ? .rowID(rowID) : .key(key.map { ExactValue(values[$0]) })
  }
}

/// How a row is found again.
enum RowPlace: Hashable {
  case rowID(Int64)
  case key([ExactValue])
}
