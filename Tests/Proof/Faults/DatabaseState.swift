import Foundation
import Larder
import ProofSupport

/// What the files of a folder hold, in a form that can be compared.
struct DatabaseState: Equatable {
  /// A digest for each file; none for files that are missing or hold nothing.
  private(set) var files: [String: Int] = [:]
  /// The keys of the two tables that are always written together.
  private(set) var payments: Set<Int> = []
  private(set) var receipts: Set<Int> = []

  static let names = ["main.db", "other.db", "copy.db"]
  /// Tables that the digest leaves out.
  private static let apart = ["payment", "receipt", "probe", "sqlite_sequence"]

  /// Reads the files on a VFS that nothing goes wrong with, and checks them.
  init(folder: String) throws {
    var configuration = Configuration()
    configuration.vfs = "unix"
    configuration.journalMode = nil
    configuration.prepareDatabase = Halves.register
    for name in Self.names {
      let path = folder + "/" + name
      guard FileManager.default.fileExists(atPath: path) else { continue }
      let db = try Database(path: path, configuration: configuration)
      let check = try db.value("PRAGMA integrity_check", as: String.self)
      guard check == "ok" else {
        throw WrongAnswer(description: "\(name) is corrupt: \(check ?? "no answer")")
      }
      try add(db, name)
      try db.close()
    }
  }

  private mutating func add(_ db: Database, _ name: String) throws {
    let tables = try db.schema().filter { $0.kind == .table }.map(\.name).sorted()
    var digest = Hasher()
    var isEmpty = true
    for table in tables where !Self.apart.contains(table) {
      isEmpty = false
      digest.combine(table)
      // When a migration was applied, and how long it took, differs.
      let columns: SQL = table == "larder_migration" ? "position, name" : "*"
      try db.executeQuery("SELECT \(columns) FROM \(identifier: table) ORDER BY 1").forEach { row in
        for index in 0..<row.columnCount { digest.combine(try row[index]) }
      }
    }
    if !isEmpty { files[name] = digest.finalize() }
    if name == "main.db", tables.contains("payment") {
      payments = try Self.keys(db, "SELECT id FROM payment")
      receipts = try Self.keys(db, "SELECT payment FROM receipt")
    }
  }

  private static func keys(_ db: Database, _ query: SQL) throws -> Set<Int> {
    Set(try db.executeQuery(query).map { try $0.get(at: 0, as: Int.self) })
  }

  /// What is wrong with this state after a step that began at one state and should have led to
  /// another.
  func fault(
    from before: DatabaseState, to after: DatabaseState, isTogether: Bool, acknowledged: [Int]
  ) -> String? {
    if payments != receipts {
      return "half transactions: \(payments.symmetricDifference(receipts))"
    }
    let lost = acknowledged.filter { !payments.contains($0) }
    if !lost.isEmpty { return "acknowledged payments are lost: \(lost)" }
    if files == before.files || files == after.files { return nil }
    if isTogether { return "the files are neither as before the step nor as after it" }
    let name = Self.names.first { files[$0] != before.files[$0] && files[$0] != after.files[$0] }
    return name.map { "\($0) is neither as before the step nor as after it" }
  }
}
