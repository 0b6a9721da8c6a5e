import Foundation
import Larder
import LarderVirtualTables
import ProofSupport

/// Something that is done again and again.
struct LeakLoop {
  let name: String
  let round: () throws -> Void

  init(_ name: String, _ round: @escaping () throws -> Void) {
    self.name = name
    self.round = round
  }

  /// All loops, on databases in this folder.
  static func all(_ folder: String) throws -> [LeakLoop] {
    let path = folder + "/main.db"
    try MisuseStage.makeFile(folder)
    let db = try Database(path: path)
    let queue = try DatabaseQueue(path: path)
    // More readers than one would be opened when chance has it, and not be leaks.
    var configuration = Configuration()
    configuration.maximumReaders = 1
    let pool = try DatabasePool(path: path, configuration: configuration)
    return connections(path) + statements(db) + failures(db) + callbacks(db) + records(db)
      + documents(db) + scopes(queue, pool)
  }

  private static func connections(_ path: String) -> [LeakLoop] {
    [
      LeakLoop("a database in memory") {
        let db = try Database()
        try db.executeUpdate("CREATE TABLE city (name TEXT)")
        try db.close()
      },
      LeakLoop("a file") { _ = try Database(path: path).value("SELECT 1", as: Int.self) },
      LeakLoop("a file that isn't there, and one that is no database") {
        try expectFailure { _ = try Database(path: path + "/nowhere.db") }
        try expectFailure { _ = try Database(path: "/proc/self/exe") }
      },
      LeakLoop("a queue") {
        let queue = try DatabaseQueue(path: path)
        try queue.inTransaction { _ = try $0.prepare("SELECT * FROM town") }
        try queue.close()
      },
      LeakLoop("a pool that isn't closed") {
        try DatabasePool(path: path).read { _ = try Town.fetchAll($0) }
      },
      LeakLoop("bytes, and bytes that are no database") {
        let copy = try Database(serialized: Database(path: path).serialized())
        try copy.executeUpdate("CREATE TABLE more (a)")
        try expectFailure { _ = try Database(serialized: Array(repeating: 7, count: 4096)) }
      },
      LeakLoop("extensions that aren't there") {
        var configuration = Configuration()
        configuration.extensions = [.init("nowhere")]
        try expectFailure { _ = try Database(configuration: configuration) }
      },
      LeakLoop("a backup") {
        try Database(path: path).backup(to: Database())
      },
    ]
  }

  private static func statements(_ db: Database) -> [LeakLoop] {
    var number = 0
    return [
      LeakLoop("blobs, also of rows that aren't there") {
        let blob = try db.openBlob("town", column: "name", row: 1)
        _ = try blob.read()
        try expectFailure { try blob.reopen(row: -1) }
        try expectFailure { _ = try db.openBlob("town", column: "nowhere", row: 1) }
      },
      LeakLoop("indexes that are missing") {
        _ = try db.suggestedIndexes(for: "SELECT * FROM town WHERE population = 3")
        try expectFailure { _ = try db.suggestedIndexes(for: "SELECT nowhere FROM town") }
      },
      LeakLoop("statements of ever new texts") {
        number += 1
        _ = try db.value(SQL(raw: "SELECT \(number) FROM town"), as: Int.self)
      },
      LeakLoop("statements that aren't closed") {
        let statement = try db.prepare("SELECT name FROM town WHERE id > ?")
        try statement.bind(1)
        _ = try statement.step()
      },
      LeakLoop("result sets that aren't read to the end") {
        let rows = try db.executeQuery("SELECT * FROM town WHERE name > ?", "A")
        _ = try rows.next()
        _ = try rows.dictionary
      },
      LeakLoop("large values") {
        let bytes = [UInt8](repeating: 7, count: 100_000)
        _ = try db.value("SELECT ?", bytes, as: Data.self)
        _ = try db.value("SELECT \(String(repeating: "Å", count: 10_000))", as: String.self)
      },
      LeakLoop("a batch that returns rows") {
        try db.executeStatements("SELECT * FROM town; UPDATE town SET population = 1; SELECT 2") {
          _ in .next
        }
      },
    ]
  }

  private static func failures(_ db: Database) -> [LeakLoop] {
    [
      LeakLoop("bindings that fail") {
        try expectFailure { try db.executeUpdate("SELECT ?, ?", "Oslo", Double.nan) }
        try expectFailure { try db.executeUpdate("SELECT ?, ?", "Oslo") }
        try expectFailure { try db.executeUpdate("SELECT :a", arguments: ["b": "Oslo"]) }
        let statement = try db.prepare("SELECT ?, ?")
        try expectFailure { try statement.bind(String(repeating: "Å", count: 100), UInt64.max) }
      },
      LeakLoop("statements that fail") {
        try expectFailure { try db.executeUpdate("SELEC name FROM town") }
        try expectFailure { try db.executeUpdate("INSERT INTO town SELECT * FROM town") }
        try expectFailure { try db.executeStatements("SELECT 1; SELECT nothing FROM town") }
      },
      LeakLoop("conversions that fail") {
        let rows = try db.executeQuery("SELECT name FROM town")
        _ = try rows.next()
        try expectFailure { _ = try rows.get("name", as: Int.self) }
        try expectFailure { _ = try rows["nothing"] }
      },
      LeakLoop("transactions that are undone") {
        try expectFailure {
          try db.inTransaction { db in
            _ = try db.executeUpdate("DELETE FROM twinning")
            try db.inSavepoint { _ in throw CancellationError() }
          }
        }
      },
    ]
  }

  private static func callbacks(_ db: Database) -> [LeakLoop] {
    [
      LeakLoop("functions") {
        let name = String(repeating: "Oslo", count: 10)
        try db.createFunction("greeting") { arguments in
          if arguments.isEmpty { throw CancellationError() }
          return name
        }
        _ = try db.value("SELECT greeting(name) FROM town", as: String.self)
        try expectFailure { _ = try db.value("SELECT greeting()", as: String.self) }
        try db.removeFunction("greeting")
      },
      LeakLoop("table-valued functions, and tables of modules") {
        let names = [String(repeating: "Oslo", count: 10), String(repeating: "Bergen", count: 10)]
        try db.createFunction(
          TableFunction("greetings") { (count: Int) in
            if count > 4 { throw CancellationError() }
            return (0..<count).lazy.map { (names[$0 % 2], $0) }
          })
        _ = try db.value("SELECT c1 FROM greetings(4)", as: String.self)
        _ = try db.value("SELECT count(*) FROM town, greetings(town.id % 5)", as: Int.self)
        try expectFailure { _ = try db.value("SELECT c1 FROM greetings(5)", as: String.self) }
        try db.removeFunction("greetings")
        try db.createModule("names") { arguments in
          VirtualTable(columns: ["name"], keys: ["name"]) { _ in [[.text(arguments[0])]] }
        }
        try db.executeUpdate("CREATE VIRTUAL TABLE temp.greeted USING names(Oslo)")
        _ = try db.value("SELECT name FROM greeted WHERE name = 'Oslo'", as: String.self)
        try db.executeUpdate("DROP TABLE greeted")
        try db.removeFunction("names")
      },
      LeakLoop("tables that are bound") {
        let names = (0..<20).map { String(repeating: "Oslo", count: $0) }
        let sql: SQL = "SELECT count(*) FROM town WHERE name IN \(table: names)"
        _ = try db.value(sql, as: Int.self)
        let rows = try db.executeQuery(
          "SELECT c1, c2 FROM \(table: names.map { ($0, [UInt8](1...9)) })")
        _ = try rows.next()
        rows.close()
        try expectFailure {
          _ = try db.value("SELECT sum(value) FROM \(table: [1, .nan])", as: Double.self)
        }
      },
      LeakLoop("aggregates that end early") {
        try db.createAggregate(
          "names", argumentCount: 1, initial: [DatabaseValue](),
          step: { names, arguments in
            names += arguments
            if names.count > 4 { throw CancellationError() }
          }, final: { $0.count })
        try expectFailure { _ = try db.value("SELECT names(name) FROM town", as: Int.self) }
        _ = try db.value("SELECT names(name) FROM town WHERE id < 3", as: Int.self)
      },
      LeakLoop("collations") {
        let order = ComparisonResult.orderedAscending
        try db.createCollation("some") { left, right in left == right ? .orderedSame : order }
        _ = try db.value("SELECT name FROM town ORDER BY name COLLATE some", as: String.self)
        try db.removeCollation("some")
      },
      LeakLoop("collations that are asked for") {
        let order: @Sendable (String, String) -> ComparisonResult = { _, _ in .orderedAscending }
        let connection = try Database()
        try connection.createCollation { name in name == "some" ? order : nil }
        _ = try connection.value("SELECT 'a' < 'b' COLLATE some", as: Bool.self)
        try expectFailure {
          _ = try connection.value("SELECT 'a' < 'b' COLLATE other", as: Bool.self)
        }
      },
      LeakLoop("windows") {
        try db.createAggregate(
          "some_sum", argumentCount: 1, initial: [Int](),
          step: { numbers, arguments in
            numbers.append(try Int(databaseValue: arguments[0]))
            if numbers.count > 1 { throw CancellationError() }
          }, inverse: { numbers, _ in numbers.removeFirst() }, final: { $0.reduce(0, +) })
        let sql: SQL =
          "SELECT some_sum(id) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM town"
        try expectFailure { _ = try db.executeQuery(sql).map { try $0[0] } }
        _ = try db.value("SELECT some_sum(id) OVER (ROWS CURRENT ROW) FROM town", as: Int.self)
      },
    ]
  }

  private static func records(_ db: Database) -> [LeakLoop] {
    [
      LeakLoop("records") {
        var town = Town(id: nil, name: "Oslo", population: 7, land: "NO")
        try town.insert(db)
        town.population += 1
        try town.update(db)
        _ = try Town.find(db, town.id)
        try town.delete(db)
        try expectFailure { _ = try Town.find(db, -1) }
      },
      LeakLoop("queries") {
        _ = try Town.filter { $0.population > 3 && $0.name.hasPrefix("town") }
          .order { $0.name }.limit(3).fetchAll(db, with: Town.inLand)
        _ = try Town.select { ($0.name, $0.population) }.fetchOne(db)
        _ = try Town.all.page(db, limit: 2)
      },
      LeakLoop("rows by Decodable") {
        _ = try db.fetch([String: String].self, "SELECT name, land FROM town")
      },
      LeakLoop("schemas") {
        _ = try Schema(db)
        _ = try Town.table.differences(db)
      },
      LeakLoop("migrations") {
        try Migrator([Migration("ports", sql: "CREATE TABLE port (name TEXT)")])
          .migrate(Database())
      },
    ]
  }

  private static func scopes(_ queue: DatabaseQueue, _ pool: DatabasePool) -> [LeakLoop] {
    [
      LeakLoop("scopes") {
        try queue.inTransaction { db in _ = try db.executeUpdate("UPDATE town SET population = 2") }
        _ = try pool.read { try Town.fetchAll($0) }
        try expectFailure { try queue.inDatabase { try $0.begin() } }
        try expectFailure { try pool.read { _ in try pool.read { _ in } } }
      },
      LeakLoop("scopes of tasks, of which some are cancelled") {
        try Elsewhere.inTask {
          let tasks = (0..<4).map { _ in
            Task { try await pool.read { try Town.fetchAll($0).count } }
          }
          tasks[1].cancel()
          for task in tasks { _ = try? await task.value }
          _ = try await queue.inTransaction { try Town.fetchAll($0).count }
        }
      },
      LeakLoop("threads that use a queue and end") {
        try Elsewhere.onThread { try queue.inTransaction { _ in } }
      },
    ]
  }

  static func expectFailure(_ body: () throws -> Void) throws {
    do { try body() } catch { return }
    throw WrongAnswer(description: "no error")
  }
}
