import Larder
import LarderPostgres
import LarderSQLite
import LarderTerminal

/// Copies tables of one database into another, from one snapshot, table by table.
struct CopyRun {
  struct Options {
    var schemaOnly = false
    var dataOnly = false
    var resumes = false
    var tables: [String] = []
    /// The format of dates as numbers that may have several.
    var dates: DateFormat?
  }

  struct Report: Encodable {
    struct Table: Encodable {
      let table: String
      let rows: Int
      /// Whether an earlier run had copied the table, and its rows are still the same.
      let wasComplete: Bool
    }

    var tables: [Table] = []
    /// The parts of the schema that have no counterpart in the target.
    var leftOut: [String] = []
    /// What was guessed about the values, as phrases.
    var guesses: [String] = []
  }

  let source: Database
  let target: Database
  let sourceName: String
  let targetName: String
  let options: Options
  private(set) var report = Report()
  /// Whether this run has created tables in the target.
  private(set) var hasMadeTables = false

  private var toServer: Bool { target.engine != nil }
  private var fromServer: Bool { source.engine != nil }

  /// The target's table that lists the tables copied so far. It is dropped once all are complete.
  static let stateTable = "larder_copy"

  init(
    from source: Database, _ sourceName: String, to target: Database, _ targetName: String,
    _ options: Options
  ) {
    self.source = source
    self.target = target
    self.sourceName = sourceName
    self.targetName = targetName
    self.options = options
  }

  mutating func run() throws {
    var tables = try sourceTables()
    let wasEmpty =
      try !toServer
      && target.schema().allSatisfy { entry in
        entry.name == Self.stateTable
          || options.resumes && tables.contains { $0.name.isSameName(entry.table) }
      }
    let present = try tables.compactMap {
      try TableSchema.found($0.name, in: target, schema: mainSchema)
    }
    let hasState = try target.tableExists(Self.stateTable)
    if options.dataOnly {
      guard present.count == tables.count else {
        let missing = tables.first { table in !present.contains { isSame($0.name, table.name) } }
        throw Failure(
          "\(targetName): there is no table “\(missing?.name ?? "")”; without --data-only it is created"
        )
      }
    } else {
      try checkTarget(present, tables, hasState: hasState)
    }
    if toServer { tables.takeKindsOfKeys() }
    let schema = options.dataOnly ? nil : try schema(of: tables)
    // Existing tables may have been altered since they were created.
    for (index, table) in present.enumerated() where options.dataOnly || toServer {
      try tables[index].adapt(to: table, onServer: toServer, targetName)
      guard toServer, !fromServer, !options.schemaOnly else { continue }
      report.guesses += try tables[index].findDateNumbers(in: source, told: options.dates)
    }
    if toServer {
      let partitioned = try ServerDatabase.partitionedTables(target)
      for index in tables.indices where !partitioned.contains(tables[index].targetName) {
        tables[index].targetPlace = "ONLY \(tables[index].targetName.quotedIdentifier)"
      }
    }
    report.leftOut += schema?.leftOut ?? []
    if let schema, present.isEmpty { try make(schema) }
    if !options.schemaOnly {
      try copy(tables, hasState: !options.dataOnly && (hasState || present.isEmpty))
    }
    try finish(schema, tables, isMade: present.isEmpty || hasState)
    if !fromServer, !toServer, !options.dataOnly { try keepNumbers(wasEmpty: wasEmpty) }
  }

  /// Copies `user_version` and `application_id`, by which programs know their files, to a target that had no
  /// tables of its own. In another target a difference is only reported.
  private mutating func keepNumbers(wasEmpty: Bool) throws {
    for name in ["user_version", "application_id"] {
      let pragma = SQL(raw: "PRAGMA main.\(name)")
      let number = try source.value(pragma, as: Int.self) ?? 0
      let present = try target.value(pragma, as: Int.self) ?? 0
      guard number != present else { continue }
      if wasEmpty {
        try target.executeUpdate(SQL(raw: "PRAGMA main.\(name) = \(number)"))
      } else {
        report.leftOut.append("\(name) \(number): it is \(present) in \(targetName)")
      }
    }
  }

  private var mainSchema: String? { toServer ? nil : "main" }

  private func isSame(_ name: String, _ other: String) -> Bool {
    toServer ? name == other : name.isSameName(other)
  }

  // MARK: The plan

  private mutating func sourceTables() throws -> [CopiedTable] {
    // A migration history applies to one engine only; it isn't copied between engines.
    let schema = try Schema(source)
    // Tables named like a full-text table's helpers are copied too: they may hold rows.
    let helpers = try schema.others.filter { $0.kind == .table && !$0.isVirtualTable }
      .compactMap { try TableSchema.found($0.name, in: source, schema: fromServer ? nil : "main") }
    let isBetweenEngines = fromServer || toServer
    let all = try (schema.tables + helpers).filter { table in
      if [Self.stateTable, BookkeepingTables.commits, BookkeepingTables.identity].contains(
        table.name)
      {
        return false
      }
      if table.name == BookkeepingTables.migrations { return !isBetweenEngines }
      return try !isEmptyHelper(table.name, of: schema)
    }
    let virtual = toServer ? schema.others.compactMap(CopiedVirtualTable.init) : []
    let partitioned = fromServer ? try ServerDatabase.partitionedTables(source) : []
    func copied(_ table: TableSchema) throws -> CopiedTable {
      try Interruption.check()
      if fromServer {
        return CopiedTable(ofServer: table, isPartitioned: partitioned.contains(table.name))
      }
      return toServer ? try CopiedTable(ofFile: table, source) : CopiedTable(asItIs: table)
    }
    if options.tables.isEmpty {
      // With --data-only, the target's schema isn't the copy's concern.
      let wanted = try virtual.filter { table in
        if let reason = try table.reasonAgainstReading(in: source) {
          report.leftOut.append("the virtual table “\(table.name)”: \(reason)")
          return false
        }
        guard options.dataOnly, table.rows == .own, try !target.tableExists(table.name) else {
          return true
        }
        report.leftOut.append("“\(table.name)”, for which there is no table")
        return false
      }
      let tables = try all.map(copied) + wanted.compactMap { try $0.table(in: source) }
      if !options.dataOnly { report.leftOut += wanted.map(\.lossOnServer) }
      if fromServer { report.leftOut += try ServerDatabase.inheritances(source) }
      return try tables.inOrderOfReferences()
    }
    let tables = try options.tables.map { name in
      if let table = all.first(where: { fromServer ? $0.name == name : $0.name.isSameName(name) }) {
        return try copied(table)
      }
      guard let table = virtual.first(where: { $0.name.isSameName(name) }) else {
        throw Failure("\(sourceName): there is no table “\(name)”")
      }
      guard let rows = try table.table(in: source) else {
        throw Failure("\(sourceName): “\(name)” can't be copied: \(table.lossOnServer)")
      }
      report.leftOut.append(table.lossOnServer)
      return rows
    }
    return try tables.inOrderOfReferences()
  }

  /// Whether a table is a full-text index's own table of replaced rows, and is empty, which is usual. It
  /// isn't copied to a server.
  private func isEmptyHelper(_ name: String, of schema: Schema) throws -> Bool {
    guard toServer, schema.others.contains(where: { $0.keepsReplacedRows(in: name) }) else {
      return false
    }
    return try source.value("SELECT NOT EXISTS (SELECT 1 FROM \(identifier: name))", as: Bool.self)
      ?? false
  }

  private func schema(of tables: [CopiedTable]) throws -> CopySchema {
    try fromServer || toServer
      ? CopySchema(tables, of: source, translatedFor: target)
      : CopySchema(tables, of: source, all: options.tables.isEmpty)
  }

  private func checkTarget(
    _ present: [TableSchema], _ tables: [CopiedTable], hasState: Bool
  ) throws {
    guard let first = present.first else {
      guard !hasState else {
        throw Failure(
          "\(targetName): another copy into it is unfinished: drop “\(Self.stateTable)” to start over"
        )
      }
      return
    }
    guard options.resumes else {
      throw Failure(
        """
        \(targetName): the table “\(first.name)” exists already; --data-only copies rows into existing \
        tables, --resume goes on with a copy
        """)
    }
    guard present.count == tables.count else {
      throw Failure(
        "\(targetName): the existing tables aren't from a copy of these tables: some are missing")
    }
  }

  // MARK: The schema

  private mutating func make(_ schema: CopySchema) throws {
    let type = toServer ? "BIGINT" : "INTEGER"
    try target.inTransaction { db in
      for sql in schema.tables { try execute(sql, db) }
      if options.schemaOnly { return }
      try execute(
        "CREATE TABLE \(Self.stateTable) (table_name TEXT PRIMARY KEY, row_count \(type) NOT NULL)",
        db)
    }
    hasMadeTables = true
  }

  private func execute(_ sql: String, _ db: Database) throws {
    do {
      try db.executeStatements(SQL(raw: sql))
    } catch let error as DatabaseError where !error.isInterrupt && error.code != .busy {
      throw Failure("\(targetName): “\(sql.prefix(200))” can't be run: \(error.message)")
    }
  }

  /// Creates the rest of the schema, sets counters of generated keys past the copied ones, and checks the
  /// foreign keys of a file.
  private func finish(_ schema: CopySchema?, _ tables: [CopiedTable], isMade: Bool) throws {
    try Interruption.check()
    try target.inTransaction { db in
      if isMade, let schema { for sql in schema.rest { try execute(sql, db) } }
      for table in tables where !options.schemaOnly {
        if toServer { try renumber(table, db) }
        if !fromServer { try keepSequence(of: table, db) }
      }
      if isMade, !options.schemaOnly, !options.dataOnly {
        try execute("DROP TABLE \(Self.stateTable)", db)
      }
    }
    guard !toServer else { return }
    for table in tables {
      let hasAll = try table.schema.foreignKeys.allSatisfy { key in
        try target.tableExists(key.referencedTable)
      }
      guard hasAll else { continue }
      let broken =
        try target.value(
          "SELECT count(*) FROM pragma_foreign_key_check(?)", table.targetName, as: Int.self) ?? 0
      guard broken == 0 else {
        throw Failure(
          "\(broken.grouped) rows of “\(table.name)” refer to missing rows, in \(sourceName) too"
        )
      }
    }
  }

  private func renumber(_ table: CopiedTable, _ db: Database) throws {
    guard let found = try TableSchema.found(table.targetName, in: db) else { return }
    for column in found.columns where column.hasNumbers {
      try execute(
        PostgresNumbers.renumber(table.targetName.quotedIdentifier, column: column.name), db)
    }
  }

  /// Copies AUTOINCREMENT's counter, which prevents reuse of deleted rows' keys.
  private func keepSequence(of table: CopiedTable, _ db: Database) throws {
    guard table.schema.isAutoincrement,
      let last = try source.value(
        "SELECT seq FROM main.sqlite_sequence WHERE name = ?", table.name, as: Int64?.self) ?? nil
    else { return }
    guard toServer else {
      try db.executeUpdate("DELETE FROM main.sqlite_sequence WHERE name = ?", table.targetName)
      try db.executeUpdate("INSERT INTO main.sqlite_sequence VALUES (?, ?)", table.targetName, last)
      return
    }
    guard let column = table.schema.rowIDColumn, last > 0,
      let copied = table.columns.first(where: { $0.name.isSameName(column) })
    else { return }
    // In an empty table max() is NULL, which greatest() ignores.
    let sequence = """
      pg_get_serial_sequence(\(table.targetName.quotedIdentifier.quotedText), \(copied.targetName.quotedText))
      """
    let largest =
      "(SELECT max(\(copied.targetName.quotedIdentifier)) FROM \(table.targetName.quotedIdentifier))"
    try execute("SELECT setval(\(sequence), greatest(\(last), \(largest)))", db)
  }

  // MARK: The rows

  private mutating func copy(_ tables: [CopiedTable], hasState: Bool) throws {
    var bar = ProgressBar("copy")
    defer { bar.clear() }
    let complete =
      hasState && options.resumes
      ? Set(
        try target.executeQuery("SELECT table_name FROM larder_copy").map {
          try $0.get(at: 0, as: String.self)
        }) : []
    let total = try Output.errorsGoToTerminal ? rowCount(of: tables) : 0
    for table in tables {
      try Interruption.check()
      let done = report.tables.reduce(0) { $0 + $1.rows }
      bar.show(Double(done) / Double(max(1, total)))
      let copy = TableCopy(table: table, source: source, target: target, targetName: targetName)
      if options.resumes, complete.contains(table.name) || !hasState {
        let found = try copy.sumOfTarget()
        if let found, try found == copy.sumOfSource() {
          report.tables.append(.init(table: table.name, rows: found.rows, wasComplete: true))
          continue
        }
        guard hasState || found?.rows == 0 else {
          throw Failure(
            "\(targetName): “\(table.targetName)” has other rows than \(sourceName), and isn't from an unfinished copy"
          )
        }
      }
      let sum = try target.inTransaction { db in
        try empty(table, db, isOfCopy: hasState)
        let sum = try copy.run { bar.show(Double(done + $0) / Double(max(1, total))) }
        if hasState {
          try db.executeUpdate(
            "INSERT INTO larder_copy (table_name, row_count) VALUES (?, ?)", table.name, sum.rows)
        }
        return sum
      }
      report.tables.append(.init(table: table.name, rows: sum.rows, wasComplete: false))
    }
  }

  private func rowCount(of tables: [CopiedTable]) throws -> Int {
    try tables.reduce(0) { sum, table in
      try sum
        + (source.value(SQL(raw: "SELECT count(*) FROM \(table.sourcePlace)"), as: Int.self) ?? 0)
    }
  }

  /// Ensures that the table is empty. Rows of an unfinished copy are deleted; other rows are an error.
  private func empty(_ table: CopiedTable, _ db: Database, isOfCopy: Bool) throws {
    let name = table.targetPlace
    if isOfCopy {
      try db.executeUpdate(SQL(raw: "DELETE FROM \(name)"))
      try db.executeUpdate("DELETE FROM larder_copy WHERE table_name = ?", table.name)
    } else if try db.value(SQL(raw: "SELECT EXISTS (SELECT 1 FROM \(name))"), as: Bool.self) == true
    {
      throw Failure("\(targetName): “\(table.targetName)” has rows already")
    }
  }
}
