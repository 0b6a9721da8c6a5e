import Larder

/// A database that is checked, in a file or on a server.
class CheckedSource {
  let db: Database
  /// The database's name in the report.
  let name: String
  /// The number of tables that rules are applied to.
  let tableCount: Int
  /// Sentences about everything that was skipped, or read only in part.
  private(set) var remarks: [String] = []

  init(_ db: Database, name: String, tableCount: Int) {
    self.db = db
    self.name = name
    self.tableCount = tableCount
  }

  func remark(_ text: String) {
    if !remarks.contains(text) { remarks.append(text) }
  }

  /// Returns what a closure finds. If the database reports an error, adds a remark, and the check continues.
  func attempt(_ what: String, _ body: () throws -> [Evidence]) throws -> [Evidence] {
    do {
      return try body()
    } catch let error as DatabaseError where !error.isInterrupt {
      remark("\(what): \(error.message)")
      return []
    }
  }
}
