import CSQLite
import Glibc

/// Follows the transactions of the writing connection for its observers: which tables, columns and rows each
/// one touches and, for feeds, every row before and after. Tells the ``Observers`` once a transaction is
/// committed; those that are rolled back aren't reported.
///
/// Pointer safety: SQLite calls the preupdate hook only during a step of the connection. The connection keeps
/// this object as its follower, and removes the hook before it releases the object.
final class WriteFollower: StatementFollower {
  private unowned let database: Database
  private var connection: Connection { database.connection }
  private let observers: Observers
  /// The region that the transaction may have touched.
  private var touched = Region()
  private var log = RowLog()
  /// The end of the log before the current statement.
  private var start = RowLog.Mark()
  /// Whether the tables are known to match the schema that the transaction sees.
  private var isSchemaKnown = false
  /// Whether the running statements are the follower's own.
  private var isLooking = false
  /// SQLite's count of changed rows when the last transaction ended.
  private var changesBefore: Int64 = 0
  /// The same count when the recording of a changeset began; rows aren't reported during it.
  private var changesBeforeRecording: Int64?
  /// Whether SQLite reports rows to the preupdate hook.
  private var tellsRows = false
  /// The maximum number of rows that are kept of one transaction.
  private var limits = RowLog.Limits()
  /// The tables whose rows feeds follow.
  private var tables = FollowedTables()
  /// The tables whose changed row ids observers of values want to know.
  private var followsRowsOf: Set<Region.TableName> = []
  /// The names and target of the last reported row: mostly also those of the next one.
  private var last: (database: [CChar], table: [CChar], Target)?
  private var dataVersion: Int64 = 0

  private struct Target {
    let name: Region.TableName
    let table: FollowedTable?
    let tellsRow: Bool
    /// Whether the table's rows are wanted but can't be reported.
    let isUnknown: Bool
  }

  /// Begins to follow. Called in a scope of the writing connection.
  static func install(on database: Database, for observers: Observers) throws {
    guard database.connection.follower == nil else { return }
    let handle = try database.connection.sqlite(
      "observation (values(of:), changes(of:)): LISTEN, NOTIFY and triggers would be needed"
    )
    database.collectRegions()
    let follower = WriteFollower(database, observers)
    follower.changesBefore = sqlite3_total_changes64(handle)
    follower.dataVersion = follower.currentDataVersion() ?? 0
    database.connection.follower = follower
    database.connection.hooks.hasRolledBack = { [unowned follower] in follower.forget() }
    database.connection.hooks.installRollbackHook(on: handle)
    try database.prepareToEnd()
  }

  private init(_ database: Database, _ observers: Observers) {
    self.database = database
    self.observers = observers
  }

  private func uninstall() {
    guard let handle = connection.handle else { return }
    setTellsRows(false, on: handle)
    connection.hooks.hasRolledBack = nil
    connection.authorizer.stopCollecting(on: handle)
    connection.follower = nil
  }

  // MARK: Rows

  /// Follows the tables whose rows are wanted now, from the next transaction on. Throws if a required table
  /// can't be followed.
  func configure(requiring required: Set<Region.TableName>) throws {
    takeWishes()
    guard !tables.wanted.isEmpty else { return }
    try connection.knownSchema.whileLooking(connection) {
      try look(requiring: required)
    }
    tables.commit()
  }

  private func takeWishes() {
    let wishes = observers.wantedRows
    limits = observers.limits
    followsRowsOf = wishes.rows
    tables.want(wishes.tables)
    last = nil
    tellRowsIfNeeded()
  }

  private func look(requiring required: Set<Region.TableName> = []) throws {
    last = nil
    try untracked {
      try tables.look(requiring: required, on: database, at: connection.schemaMark)
    }
  }

  /// Installs or removes the preupdate hook as needed. A connection has only one, which a recording of a
  /// changeset takes over.
  private func tellRowsIfNeeded() {
    guard changesBeforeRecording == nil, let handle = connection.handle else { return }
    let isNeeded = !tables.wanted.isEmpty || (!followsRowsOf.isEmpty && PreupdateHook.found != nil)
    if isNeeded != tellsRows { setTellsRows(isNeeded, on: handle) }
  }

  /// Calls a closure that runs the follower's own statements, without the scope's restrictions: a scope that
  /// has just committed still requires a transaction.
  private func untracked<T>(_ body: () throws -> T) rethrows -> T {
    let (outer, restrictions) = (isLooking, connection.restrictions)
    isLooking = true
    connection.restrictions = []
    defer {
      isLooking = outer
      connection.restrictions = restrictions
    }
    return try connection.untracked(body)
  }

  private func setTellsRows(_ isOn: Bool, on handle: OpaquePointer) {
    tellsRows = isOn
    guard let hook = PreupdateHook.found else { return }
    guard isOn else {
      _ = hook.install(handle, nil, nil)
      return
    }
    _ = hook.install(
      handle,
      { context, handle, operation, database, table, old, new in
        guard let context, let handle, let database, let table else { return }
        Unmanaged<WriteFollower>.fromOpaque(context).takeUnretainedValue()
          .willChange(operation, database, table, old, new, handle)
      }, Unmanaged.passUnretained(self).toOpaque())
    // Statements that were compiled before may empty a table without visiting its rows. SQLite recompiles
    // them when an authorizer is set.
    connection.authorizer.collectActions(on: handle)
  }

  private func willChange(
    _ operation: Int32, _ database: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>,
    _ old: Int64, _ new: Int64, _ handle: OpaquePointer
  ) {
    let target = target(database, table)
    if target.tellsRow {
      if operation != SQLITE_INSERT { touched.insert(row: old, of: target.name) }
      if operation != SQLITE_DELETE { touched.insert(row: new, of: target.name) }
    }
    guard let followed = target.table, let hook = PreupdateHook.found else {
      if target.isUnknown { log.lose() }
      return
    }
    // Neither value of an open blob's write is available. A row that can't be read, for example because
    // memory is short, makes the transaction unknown rather than wrong.
    let format = connection.storageFormat
    guard hook.columnCount(handle) == followed.columns.count,
      hook.blobColumn.map({ $0(handle) < 0 }) ?? true,
      let oldValues = operation == SQLITE_INSERT
        ? [] : followed.values(format, isOld: true, { hook.oldValue(handle, $0, $1) }),
      let newValues = operation == SQLITE_DELETE
        ? [] : followed.values(format, isOld: false, { hook.newValue(handle, $0, $1) })
    else { return log.lose() }
    let change = RowChange(
      database: target.name.database, table: followed.table, columns: followed.columns,
      old: operation == SQLITE_INSERT ? nil : oldValues,
      new: operation == SQLITE_DELETE ? nil : newValues, oldRowID: old, newRowID: new)
    log.append(change, of: target.name, limits)
  }

  private func target(
    _ database: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>
  ) -> Target {
    if let last, strcmp(last.table, table) == 0, strcmp(last.database, database) == 0 {
      return last.2
    }
    let name = Region.TableName(
      database: String(cString: database), table: String(cString: table))
    let target = Target(
      name: name, table: tables[name], tellsRow: followsRowsOf.contains(name),
      isUnknown: tables.wanted.contains(name))
    let copy = { (text: UnsafePointer<CChar>) in
      Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
    }
    last = (copy(database), copy(table), target)
    return target
  }

  // MARK: Statements

  func willRun(_ region: StatementRegion?, writes: Bool) {
    guard writes, !isLooking else { return }
    if touched.isEmpty, log.isEmpty, observers.hasNewWishes { takeWishes() }
    if !tables.wanted.isEmpty, connection.schemaWriteMark != tables.mark || !isSchemaKnown {
      noticeSchema(region)
    }
    start = log.mark
    touch(region)
  }

  func hasTouchedMore(_ region: StatementRegion?, writes: Bool) {
    if writes, !isLooking { touch(region) }
  }

  private func touch(_ region: StatementRegion?) {
    guard let region else { return touched.isEverything = true }
    var writes = region.writes
    if tellsRows, !followsRowsOf.isEmpty { writes.expectRows(of: followsRowsOf) }
    touched.formUnion(writes)
  }

  func hasRun(_ region: StatementRegion?, _ code: Int32) {
    if isLooking { return }
    if code != SQLITE_DONE {
      undoIfNeeded()
    } else if let step = region?.savepoint {
      log.follow(step)
      // The rollback may have undone a schema change, which the connection doesn't know yet.
      if case .rollBack = step { isSchemaKnown = false }
    } else if region?.writes.isEverything != false {
      // The statement may have changed the tables.
      noticeSchema()
    }
    guard !touched.isEmpty || !log.isEmpty, let handle = connection.handle,
      sqlite3_txn_state(handle, nil) != SQLITE_TXN_WRITE, sqlite3_get_autocommit(handle) != 0
    else { return }
    end(handle)
  }

  /// Called before a statement writes. The check is left for afterwards in two cases: the statement itself
  /// may change the schema, or no transaction has a snapshot yet. A read would take one, and the write would
  /// fail if others have committed meanwhile.
  private func noticeSchema(_ region: StatementRegion?) {
    isSchemaKnown = false
    guard region?.writes.isEverything == false, let handle = connection.handle,
      connection.isAlone || sqlite3_txn_state(handle, "main") != SQLITE_TXN_NONE
    else { return }
    noticeSchema()
  }

  /// Reads the tables again if the schema may have changed, as an open transaction sees it.
  private func noticeSchema() {
    guard !tables.wanted.isEmpty else { return }
    isSchemaKnown = false
    let schema = connection.knownSchema
    do {
      if connection.hasTransaction {
        try schema.refreshToWrite(connection)
        if connection.schemaMark != tables.mark { try look() }
      } else {
        try schema.whileLooking(connection) {
          if connection.schemaMark != tables.mark { try look() }
        }
      }
      isSchemaKnown = tables.mark == connection.schemaMark && !schema.hasChangedIt
    } catch {
      return
    }
    guard tables.haveChanged() else { return }
    if touched.isEmpty, log.isEmpty {
      // Others have changed the tables before this transaction.
      observers.hasCommittedElsewhere()
      tables.commit()
    } else {
      log.lose()
    }
  }

  /// Called after a statement has failed. SQLite has mostly undone it, but with FAIL the changes before the
  /// failing row stay. SQLite's count of the statement's own rows is 0 unless they stay. If it has changed
  /// rows by triggers only, the rows themselves are compared.
  private func undoIfNeeded() {
    guard log.changes.count > start.count, let handle = connection.handle else { return }
    guard sqlite3_changes64(handle) == 0 else { return }
    do {
      if try !untracked({ try isKept(log.changes[start.count...]) }) { log.goBack(to: start) }
    } catch {
      if !log.isEmpty { log.lose() }
    }
  }

  /// Whether the stored rows are as after the last of some changes, rather than as before the first one.
  private func isKept(_ changes: ArraySlice<RowChange>) throws -> Bool {
    typealias Row = (table: FollowedTable, before: [DatabaseValue]?, after: [DatabaseValue]?)
    var rows: [Region.TableName: [RowPlace: Row]] = [:]
    for change in changes {
      guard let table = tables[change.tableName] else { continue }
      if let place = table.place(change.old, change.oldRowID) {
        rows[table.name, default: [:]][place, default: (table, change.old, nil)].after = nil
      }
      if let place = table.place(change.new, change.newRowID) {
        rows[table.name, default: [:]][place, default: (table, nil, nil)].after = change.new
      }
    }
    func isSame(_ first: [DatabaseValue]?, _ second: [DatabaseValue]?) -> Bool {
      guard let first, let second else { return first == nil && second == nil }
      return first.isSame(as: second)
    }
    let changed = rows.values.joined().filter { !isSame($0.value.before, $0.value.after) }
    // A place that a row has left may now hold another, whose key is equal but has different bytes. So a
    // place that still has a row after the changes is compared, if there is one.
    guard let (place, row) = changed.first(where: { $0.value.after != nil }) ?? changed.first
    else { return false }
    return isSame(try row.table.row(at: place, of: database), row.after)
  }

  /// Called when the transaction is rolled back as a whole.
  private func forget() {
    isSchemaKnown = false
    touched = Region()
    log.removeAll()
    start = RowLog.Mark()
  }

  private func end(_ handle: OpaquePointer) {
    let changes = sqlite3_total_changes64(handle)
    let hasChanged = changes != changesBefore || touched.isEverything
    changesBefore = changes
    defer { forget() }
    if !tables.wanted.isEmpty { checkSchema() }
    let isUnused: Bool
    if hasChanged, !log.state.isUnknown {
      // Under the same lock, which readers compete for.
      isUnused = observers.hasCommitted(touched, log)
    } else {
      // A transaction must not be reported in part as if it were complete.
      if log.state.isUnknown { observers.hasCommittedElsewhere() }
      isUnused = observers.uninstallIfUnused()
    }
    tables.commit()
    if isUnused { uninstall() }
  }

  /// Marks a committed transaction as unknown if its rows may have been reported by outdated tables.
  private func checkSchema() {
    if !isSchemaKnown || connection.schemaMark != tables.mark { noticeSchema() }
    if !isSchemaKnown, !log.changes.isEmpty { log.lose() }
  }

  func hasReplacedContent() {
    tables.forget()
    observers.hasCommittedElsewhere()
  }

  func willChangeUnseen() { touched.isEverything = true }

  func willLendRowHook() {
    guard let handle = connection.handle else { return }
    changesBeforeRecording = sqlite3_total_changes64(handle)
    if tellsRows { setTellsRows(false, on: handle) }
  }

  func hasLentRowHook() {
    guard let handle = connection.handle, let before = changesBeforeRecording.take() else { return }
    if !tables.wanted.isEmpty, sqlite3_total_changes64(handle) != before { log.lose() }
    tellRowsIfNeeded()
  }

  // MARK: Others

  /// The number of rows that are kept of the current transaction.
  var loggedChanges: Int { log.changes.count }

  /// The path of the database file; nil for in-memory and temporary databases.
  var path: String? {
    guard let handle = connection.handle, let path = sqlite3_db_filename(handle, "main"),
      path.pointee != 0
    else { return nil }
    return String(cString: path)
  }

  /// Reports commits of connections that aren't the queue's or pool's to all observers. Called in a scope of
  /// the writing connection.
  func lookForOthers() {
    guard let version = currentDataVersion(), version != dataVersion else { return }
    dataVersion = version
    observers.hasCommittedElsewhere()
  }

  /// A number that changes with each commit of another connection. Of our own other connections, only that of
  /// the ``Checkpointer`` commits, and seldom.
  ///
  /// See [PRAGMA data_version](https://www.sqlite.org/pragma.html#pragma_data_version).
  private func currentDataVersion() -> Int64? {
    guard let handle = connection.handle else { return nil }
    return connection.authorizer.whilePaused {
      Connection.text("PRAGMA data_version", on: handle).flatMap { Int64($0) }
    }
  }
}
