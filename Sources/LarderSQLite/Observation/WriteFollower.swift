import CSQLite
import Glibc

/// Follows the transactions of the connection that writes, for those who observe what it changes: which tables,
/// columns and rows each touches, and, for feeds, what every row was and is. Tells the ``Observers`` once the
/// transaction is committed, and nobody of one that is rolled back.
///
/// What makes the unsafe pointers sound: SQLite calls the preupdate hook during a step of the connection, which
/// keeps this object as its follower, and takes it off before it lets go of it.
final class WriteFollower: StatementFollower {
  private unowned let database: Database
  private var connection: Connection { database.connection }
  private let observers: Observers
  /// What the transaction may have touched.
  private var touched = Region()
  private var log = RowLog()
  /// What the log had before the statement that runs.
  private var start = RowLog.Mark()
  /// Whether the tables are known to be what they were looked at for, as the transaction sees them.
  private var isSchemaKnown = false
  /// Whether rows are looked at by statements of the follower's own.
  private var isLooking = false
  /// SQLite's count of changed rows when the last transaction ended.
  private var changesBefore: Int64 = 0
  /// The same when the recording of a changeset has begun, during which no rows are told of.
  private var changesBeforeRecording: Int64?
  /// Whether rows are told of, in this transaction from its beginning on.
  private var tellsRows = false
  /// How many rows of one transaction are kept at most.
  private var limits = RowLog.Limits()
  /// The tables whose rows feeds want to know.
  private var tables = FollowedTables()
  /// Those whose row ids observers of values want to know.
  private var followsRowsOf: Set<Region.TableName> = []
  /// The table of the last row that was told of: mostly that of the next one.
  private var last: (database: [CChar], table: [CChar], Target)?
  private var dataVersion: Int64 = 0

  private struct Target {
    let name: Region.TableName
    let table: FollowedTable?
    let tellsRow: Bool
    /// Whether its rows are wanted, and can't be told.
    let isUnknown: Bool
  }

  /// Begins to follow. In a scope of the connection that writes.
  static func install(on database: Database, for observers: Observers) throws {
    guard database.connection.follower == nil else { return }
    let handle = try database.connection.sqlite(
      "observation (values(of:), changes(of:)), for which LISTEN, NOTIFY and triggers would be needed"
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

  /// Follows the tables whose rows somebody wants to know, from the next transaction on. Throws where one
  /// that is required can't be followed.
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
    try looking {
      try tables.look(requiring: required, on: database, at: connection.schemaMark)
    }
  }

  /// SQLite tells rows to one alone: not while a changeset is being recorded.
  private func tellRowsIfNeeded() {
    guard changesBeforeRecording == nil, let handle = connection.handle else { return }
    let isNeeded = !tables.wanted.isEmpty || (!followsRowsOf.isEmpty && PreupdateHook.found != nil)
    if isNeeded != tellsRows { setTellsRows(isNeeded, on: handle) }
  }

  /// Calls a closure whose statements are the follower's own, whatever the scope rules out: one that has just committed
  /// still expects its transaction.
  private func looking<T>(_ body: () throws -> T) rethrows -> T {
    let (outer, restrictions) = (isLooking, connection.restrictions)
    isLooking = true
    connection.restrictions = []
    defer {
      isLooking = outer
      connection.restrictions = restrictions
    }
    return try connection.looking(body)
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
    // Statements that are compiled already empty tables without a look at the rows: SQLite compiles them
    // anew when an authorizer is set.
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
    // A blob that is written tells neither what it was nor what it is, and a row that can't be read, be it that
    // memory is short, isn't told as another one.
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
      // A change of the schema may be undone, of which the connection doesn't know yet.
      if case .rollBack = step { isSchemaKnown = false }
    } else if region?.writes.isEverything != false {
      // The tables may be others from now on.
      noticeSchema()
    }
    guard !touched.isEmpty || !log.isEmpty, let handle = connection.handle,
      sqlite3_txn_state(handle, nil) != SQLITE_TXN_WRITE, sqlite3_get_autocommit(handle) != 0
    else { return }
    end(handle)
  }

  /// Before a statement writes. One that may change the schema hasn't yet; and where no transaction has a snapshot, to
  /// read would be to fail once it writes, if others have committed meanwhile: both are looked at afterwards.
  private func noticeSchema(_ region: StatementRegion?) {
    isSchemaKnown = false
    guard region?.writes.isEverything == false, let handle = connection.handle,
      connection.isAlone || sqlite3_txn_state(handle, "main") != SQLITE_TXN_NONE
    else { return }
    noticeSchema()
  }

  /// Looks at the tables anew where they may be others, as a transaction that is open sees them.
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
      // Others have changed them, before this transaction.
      observers.hasCommittedElsewhere()
      tables.commit()
    } else {
      log.lose()
    }
  }

  /// After a statement that has failed: mostly SQLite has undone it, but what came before the row that
  /// failed stays with FAIL. SQLite counts rows of the statement's own only where they stay; where it has changed none but
  /// by triggers, the rows tell.
  private func undoIfNeeded() {
    guard log.changes.count > start.count, let handle = connection.handle else { return }
    guard sqlite3_changes64(handle) == 0 else { return }
    do {
      if try !looking({ try isKept(log.changes[start.count...]) }) { log.goBack(to: start) }
    } catch {
      if !log.isEmpty { log.lose() }
    }
  }

  /// Whether rows are as they were after the last of some changes rather than before the first one.
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
    // Where a row was, one with a key that only differs in its bytes may be now.
    guard let (place, row) = changed.first(where: { $0.value.after != nil }) ?? changed.first
    else { return false }
    return isSame(try row.table.row(at: place, of: database), row.after)
  }

  /// The transaction was rolled back as a whole.
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
    if log.state.isUnknown {
      // A part of a transaction isn't told as if it were all.
      observers.hasCommittedElsewhere()
    } else if hasChanged {
      observers.hasCommitted(touched, log)
    }
    tables.commit()
    if observers.uninstallIfUnused() { uninstall() }
  }

  /// Finds out whether the rows of a transaction that is committed were told by tables as they were in it.
  private func checkSchema() {
    if !isSchemaKnown || connection.schemaMark != tables.mark { noticeSchema() }
    if !isSchemaKnown, !log.changes.isEmpty { log.lose() }
  }

  func hasReplacedContent() {
    tables.forget()
    observers.hasCommittedElsewhere()
  }

  func willChangeUnseen() { touched.isEverything = true }

  func willRecord() {
    guard let handle = connection.handle else { return }
    changesBeforeRecording = sqlite3_total_changes64(handle)
    if tellsRows { setTellsRows(false, on: handle) }
  }

  func hasRecorded() {
    guard let handle = connection.handle, let before = changesBeforeRecording.take() else { return }
    if !tables.wanted.isEmpty, sqlite3_total_changes64(handle) != before { log.lose() }
    tellRowsIfNeeded()
  }

  // MARK: Others

  /// How many rows of the transaction that is under way are kept.
  var loggedChanges: Int { log.changes.count }

  /// The file's path; nil for a database in memory, and a temporary one.
  var path: String? {
    guard let handle = connection.handle, let path = sqlite3_db_filename(handle, "main"),
      path.pointee != 0
    else { return nil }
    return String(cString: path)
  }

  /// What was committed by connections that aren't the queue's or pool's is told to everybody. In a scope of
  /// the connection that writes.
  func lookForOthers() {
    guard let version = currentDataVersion(), version != dataVersion else { return }
    dataVersion = version
    observers.hasCommittedElsewhere()
  }

  /// Goes up with commits of other connections, which only ``Checkpointer`` makes of our own, and seldom.
  ///
  /// See [PRAGMA data_version](https://www.sqlite.org/pragma.html#pragma_data_version).
  private func currentDataVersion() -> Int64? {
    guard let handle = connection.handle else { return nil }
    return connection.authorizer.whilePaused {
      Connection.text("PRAGMA data_version", on: handle).flatMap { Int64($0) }
    }
  }
}
