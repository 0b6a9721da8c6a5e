import LarderSQLite

// A check for tests: migrated old databases have the same schema as a new one.

extension Migrator {
  /// A database of an older version of the program.
  fileprivate enum OldDatabase {
    case file(String)
    case dump(SQL)
  }

  /// Runs the migrations in a test, on a new database and on copies of old ones, such as of each release.
  ///
  /// ```swift
  /// @Test func migrations() throws {
  ///   try migrator.check(
  ///     oldDatabases: ["Fixtures/1.0.db", "Fixtures/1.1.db"],
  ///     records: [City.self, Country.self],
  ///     queries: [largeCities.sql])
  /// }
  /// ```
  ///
  /// All of them have to end with the same schema: the same tables, indexes, views and triggers, made by the
  /// same SQL except for spaces, comments, quotes around names, and the case of words. In each of them the
  /// statements that the records read and write with, and the queries, have to compile.
  ///
  /// - `oldDatabases`: paths of files. They are copied, and stay unchanged.
  /// - `dumps`: the statements that create further old databases, such as the output of `.dump` in the
  ///   `sqlite3` shell.
  /// - `configuration`: the configuration to open the databases with, for the functions and collations that
  ///   ``LarderSQLite/Configuration/prepareDatabase`` registers.
  ///
  /// Throws ``MigrationError/check(problems:)`` with all problems, and ``LarderSQLite/DatabaseError`` for an
  /// old database that can't be opened.
  public func check(
    oldDatabases: [String] = [], dumps: [SQL] = [], records: [any Record.Type] = [],
    queries: [SQL] = [], configuration: Configuration = .init()
  ) throws {
    var configuration = configuration
    configuration.journalMode = nil
    var problems: [String] = []
    func check(_ name: String, _ copy: DatabaseCopy) -> [String: SchemaEntry] {
      let db = copy.db
      do {
        try migrate(db)
        for record in records {
          problems += Self.problems(of: record.core, db).map { "\(name): \($0)" }
        }
        problems += Self.problems(of: queries.map(\.text), db).map { "\(name): \($0)" }
        return try Self.objects(db)
      } catch {
        problems.append("\(name): \(error)")
        return [:]
      }
    }
    let new = check("a new database", try DatabaseCopy(Database(configuration: configuration)))
    let all = oldDatabases.map(OldDatabase.file) + dumps.map(OldDatabase.dump)
    for (index, old) in all.enumerated() {
      let name = old.name(index: index)
      let found = check(name, try old.copy(configuration))
      if !new.isEmpty, !found.isEmpty {
        problems += Self.differences(new, found).map { "\(name): \($0)" }
      }
    }
    guard problems.isEmpty else { throw MigrationError.check(problems: problems) }
  }

  // MARK: Statements

  private static func problems(of table: TableCore, _ db: Database) -> [String] {
    do {
      try table.check()
    } catch {
      return ["\(error)"]
    }
    let isWritten = !table.isInState(.view)
    var statements = [table.select] + (isWritten ? [table.insert] : [])
    if !table.primaryKey.isEmpty {
      statements.append(table.find)
      if isWritten { statements += [table.update, table.upsert, table.delete] }
    }
    return problems(of: statements.map(\.text), db)
  }

  private static func problems(of statements: [String], _ db: Database) -> [String] {
    statements.compactMap { statement in
      do {
        try db.validate(SQL(raw: statement))
        return nil
      } catch {
        return "\(error)"
      }
    }
  }

  // MARK: Schemas

  /// The objects of a schema by kind and name, except those that SQLite makes.
  private static func objects(_ db: Database) throws -> [String: SchemaEntry] {
    var objects: [String: SchemaEntry] = [:]
    for entry in try db.schema() where entry.sql != nil && !entry.name.hasPrefix("sqlite_") {
      let name = String(decoding: entry.name.foldedName, as: UTF8.self)
      objects["\(entry.kind.rawValue) “\(name)”"] = entry
    }
    return objects
  }

  private static func differences(
    _ new: [String: SchemaEntry], _ found: [String: SchemaEntry]
  ) -> [String] {
    Set(new.keys).union(found.keys).sorted().compactMap { name in
      switch (new[name]?.sql, found[name]?.sql) {
      case (let sql?, nil): "\(name) is missing; in a new database it is \(sql)"
      case (nil, let sql?): "\(name) doesn't exist in a new database: \(sql)"
      case (let sql?, let other?) where sql.normalizedSQL != other.normalizedSQL:
        "\(name) is \(other); in a new database it is \(sql)"
      default: nil
      }
    }
  }
}

extension Migrator.OldDatabase {
  fileprivate func name(index: Int) -> String {
    switch self {
    case .file(let path): path
    case .dump: "old database \(index + 1)"
    }
  }

  fileprivate func copy(_ configuration: Configuration) throws -> DatabaseCopy {
    var configuration = configuration
    switch self {
    case .file(let path):
      configuration.readOnly = true
      return try Database(path: path, configuration: configuration).temporaryCopy()
    case .dump(let sql):
      let db = try Database(configuration: configuration)
      try db.executeStatements(sql)
      // The copy has a connection of its own, since the dump may have changed settings of this one.
      return try db.temporaryCopy()
    }
  }
}
