import CSQLite
import Larder

extension Changeset {
  /// Applies the changes to a database: all of them, or none.
  ///
  /// - Parameters:
  ///   - database: a database with tables of the same names, the same primary keys and at least as many
  ///     columns; otherwise `ResultCode.schema` is thrown. Changes of tables that it lacks are skipped.
  ///   - onConflict: decides about each conflict. If it throws, all changes are undone. It can't use the
  ///     database.
  ///
  /// Triggers run and observers are told, as for any other statement. A change that violates a constraint is
  /// retried after the table's other changes, and foreign keys are checked after all changes; see
  /// [how changesets are applied](https://www.sqlite.org/session/sqlite3changeset_apply.html).
  ///
  /// Returns the decisions, for ``rebased(onto:)``; they are empty for a patch set.
  ///
  /// Throws `ResultCode.constraintForeignKey` if rows refer to missing rows in the end and the decision is
  /// `.omit`, which isn't possible then. Throws `ResultCode.abort` if that is the decision,
  /// `ResultCode.misuse` for a decision that the conflict doesn't allow, and `ResultCode.corrupt` for
  /// malformed bytes.
  @discardableResult
  public func apply(
    to database: Database, onConflict: (Conflict) throws -> Resolution = { _ in .abort }
  ) throws -> Decisions {
    let handle = try database.connection.sqlite("apply(to:onConflict:)")
    try database.connection.checkWritable()
    // Malformed bytes are found before anything is changed.
    try check()
    return try withoutActuallyEscaping(onConflict) { onConflict in
      try database.inSavepoint { database in
        let application = ChangesetApplication(database, onConflict)
        try application.whileDeferringForeignKeys(on: handle) { try application.apply(self) }
        return application.decisions
      }
    }
  }
}

/// One run of `apply(to:onConflict:)`, which makes the changes in the same order as SQLite does.
private final class ChangesetApplication {
  private let database: Database
  private let onConflict: (Changeset.Conflict) throws -> Changeset.Resolution
  private var target: ChangesetTarget?
  /// The current table's changes that violate a constraint for now. Later changes may make room for them.
  private var waiting: [RecordedChange] = []
  /// Whether such changes are deferred, rather than reported as conflicts.
  private var waits = true
  private var encoder = ChangesetEncoder()

  var decisions: Changeset.Decisions { .init(data: encoder.bytes) }

  init(
    _ database: Database,
    _ onConflict: @escaping (Changeset.Conflict) throws -> Changeset.Resolution
  ) {
    self.database = database
    self.onConflict = onConflict
  }

  func apply(_ changeset: Changeset) throws {
    var decoder = ChangesetDecoder(changeset.data)
    while let item = try decoder.next() {
      switch item {
      case .table(let table):
        // A changeset that was appended to another one may continue with the same table.
        if let target, target.table.goesOn(as: table) { continue }
        try endTable()
        target = try ChangesetTarget.find(table, in: database)
      case .change(let change, _):
        if let target { try make(change, in: target) }
      }
    }
    try endTable()
  }

  /// Retries the deferred changes as long as that makes progress. The rest is reported as conflicts.
  private func endTable() throws {
    waits = true
    while let target, !waiting.isEmpty {
      let tried = waiting
      waiting = []
      for change in tried { try make(change, in: target) }
      if waiting.count >= tried.count { waits = false }
    }
    target = nil
    waits = true
  }

  // MARK: A change

  private func make(_ change: RecordedChange, in target: ChangesetTarget) throws {
    guard !change.isEmpty(in: target.table) else { return }
    switch change.operation {
    case .insert: try insert(change, in: target)
    case .update: try makeAnyway(change, in: target) { try target.update(change, comparing: $0) }
    case .delete:
      try makeAnyway(change, in: target) { try target.delete(change.old, comparing: $0) }
    }
  }

  private func insert(_ change: RecordedChange, in target: ChangesetTarget) throws {
    if try target.insert(change.new) { return }
    guard let found = try target.find(change.new) else {
      return try decideOnConstraint(change, in: target)
    }
    guard try decide(.conflict, change, in: target, found) == .replace else { return }
    try target.remove(change.new)
    if try !target.insert(change.new) { try decideOnConstraint(change, in: target) }
  }

  /// Updates or deletes a row. If it has other values than before the recorded change, the conflict is
  /// reported, and `.replace` has the change made without comparing.
  private func makeAnyway(
    _ change: RecordedChange, in target: ChangesetTarget, _ body: (_ comparing: Bool) throws -> Int?
  ) throws {
    guard let count = try body(!target.table.isPatch) else {
      return try decideOnConstraint(change, in: target)
    }
    guard count == 0 else { return }
    guard let found = try target.find(change.old) else {
      return try decideOnMissing(change, in: target)
    }
    guard try decide(.data, change, in: target, found) == .replace else { return }
    guard let again = try body(false) else { return try decideOnConstraint(change, in: target) }
    // A trigger has skipped the change by RAISE(IGNORE).
    if again == 0 { try decideOnMissing(change, in: target) }
  }

  private func decideOnMissing(_ change: RecordedChange, in target: ChangesetTarget) throws {
    _ = try decide(.notFound, change, in: target, nil)
  }

  private func decideOnConstraint(_ change: RecordedChange, in target: ChangesetTarget) throws {
    if waits {
      waiting.append(change)
    } else {
      _ = try decide(.constraint, change, in: target, nil)
    }
  }

  // MARK: Decisions

  private func decide(
    _ kind: Changeset.Conflict.Kind, _ change: RecordedChange, in target: ChangesetTarget,
    _ found: [DatabaseValue]?
  ) throws -> Changeset.Resolution {
    let table = target.table
    let resolution = try decide(
      .init(kind: kind, row: try Changeset.Row(change, of: table), found: found))
    if !table.isPatch {
      let values =
        change.operation == .update
        ? table.keys.indices.map { table.isKey($0) ? change.old[$0] : change.new[$0] }
        : change.keyed
      encoder.append(
        decision: values, isDeletion: change.operation == .delete,
        isReplaced: resolution == .replace, of: table)
    }
    return resolution
  }

  private func decide(_ conflict: Changeset.Conflict) throws -> Changeset.Resolution {
    let resolution = try database.connection.whileBlocked { try onConflict(conflict) }
    if resolution == .replace, conflict.found == nil {
      throw DatabaseError(
        .misuse,
        "a conflict of the changeset (\(conflict.kind)) has no row that .replace could replace")
    }
    if conflict.kind == .foreignKey, resolution == .omit {
      throw DatabaseError(
        .constraintForeignKey, "after the changeset, rows would refer to rows that don't exist")
    }
    if resolution == .abort {
      throw DatabaseError(
        .abort, "a conflict of the changeset (\(conflict.kind)) was resolved by .abort")
    }
    return resolution
  }

  // MARK: Foreign keys

  /// Calls a closure with foreign key checks deferred, then reports those that are still violated.
  func whileDeferringForeignKeys(on handle: OpaquePointer, _ body: () throws -> Void) throws {
    let connection = database.connection
    let isOn = connection.authorizer.whilePaused {
      Connection.text("PRAGMA defer_foreign_keys", on: handle) == "1"
    }
    func set(_ isNeeded: Bool) throws {
      if isOn { return }
      let code = connection.authorizer.whilePaused {
        sqlite3_exec(handle, "PRAGMA defer_foreign_keys = \(isNeeded ? 1 : 0)", nil, nil, nil)
      }
      guard code == SQLITE_OK else { throw connection.error(code) }
    }
    try set(true)
    do {
      try body()
      try checkForeignKeys(on: handle)
    } catch {
      // The original error is thrown, not that of the cleanup.
      try? set(false)
      throw error
    }
    try set(false)
  }

  private func checkForeignKeys(on handle: OpaquePointer) throws {
    var (count, unused): (Int32, Int32) = (0, 0)
    let code = sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &unused, 0)
    guard code == SQLITE_OK else { throw database.connection.error(code) }
    if count != 0 { _ = try decide(.init(kind: .foreignKey, row: nil, found: nil)) }
  }
}
