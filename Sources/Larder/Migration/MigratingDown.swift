import LarderSQLite

extension Migrator {
  /// Undoes the migrations that come after one, the last first, each in a transaction of its own.
  ///
  /// This is for development, and for going back on purpose: data that the newer schema has room
  /// for may be lost, as the migrations' `down` says. Nothing else ever migrates down.
  ///
  /// - `name`: the last migration that stays; nil for none.
  ///
  /// Throws what `migrate` does, ``MigrationError/notApplied(migration:)``, and,
  /// before anything is undone, ``MigrationError/irreversible(migration:)``.
  public func migrateDown(_ access: some DatabaseAccess, to name: String?) throws {
    try access.inDatabase { try migrateDown($0, to: name) }
  }

  /// Undoes the migrations that come after one, outside of a transaction.
  public func migrateDown(_ db: Database, to name: String?) throws {
    // What is applied is read anew each time: another process may be migrating too, down or up.
    while let index = try lastToUndo(db, after: name) { try run(.undo(index), db) }
  }

  /// The migration that is to be undone next; nil where the last that stays is the last.
  private func lastToUndo(_ db: Database, after name: String?) throws -> Int? {
    let applied = try migrations[..<checkedHistory(db).applied.count]
    var kept = 0
    if let name {
      guard let index = applied.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else {
        throw MigrationError.notApplied(migration: name)
      }
      kept = index + 1
    }
    if let fixed = applied[kept...].last(where: { $0.down == nil }) {
      throw MigrationError.irreversible(migration: fixed.name)
    }
    return applied.count > kept ? applied.count - 1 : nil
  }
}
