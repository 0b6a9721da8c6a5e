import LarderSQLite
import LarderVirtualTables
import Synchronization
import TestSupport
import Testing

@Suite("Writable virtual tables")
struct WrittenTableTests {
  /// Settings by name, with copies of their values at the beginning of each savepoint.
  private final class Settings: Sendable {
    struct State {
      var values: [String: Int64] = [:]
      var before: [String: Int64] = [:]
      var savepoints: [(number: Int, values: [String: Int64])] = []
      var steps: [VirtualTableChanges.Step] = []
    }

    let state = Mutex(State())
    var values: [String: Int64] { state.withLock(\.values) }
    var steps: [VirtualTableChanges.Step] { state.withLock(\.steps) }

    func put(_ row: [DatabaseValue], replacing key: DatabaseValue?) throws {
      try state.withLock { state in
        guard case .text(let name) = row[0], case .integer(let number) = row[1] else { return }
        if case .text(let old)? = key { state.values[old] = nil }
        guard state.values[name] == nil else {
          throw DatabaseError(code: .constraint, message: "\(name) is there already")
        }
        state.values[name] = number
      }
    }

    func follow(_ step: VirtualTableChanges.Step) {
      state.withLock { state in
        state.steps.append(step)
        switch step {
        case .begin: state.before = state.values
        case .rollback: state.values = state.before
        case .savepoint(let number): state.savepoints.append((number, state.values))
        case .release(let number): state.savepoints.removeAll { $0.number >= number }
        case .rollbackTo(let number):
          state.values = state.savepoints.first { $0.number >= number }?.values ?? state.before
          state.savepoints.removeAll { $0.number > number }
        case .commit: state.savepoints = []
        case .prepare: break
        }
      }
    }

    func table(follows: Bool) -> VirtualTable {
      VirtualTable(
        VirtualColumn("name", .text, by: .value), VirtualColumn("value", .integer),
        primaryKey: "name",
        changes: VirtualTableChanges(
          insert: { try self.put($0, replacing: nil) },
          update: { try self.put($1, replacing: $0) },
          delete: { key in
            self.state.withLock { if case .text(let name) = key { $0.values[name] = nil } }
          },
          transaction: { if follows { self.follow($0) } })
      ) { _ in
        self.values.sorted { $0.key < $1.key }.map { [.text($0.key), .integer($0.value)] }
      }
    }
  }

  private func make(_ settings: Settings, follows: Bool = false) throws -> Database {
    let db = try Database()
    try db.createModule("settings", isWritable: true) { _ in settings.table(follows: follows) }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.setting USING settings")
    return db
  }

  @Test("INSERT, UPDATE and DELETE on a virtual table call its closures")
  func changes() throws {
    let settings = Settings()
    let db = try make(settings)
    #expect(
      try db.executeUpdate("INSERT INTO setting VALUES ('a', 1), ('b', '2'), ('c', 3.0)") == 3)
    #expect(settings.values == ["a": 1, "b": 2, "c": 3])
    #expect(try db.executeUpdate("UPDATE setting SET value = value + 10 WHERE name <> 'b'") == 2)
    #expect(try db.executeUpdate("UPDATE setting SET name = 'z' WHERE name = 'a'") == 1)
    #expect(try db.executeUpdate("DELETE FROM setting WHERE value = 2 OR name = 'c'") == 2)
    #expect(settings.values == ["z": 11])
    #expect(try db.executeUpdate("DELETE FROM setting") == 1)
    #expect(settings.values == [:])
  }

  @Test(
    "Writing to a virtual table throws the closure's errors and refuses NULL keys and wrong types")
  func refused() throws {
    let settings = Settings()
    let db = try make(settings)
    try db.executeUpdate("INSERT INTO setting VALUES ('a', 1)")
    let twice = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO setting VALUES ('a', 2)")
    }
    #expect(twice?.code == .constraint && twice?.message.contains("there already") == true)
    let null = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO setting VALUES (NULL, 2)")
    }
    #expect(null?.extendedCode == .constraintNotNull)
    let type = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO setting VALUES ('b', 'x')")
    }
    #expect(type?.extendedCode == .constraintDatatype)
    #expect(settings.values == ["a": 1])
  }

  @Test("A virtual table without a transaction closure isn't rolled back")
  func notRolledBack() throws {
    let settings = Settings()
    let db = try make(settings)
    try db.inTransaction { db in
      try db.executeUpdate("INSERT INTO setting VALUES ('a', 1)")
      db.setRollbackOnly()
    }
    #expect(settings.values == ["a": 1])
  }

  @Test(
    "A virtual table with a transaction closure can undo exactly the changes that are rolled back")
  func rolledBack() throws {
    let settings = Settings()
    let db = try make(settings, follows: true)
    try db.inTransaction { db in
      try db.executeUpdate("INSERT INTO setting VALUES ('a', 1)")
    }
    #expect(settings.steps.first == .begin && settings.steps.suffix(2) == [.prepare, .commit])
    try db.inTransaction { db in
      try db.executeUpdate("UPDATE setting SET value = 2")
      db.setRollbackOnly()
    }
    #expect(settings.values == ["a": 1])
    try db.inTransaction { db in
      try db.executeUpdate("INSERT INTO setting VALUES ('b', 1)")
      try db.inSavepoint { db in
        try db.executeUpdate("INSERT INTO setting VALUES ('c', 1)")
        db.setRollbackOnly()
      }
    }
    #expect(settings.values == ["a": 1, "b": 1])
    // This statement fails at its second row.
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO setting VALUES ('d', 1), ('a', 1)")
    }
    #expect(settings.values == ["a": 1, "b": 1])
    try db.inTransaction { db in
      try db.inSavepoint { db in
        try db.inSavepoint { try $0.executeUpdate("INSERT INTO setting VALUES ('e', 1)") }
        db.setRollbackOnly()
      }
      try db.executeUpdate("INSERT INTO setting VALUES ('f', 1)")
    }
    #expect(settings.values == ["a": 1, "b": 1, "f": 1])
  }

  @Test("A virtual table that is created in a transaction gets its `begin` and `commit` steps")
  func createdInTransaction() throws {
    let settings = Settings()
    let db = try Database()
    try db.createModule("settings", isWritable: true) { _ in settings.table(follows: true) }
    try db.inTransaction { db in
      try db.executeUpdate("CREATE VIRTUAL TABLE temp.setting USING settings")
      try db.inSavepoint { db in
        try db.executeUpdate("INSERT INTO setting VALUES ('a', 1), ('b', 1)")
        db.setRollbackOnly()
      }
      try db.executeUpdate("INSERT INTO setting VALUES ('c', 1)")
    }
    #expect(settings.steps.first == .begin && settings.steps.last == .commit)
    #expect(settings.values == ["c": 1])
  }

  @Test("A virtual table's transaction closure can't use the database")
  func alone() throws {
    let db = try Database()
    nonisolated(unsafe) let unsafeDB = db
    try db.createModule("log", isWritable: true) { _ in
      VirtualTable(
        "line", primaryKey: "line",
        changes: VirtualTableChanges(
          insert: { _ in },
          transaction: { step in
            if step == .prepare { try unsafeDB.executeUpdate("CREATE TABLE t (x)") }
          })
      ) { _ in [[DatabaseValue]]() }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.line USING log")
    #expect(throws: DatabaseError.self) { try db.executeUpdate("INSERT INTO line VALUES ('x')") }
    #expect(try db.value("SELECT count(*) FROM sqlite_schema") == 0)
    try db.removeFunction("log")
  }

  @Test(
    "Writes without a closure, and writable virtual tables without a key or from a read-only module, throw"
  )
  func notWritable() throws {
    let db = try Database()
    try db.createModule("log", isWritable: true) { _ in
      VirtualTable("line", primaryKey: "line", changes: VirtualTableChanges(insert: { _ in })) {
        _ in [["x"]] as [[DatabaseValue]]
      }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.line USING log")
    try db.executeUpdate("INSERT INTO line VALUES ('y')")
    for sql in ["UPDATE line SET line = 'z'", "DELETE FROM line"] {
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(SQL(raw: sql)) }
      #expect(error?.code == .readOnly)
      #expect(error?.message == "table line may not be modified")
    }
    try db.createModule("keyless", isWritable: true) { _ in
      VirtualTable("line", changes: VirtualTableChanges(insert: { _ in })) {
        _ in [[DatabaseValue]]()
      }
    }
    try db.createModule("readable") { _ in
      VirtualTable("line", primaryKey: "line", changes: VirtualTableChanges(insert: { _ in })) {
        _ in [[DatabaseValue]]()
      }
    }
    for name in ["keyless", "readable"] {
      let error = #expect(throws: DatabaseError.self) {
        try db.executeUpdate("CREATE VIRTUAL TABLE temp.t USING \(identifier: name)")
      }
      #expect(error?.code == .misuse)
    }
  }

  @Test("Writing to a virtual table in a read scope throws")
  func readScope() throws {
    let settings = Settings()
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try db.createModule("settings", isWritable: true) { _ in settings.table(follows: false) }
      try db.executeUpdate("CREATE VIRTUAL TABLE temp.setting USING settings")
    }
    #expect(throws: DatabaseError.self) {
      try queue.read { _ = try $0.executeUpdate("INSERT INTO setting VALUES ('a', 1)") }
    }
    #expect(settings.values == [:])
  }
}
