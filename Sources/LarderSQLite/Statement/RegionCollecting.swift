import CSQLite

// Collects what statements read and write, when they are compiled.

extension Connection {
  /// Calls a closure that compiles a statement. Also returns what the statement reads and writes; nil if that
  /// isn't collected, or if the statement doesn't compile.
  func collectingRegion(
    of text: SQLText, from start: Int, _ compile: () throws -> SQLText.Compiled
  ) rethrows -> (SQLText.Compiled, StatementRegion?) {
    guard let actions = authorizer.actions else { return (try compile(), nil) }
    // Earlier actions belong to a statement under way, whose function compiles this one. Actions from now on
    // belong to this one alone, and are dropped if it doesn't compile.
    let outer = actions.actions
    actions.actions = []
    defer { actions.actions = outer }
    let result = try compile()
    // Looking up the tables' traits would replace SQLite's message about the error.
    guard result.code == SQLITE_OK else { return (result, nil) }
    let region = StatementRegion()
    let sql = text.string(from: start, to: text.endOfStatement(from: start))
    add(actions.actions, to: region, sql: sql)
    return (result, region)
  }

  /// Adds to a statement the actions that SQLite asked for while it ran: it was recompiled, since the schema
  /// had changed, or a virtual table has compiled statements of its own. True if there were any.
  func addRecompiled(to statement: PreparedStatement) -> Bool {
    guard let actions = authorizer.actions, !actions.isEmpty else { return false }
    let found = actions.actions.filter { $0.code != SQLITE_PRAGMA }
    actions.actions = []
    let region = statement.region ?? StatementRegion()
    add(found, to: region, sql: statement.sql)
    statement.region = region
    return true
  }

  private func add(_ actions: [AuthorizedActions.Action], to region: StatementRegion, sql: String) {
    var traits: [Region.TableName: TableTraits] = [:]
    func traitsOf(_ name: Region.TableName) -> TableTraits {
      if let known = traits[name] { return known }
      let found = TableTraits(of: name, on: self)
      traits[name] = found
      return found
    }
    let replaces = larder_mentions(sql, "replace") != 0
    // SQLite doesn't ask for columns that join tables by their names.
    if Self.joinsByNames(sql) { region.reads.isEverything = true }
    for action in actions {
      // A table whose database SQLite doesn't name is looked for in all of them.
      let isAnywhere = action.database == nil && action.code == SQLITE_READ
      for database in isAnywhere ? databaseNames : [action.database ?? "main"] {
        add(action, of: database, to: region, replaces: replaces, traitsOf)
      }
    }
  }

  private func add(
    _ action: AuthorizedActions.Action, of database: String, to region: StatementRegion,
    replaces: Bool, _ traitsOf: (Region.TableName) -> TableTraits
  ) {
    let name = Region.TableName(database: database, table: action.first ?? "")
    switch action.code {
    case SQLITE_READ:
      let traits = traitsOf(name)
      if traits.showsOthers { region.reads.isEverything = true }
      for other in traits.partners + traits.sources { region.reads.insert(.all, of: other) }
      let column = action.second ?? ""
      region.reads.insert(.init(columns: column.isEmpty ? [] : [column]), of: name)
    case SQLITE_INSERT, SQLITE_DELETE:
      addPartners(traitsOf(name), to: region)
      if traitsOf(name).isAutoincrement {
        region.writes.insert(.all, of: .init(database: database, table: "sqlite_sequence"))
      }
      if Self.schemaTables.contains(name.table) { region.writes.isEverything = true }
      region.writes.insert(.all, of: name)
    case SQLITE_UPDATE:
      addPartners(traitsOf(name), to: region)
      if Self.schemaTables.contains(name.table) { region.writes.isEverything = true }
      let column = action.second ?? ""
      // SQLite doesn't report rows that make room for others, nor generated columns.
      let isWhole =
        action.isInner || replaces || column.isEmpty || column == "rowid"
        || !traitsOf(name).isPlain || traitsOf(name).keyColumn == column
      region.writes.insert(isWhole ? .all : .init(columns: [column]), of: name)
    case SQLITE_PRAGMA:
      region.reads.isEverything = true
      if action.second != nil { region.writes.isEverything = true }
    case SQLITE_SAVEPOINT:
      let name = action.second ?? ""
      region.savepoint =
        switch action.first {
        case "begin": .begin(name)
        case "release": .release(name)
        default: .rollBack(name)
        }
    case SQLITE_ALTER_TABLE, SQLITE_ATTACH, SQLITE_DETACH,
      SQLITE_CREATE_INDEX...SQLITE_CREATE_VIEW,
      SQLITE_DROP_INDEX...SQLITE_DROP_VIEW, SQLITE_CREATE_VTABLE, SQLITE_DROP_VTABLE:
      region.writes.isEverything = true
    default: break
    }
  }

  /// Adds the tables that a module writes along with its own.
  private func addPartners(_ traits: TableTraits, to region: StatementRegion) {
    if traits.writesOthers { region.writes.isEverything = true }
    for partner in traits.partners { region.writes.insert(.all, of: partner) }
  }

  static func joinsByNames(_ sql: String) -> Bool {
    larder_mentions(sql, "using") != 0 || larder_mentions(sql, "natural") != 0
  }

  /// `main`, `temp` and the attached databases.
  private var databaseNames: [String] {
    var names: [String] = ["main", "temp"]
    guard let handle, larder_has_attached(handle) != 0 else { return names }
    authorizer.whilePaused {
      let others = OwnStatement("SELECT name FROM pragma_database_list WHERE seq > 1", on: handle)
      while others.next() { names.append(others.text(0)) }
    }
    return names
  }

  private static let schemaTables: Set<String> = [
    "sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema",
  ]
}
