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
  /// Whether the schema may be another one than when tables were looked at.
  private var isStale = false
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
  /// The tables whose rows feeds want to know, those of them that there are, and as they were at the last commit.
  private var wanted: Set<Region.TableName> = []
  private var followed: [Region.TableName: FollowedTable] = [:]
  private var committed: [Region.TableName: FollowedTable] = [:]
  /// Those of them that couldn't be looked at when that was due.
  private var unread: Set<Region.TableName> = []
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
    try follow(requiring: required)
    committed = followed
  }

  private func follow(requiring required: Set<Region.TableName>) throws {
    let wishes = observers.wantedRows
    limits = observers.limits
    followsRowsOf = wishes.rows
    wanted = wishes.tables
    var tables: [Region.TableName: FollowedTable] = [:]
    unread = []
    try looking {
      for name in wanted {
        do {
          tables[name] = try followed[name] ?? FollowedTable(name, of: database)
        } catch {
          if required.contains(name) { throw error }
          // One that was dropped since is told to its feed; what can't be read now is looked at again.
          if (error as? DatabaseError)?.code != .error { unread.insert(name) }
        }
      }
    }
    if !unread.isEmpty { isStale = true }
    followed = tables
    last = nil
    tellRowsIfNeeded()
  }

  /// SQLite tells rows to one alone: not while a changeset is being recorded.
  private func tellRowsIfNeeded() {
    guard changesBeforeRecording == nil, let handle = connection.handle else { return }
    let isNeeded = !wanted.isEmpty || (!followsRowsOf.isEmpty && PreupdateHook.found != nil)
    if isNeeded != tellsRows { setTellsRows(isNeeded, on: handle) }
  }

  /// Calls a closure whose statements are the follower's own.
  private func looking<T>(_ body: () throws -> T) rethrows -> T {
    let outer = isLooking
    isLooking = true
    defer { isLooking = outer }
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
      database: String(cString: database).lowercased(), table: String(cString: table).lowercased())
    let target = Target(
      name: name, table: followed[name], tellsRow: followsRowsOf.contains(name),
      isUnknown: wanted.contains(name))
    let copy = { (text: UnsafePointer<CChar>) in
      Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
    }
    last = (copy(database), copy(table), target)
    return target
  }

  // MARK: Statements

  func willRun(_ region: StatementRegion?, writes: Bool) {
    guard writes, !isLooking else { return }
    if touched.isEmpty, log.isEmpty, observers.hasNewWishes || isStale { refresh() }
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
      if case .rollBack = step, touched.isEverything { refresh() }
    } else if !wanted.isEmpty, region?.writes.isEverything == true {
      // The tables may be others from now on.
      refresh()
    }
    guard !touched.isEmpty || !log.isEmpty, let handle = connection.handle,
      sqlite3_txn_state(handle, nil) != SQLITE_TXN_WRITE, sqlite3_get_autocommit(handle) != 0
    else { return }
    end(handle)
  }

  /// Looks at the tables anew. Of rows that came or went with a table, as by DROP and RENAME, SQLite doesn't tell.
  private func refresh() {
    isStale = false
    let before = wanted
    followed = [:]
    try? follow(requiring: [])
    for name in wanted.subtracting(unread) {
      // The feed of one that wasn't wanted begins later.
      if !before.contains(name) { committed[name] = followed[name] }
      if followed[name]?.definition != committed[name]?.definition { log.lose() }
    }
  }

  /// After a statement that has failed: mostly SQLite has undone it, but what came before the row that
  /// failed stays with FAIL. Nothing tells which, but the rows do.
  private func undoIfNeeded() {
    guard log.changes.count > start.count else { return }
    do {
      if try !looking({ try isKept(log.changes[start.count...]) }) { log.goBack(to: start) }
    } catch {
      if !log.isEmpty { log.lose() }
    }
  }

  /// Whether rows are as they were after the last of some changes rather than before the first one.
  private func isKept(_ changes: ArraySlice<RowChange>) throws -> Bool {
    for change in changes.reversed() {
      guard let table = followed[change.tableName],
        let place = table.place(change.new, change.newRowID)
          ?? table.place(change.old, change.oldRowID)
      else { continue }
      let before = changes.first {
        table.place($0.old, $0.oldRowID) == place || table.place($0.new, $0.newRowID) == place
      }
      let isOwn = before.map { table.place($0.old, $0.oldRowID) == place } ?? false
      let old = isOwn ? before?.old : nil
      guard change.new != old else { continue }
      return try table.row(at: place, of: database) == change.new
    }
    return false
  }

  /// The transaction was rolled back as a whole.
  private func forget() {
    isStale = isStale || touched.isEverything
    touched = Region()
    log.removeAll()
    start = RowLog.Mark()
  }

  private func end(_ handle: OpaquePointer) {
    let changes = sqlite3_total_changes64(handle)
    let hasChanged = changes != changesBefore || touched.isEverything
    changesBefore = changes
    defer { forget() }
    if log.state.isUnknown {
      // A part of a transaction isn't told as if it were all.
      observers.hasCommittedElsewhere()
    } else if hasChanged {
      observers.hasCommitted(touched, log)
    }
    let kept = unread.isEmpty ? [:] : committed.filter { unread.contains($0.key) }
    committed = kept.isEmpty ? followed : followed.merging(kept) { found, _ in found }
    if observers.uninstallIfUnused() { uninstall() }
  }

  func hasReplacedContent() { observers.hasCommittedElsewhere() }

  func willChangeUnseen() { touched.isEverything = true }

  func willRecord() {
    guard let handle = connection.handle else { return }
    changesBeforeRecording = sqlite3_total_changes64(handle)
    if tellsRows { setTellsRows(false, on: handle) }
  }

  func hasRecorded() {
    guard let handle = connection.handle, let before = changesBeforeRecording.take() else { return }
    if !wanted.isEmpty, sqlite3_total_changes64(handle) != before { log.lose() }
    tellRowsIfNeeded()
  }

  // MARK: Others

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
    isStale = true
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
