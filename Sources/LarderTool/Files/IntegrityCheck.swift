import Larder
import LarderTerminal

/// SQLite's check of a file for damage. It leaves out parts that only the program that made the file can
/// compute, since their errors aren't damage.
struct IntegrityCheck {
  /// The lines that SQLite reports: `ok` alone, or one for each problem.
  private(set) var lines: [String] = []
  /// Remarks about the tables that weren't checked, or only in part.
  private(set) var remarks: [String] = []

  /// - Parameter isQuick: whether indexes aren't compared with their tables.
  init(_ db: Database, isQuick: Bool, mostLines: Int = 100) throws {
    let check = isQuick ? "quick_check" : "integrity_check"
    let foreign = isQuick ? [:] : try Self.foreignCollations(db)
    if foreign.isEmpty {
      do {
        try run("\(check)(\(mostLines))", db)
        return
      } catch let error as DatabaseError where error.isOfOtherProgram {
        lines = []
      }
    }
    remarks.append("the file's unused pages weren't checked")
    let tables: [String] = try db.executeQuery(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND rootpage > 0"
    ).map { try $0.get(at: 0) }
    for table in tables {
      let collation = foreign[table.foldedName]
      let own = collation == nil ? check : "quick_check"
      do {
        try run("\(own)(\(table.quotedIdentifier))", db)
        guard let collation else { continue }
        remarks.append(
          "the indexes of “\(table)” weren't checked: only the program has the collation \(collation)"
        )
      } catch let error as DatabaseError where error.isOfOtherProgram {
        remarks.append("“\(table)” wasn't checked for damage: \(error.message)")
      }
    }
  }

  private mutating func run(_ pragma: String, _ db: Database) throws {
    do {
      try db.executeQuery(SQL(raw: "PRAGMA main.\(pragma)")).forEach {
        let text = try $0.get(at: 0, as: String.self)
        lines += text.split(separator: "\n").filter { !$0.hasPrefix("***") }.map(String.init)
      }
    } catch let error as DatabaseError where !error.isInterrupt && !error.isOfOtherProgram {
      // If damage ends the check with an error, the lines before it count too.
      lines.append(error.message)
    }
  }

  /// The first collation of each table that SQLite doesn't have, by the table's folded name.
  private static func foreignCollations(_ db: Database) throws -> [[UInt8]: String] {
    var collations: [[UInt8]: String] = [:]
    for entry in try db.schema() where entry.kind == .table || entry.kind == .index {
      guard !entry.isVirtualTable, let name = entry.foreignCollations.first else { continue }
      collations[entry.table.foldedName] = name
    }
    return collations
  }
}
