import Larder
import LarderSQLite

/// A virtual table, seen by a copy to a server. The server doesn't have the module, but the rows may be stored
/// nowhere else, so they are copied into an ordinary table.
struct CopiedVirtualTable {
  /// The place where the rows are stored.
  enum Rows: Equatable {
    case own
    /// The table to which the full-text index belongs.
    case other(String)
    /// The rows are computed, or can't be read again: a contentless full-text index, `dbstat`.
    case nowhere
  }

  let name: String
  /// The module's name in lower case, such as `fts5`.
  let module: String
  let rows: Rows

  /// Nil if the entry isn't a virtual table.
  init?(_ entry: SchemaEntry) {
    guard entry.isVirtualTable, let tokens = entry.sql?.sqlTokens,
      let using = tokens.firstIndex(where: { $0.isWord("using") }), using + 1 < tokens.count,
      let module = tokens[using + 1].name?.lowercased()
    else { return nil }
    name = entry.name
    self.module = module
    switch module {
    case "fts3", "fts4", "fts5":
      let options = tokens.group(from: using)?.tokens.splitAtCommas() ?? []
      let content = options.first {
        $0.count >= 2 && $0[0].isWord("content") && $0[1].isSymbol("=")
      }
      let table = content.map { $0.dropFirst(2).first?.name ?? "" }
      rows = table.map { $0.isEmpty ? .nowhere : .other($0) } ?? .own
    case "rtree", "rtree_i32", "geopoly": rows = .own
    default: rows = .nowhere
    }
  }

  private var isText: Bool { ["fts3", "fts4", "fts5"].contains(module) }

  /// The description of what a server doesn't get, for the report.
  var lossOnServer: String {
    switch rows {
    case .own where isText: "the full-text index of “\(name)”, whose texts are copied as a table"
    case .own: "the module \(module) of “\(name)”, whose rows are copied as a table"
    case .other(let table): "the full-text index “\(name)” of “\(table)”"
    case .nowhere where isText: "the full-text index “\(name)”, which doesn't keep its texts"
    case .nowhere: "the virtual table “\(name)” of the module \(module)"
    }
  }

  /// The reason why the rows can't be read, if only the program that made the file could; nil if there is none.
  func reasonAgainstReading(in db: Database) throws -> String? {
    guard rows == .own else { return nil }
    do {
      _ = try table(in: db)
      return nil
    } catch let error as DatabaseError where error.isOfOtherProgram {
      return error.message
    }
  }

  /// The table that the rows are copied from. Its key is the row id, unless a column holds it.
  func table(in db: Database) throws -> CopiedTable? {
    guard rows == .own, let table = try TableSchema.found(name, in: db, schema: "main") else {
      return nil
    }
    return try CopiedTable(ofVirtual: table, hasOwnKey: module.hasPrefix("rtree"), db)
  }
}
