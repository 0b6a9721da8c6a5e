import Foundation
import Larder
import LarderChangeset
import LarderVirtualTables

extension MisuseCall {
  /// The calls on a database that run SQL.
  static let statements = [
    MisuseCall("Database.executeUpdate(_:_:)") {
      try $0.db.executeUpdate("UPDATE town SET population = ? WHERE id = ?", 5, 2)
      try $0.db.executeUpdate("UPDATE town SET population = ? WHERE id = 3", nil)
    },
    MisuseCall("Database.executeUpdate(_:arguments:)") {
      try $0.db.executeUpdate("DELETE FROM town WHERE id = :id", arguments: ["id": 5])
    },
    MisuseCall("Database.executeQuery(_:_:)") {
      while try $0.db.executeQuery("SELECT * FROM town WHERE id > ?", 4).next() { break }
    },
    MisuseCall("Database.executeQuery(_:arguments:)") {
      _ = try $0.db.executeQuery("SELECT * FROM town WHERE id > ?", arguments: [2]).next()
    },
    MisuseCall("Database.executeStatements(_:onRow:)") {
      try $0.db.executeStatements("SELECT * FROM town; DELETE FROM town WHERE id = 6") { _ in
        .next
      }
      try $0.db.executeStatements("CREATE TABLE port (id); DROP TABLE port")
    },
    MisuseCall("Database.value(_:_:as:)") {
      _ = try $0.db.value("SELECT name FROM town WHERE id = ?", 1, as: String.self)
    },
    MisuseCall("Database.value(_:arguments:as:)") {
      _ = try $0.db.value("SELECT count(*) FROM town", arguments: [], as: Int.self)
    },
    MisuseCall("Database.onCommit(_:)") { try $0.db.onCommit {}.cancel() },
    MisuseCall("Database.onRollback(_:)") { try $0.db.onRollback {}.cancel() },
    MisuseCall("Database.onUpdate(_:)") { try $0.db.onUpdate { _, _, _ in }.cancel() },
    MisuseCall(
      "Database.record(_:isPatchset:_:)", "Database.record(_:_:isPatchset:_:)",
      "Changeset.apply(to:onConflict:)", "Changeset.forEach(_:in:_:)"
    ) {
      let changeset = try $0.db.record("town") { db in
        try db.executeUpdate("UPDATE town SET population = 9 WHERE id = 2")
      }
      _ = try $0.db.record(Town.self) { db in try changeset.inverted().apply(to: db) }
      try changeset.forEach(Town.self, in: $0.db) { _ in }
    },
    MisuseCall("Database.differences(to:of:)", "Database.differences(toAttached:of:)") {
      _ = try $0.db.differences(to: $0.db, of: "town")
      _ = try $0.db.differences(toAttached: "main", of: "town")
    },
    MisuseCall("Database.openBlob(_:column:row:database:isWritable:)") {
      let blob = try $0.db.openBlob("town", column: "land", row: 3, isWritable: true)
      try blob.write([65], at: 0)
    },
    MisuseCall("Database.validate(_:)") { try $0.db.validate("SELECT name FROM town") },
    MisuseCall("Database.prepare(_:)") {
      _ = try $0.db.prepare("SELECT name FROM town").step()
    },
    MisuseCall("Database.fetch(_:_:_:)") {
      _ = try $0.db.fetch([String: String].self, "SELECT name FROM town WHERE id < ?", 3)
    },
    MisuseCall("Database.fetch(_:_:arguments:)") {
      _ = try $0.db.fetch([String: String].self, "SELECT name FROM town", arguments: [])
    },
    // Values of all kinds are bound and read by what statements call.
    MisuseCall(
      "Array.bind(to:)", "Bool.bind(to:)", "Data.bind(to:)", "DatabaseValue.bind(to:)",
      "DatabaseValueConvertible.bind(to:)", "Date.bind(to:)", "Optional.bind(to:)",
      "String.bind(to:)", "UUID.bind(to:)"
    ) {
      let bytes: [UInt8] = [1, 2]
      let null: Int? = nil
      _ = try $0.db.executeQuery(
        "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?", bytes, true, Data(bytes), DatabaseValue.real(1),
        Decimal(7), Date(timeIntervalSince1970: 7), null, "Oslo", UUID()
      ).next()
    },
    MisuseCall(
      "Array.init(column:)", "Bool.init(column:)", "Data.init(column:)",
      "DatabaseValue.init(column:)", "DatabaseValueConvertible.init(column:)",
      "Date.init(column:)", "Optional.init(column:)", "String.init(column:)", "UUID.init(column:)"
    ) {
      let rows = try $0.db.executeQuery("SELECT x'01', 1, 1.5, zeroblob(16), 'Oslo', NULL")
      guard try rows.next() else { return }
      _ = try rows.get(at: 0, as: [UInt8].self)
      _ = try rows.get(at: 0, as: Data.self)
      _ = try rows.get(at: 1, as: Bool.self)
      _ = try rows.get(at: 1, as: Decimal.self)
      _ = try rows.get(at: 2, as: Date.self)
      _ = try rows.get(at: 3, as: UUID.self)
      _ = try rows.get(at: 4, as: String.self)
      _ = try rows.get(at: 5, as: Int?.self)
      _ = try rows[5]
    },
    MisuseCall(
      "ParameterBinder.bind(_:)", "ParameterBinder.dateFormat"
    ) {
      try $0.db.executeUpdate("UPDATE town SET population = ? WHERE id = 7", Rebinding())
    },
  ]

  /// The calls for transactions.
  static let transactions = [
    MisuseCall("Database.begin(_:)") { stage in
      for kind in [TransactionKind.deferred, .immediate, .exclusive] {
        try stage.db.begin(kind)
        if kind != .exclusive { try stage.db.rollback() }
      }
    },
    MisuseCall("Database.commit()") { try $0.db.commit() },
    MisuseCall("Database.rollback()") { try $0.db.rollback() },
    MisuseCall("Database.savepoint(_:)") { try $0.db.savepoint("harvest") },
    MisuseCall("Database.release(_:)") { try $0.db.release("harvest") },
    MisuseCall("Database.rollback(to:)") { try $0.db.rollback(to: "harvest") },
    MisuseCall("Database.inTransaction(_:_:)") { stage in
      try stage.db.inTransaction(.immediate) { db in
        _ = try db.executeUpdate("DELETE FROM town WHERE id = 1")
      }
    },
    MisuseCall("Database.inTransaction(_:)") { stage in
      try stage.db.inTransaction { db in _ = try db.executeUpdate("DELETE FROM town WHERE id = 1") }
    },
    MisuseCall("Database.inSavepoint(_:)") { stage in
      try stage.db.inSavepoint { db in _ = try db.executeUpdate("DELETE FROM town WHERE id = 1") }
    },
    MisuseCall("Database.setRollbackOnly()", outcome: .neutral) { $0.db.setRollbackOnly() },
  ]

  /// The calls on the connection itself.
  static let connection = [
    MisuseCall("Database.init(path:configuration:)", outcome: .neutral) {
      try MisuseStage.open($0.folder) { $0.journalMode = nil }.close()
    },
    MisuseCall("Database.init(url:configuration:)", outcome: .neutral) {
      let url = URL(fileURLWithPath: $0.folder + "/another.db")
      try Database(url: url, configuration: MisuseStage.configuration).close()
    },
    MisuseCall("Database.close()", outcome: .either) { try $0.db.close() },
    MisuseCall(
      "Database.isOpen", "Database.isGoodConnection", "Database.lastInsertRowID",
      "Database.changes", "Database.totalChanges", "Database.isInTransaction",
      "Database.engineName", "Database.isReadOnly", "Database.hasOpenStatements", "Database.path",
      "Database.statementCacheStatistics", "Database.limit(_:)", outcome: .neutral
    ) { stage in
      let db = stage.db
      _ = (db.isOpen, db.isGoodConnection, db.lastInsertRowID, db.changes, db.totalChanges)
      _ = (db.isInTransaction, db.isReadOnly, db.hasOpenStatements, db.path, db.engineName)
      _ = (db.statementCacheStatistics, db.limit(.variables))
    },
    MisuseCall("Database.busyTimeout", outcome: .neutral) {
      $0.db.busyTimeout = min($0.db.busyTimeout, .milliseconds(5))
    },
    MisuseCall("Database.statementDeadline", outcome: .neutral) {
      $0.db.statementDeadline = $0.db.statementDeadline ?? .seconds(7)
    },
    MisuseCall("Database.authorizer", outcome: .neutral) {
      $0.db.authorizer = $0.db.authorizer ?? .readOnly
    },
    MisuseCall("Database.statementCacheCapacity", outcome: .neutral) {
      $0.db.statementCacheCapacity /= 8
    },
    MisuseCall("Database.clearStatementCache()", outcome: .neutral) {
      $0.db.clearStatementCache()
    },
    MisuseCall("Database.closeOpenStatements()", outcome: .neutral) {
      $0.db.closeOpenStatements()
    },
    MisuseCall("Database.interrupt()", outcome: .neutral) { $0.db.interrupt() },
    MisuseCall("Database.interruptHandle", "InterruptHandle.interrupt()", outcome: .neutral) {
      $0.db.interruptHandle.interrupt()
    },
    MisuseCall("Database.setLimit(_:_:)") { try $0.db.setLimit(.variables, 900) },
    MisuseCall("Database.effectiveSettings") { _ = try $0.db.effectiveSettings },
    MisuseCall("Database.userVersion") { _ = try $0.db.userVersion },
    MisuseCall("Database.applicationID") { _ = try $0.db.applicationID },
    MisuseCall("Database.setUserVersion(_:)") { try $0.db.setUserVersion(7) },
    MisuseCall("Database.setApplicationID(_:)") { try $0.db.setApplicationID(7) },
    MisuseCall("Database.statistics") { _ = try $0.db.statistics },
    MisuseCall("Database.suggestedIndexes(for:)") {
      _ = try $0.db.suggestedIndexes(for: "SELECT * FROM town WHERE name = 'x'")
    },
    // Where the library has no encryption, that is what they say, whatever else is wrong.
    MisuseCall("Database.rekey(_:)", outcome: .either) { stage in
      do { try stage.db.rekey(EncryptionKey("other")) } catch is UnsupportedByEngine {}
    },
    MisuseCall("Database.attach(_:as:key:)", outcome: .either) { stage in
      try stage.db.attach(stage.folder + "/attached.db", as: "attached", key: nil)
      try stage.db.executeUpdate("DETACH attached")
    },
    MisuseCall("Database.backup(to:key:)", outcome: .either) { stage in
      do {
        try stage.db.backup(to: stage.folder + "/plain.db", key: nil)
      } catch is UnsupportedByEngine {}
    },
    MisuseCall("Database.cipherIntegrityCheck()", outcome: .either) { stage in
      do { _ = try stage.db.cipherIntegrityCheck() } catch is UnsupportedByEngine {}
    },
    MisuseCall("Database.optimize()") { try $0.db.optimize() },
    MisuseCall("Database.vacuum(into:)") { try $0.db.vacuum() },
    MisuseCall("Database.vacuum(into:)") { try $0.db.vacuum(into: $0.folder + "/vacuumed.db") },
    MisuseCall("Database.serialized(_:)", "Database.init(serialized:configuration:)") {
      _ = try Database(serialized: $0.db.serialized())
    },
    MisuseCall("Database.checkpoint(_:)") { try $0.db.checkpoint(.truncate) },
    MisuseCall("Database.backup(to:pagesPerStep:progress:)") {
      try $0.db.backup(to: $0.folder + "/copy.db", pagesPerStep: 1) { _, _ in }
    },
    MisuseCall("Database.backup(to:pagesPerStep:progress:)") {
      try $0.db.backup(to: $0.other)
    },
    MisuseCall("Database.backup(to:pagesPerStep:progress:)") { try $0.db.backup(to: $0.db) },
    MisuseCall("Database.restore(from:pagesPerStep:progress:)") {
      try $0.db.restore(from: $0.other)
    },
    MisuseCall("Database.restore(from:pagesPerStep:progress:)") {
      try $0.db.restore(from: MisuseStage.path($0.folder))
    },
  ]

  /// The calls that register something.
  static let registrations = [
    MisuseCall("Database.createFunction(_:argumentCount:deterministic:directOnly:_:)") {
      try $0.db.createFunction("lower_case", argumentCount: 1) { $0[0] }
      try $0.db.createFunction("meddle", argumentCount: 1) { $0[0] }
    },
    MisuseCall("Database.createFunction(_:)") {
      try $0.db.createFunction(TableFunction("meddle_rows") { (from: Int, to: Int) in from...to })
    },
    MisuseCall("Database.createModule(_:directOnly:isWritable:_:)") {
      try $0.db.createModule("meddle_tables") { _ in VirtualTable(columns: ["a"]) { _ in [[1]] } }
    },
    MisuseCall("Database.removeFunction(_:argumentCount:)") {
      try $0.db.removeFunction("meddle_rows")
    },
    MisuseCall("Database.removeFunction(_:argumentCount:)") {
      try $0.db.removeFunction("meddle", argumentCount: 1)
    },
    MisuseCall(
      "Database.createAggregate(_:argumentCount:deterministic:directOnly:initial:step:inverse:final:)"
    ) {
      try $0.db.createAggregate(
        "meddle_all", argumentCount: 1, initial: 0, step: { count, _ in count += 1 },
        inverse: { count, _ in count -= 1 }, final: { $0 })
    },
    MisuseCall("Database.createCollation(_:_:)") {
      try $0.db.createCollation("meddling") { _, _ in .orderedSame }
    },
    MisuseCall("Database.createCollation(_:)") { try $0.db.createCollation { _ in nil } },
    MisuseCall("Database.removeCollation(_:)") { try $0.db.removeCollation("meddling") },
  ]

  /// The calls that ask for the schema.
  static let schemaQueries = [
    MisuseCall("Database.tableExists(_:)") { _ = try $0.db.tableExists("town") },
    MisuseCall("Database.columnExists(_:in:)") {
      _ = try $0.db.columnExists("name", in: "town")
    },
    MisuseCall("Database.columns(of:)") { _ = try $0.db.columns(of: "town") },
    MisuseCall("Database.indexes(of:)") { _ = try $0.db.indexes(of: "town") },
    MisuseCall("Database.foreignKeys(of:)") { _ = try $0.db.foreignKeys(of: "town") },
    MisuseCall("Database.schema()") { _ = try $0.db.schema() },
  ]
}

/// A value that is bound again and again.
private struct Rebinding: DatabaseValueConvertible {
  init() {}
  init(databaseValue: DatabaseValue) throws {}
  var databaseValue: DatabaseValue { .null }

  func bind(to parameter: ParameterBinder) throws {
    _ = parameter.dateFormat
    try parameter.bind("Oslo")
    try parameter.bind([1, 2] as [UInt8])
    try [3].withUnsafeBytes { try parameter.bind($0) }
    try parameter.bind(1.5)
    try DatabaseValue.null.bind(to: parameter)
    try parameter.bind(7 as Int64)
  }
}
