import Foundation
import LarderSQLite

/// A table of comma-separated values in `Sample/Data`.
struct CSVFile {
  let columns: [String]
  let rows: [[String]]

  /// The error of a file whose rows don't all have its columns.
  struct Malformed: Error { let name: String }

  init(_ name: String) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let data = try Data(contentsOf: root.appendingPathComponent("Sample/Data/\(name).csv"))
    var rows = Self.rows([UInt8](data))
    guard !rows.isEmpty else { throw Malformed(name: name) }
    let columns = rows.removeFirst()
    guard rows.allSatisfy({ $0.count == columns.count }) else { throw Malformed(name: name) }
    (self.columns, self.rows) = (columns, rows)
  }

  private static func rows(_ bytes: [UInt8]) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    for byte in bytes where byte != UInt8(ascii: "\r") || isQuoted {
      switch byte {
      // A doubled quote ends the quoted part and begins the next one.
      case UInt8(ascii: "\""):
        if !isQuoted, !field.isEmpty { field.append(byte) }
        isQuoted.toggle()
      case UInt8(ascii: ",") where !isQuoted, UInt8(ascii: "\n") where !isQuoted:
        row.append(String(decoding: field, as: UTF8.self))
        field = []
        if byte == UInt8(ascii: "\n") {
          rows.append(row)
          row = []
        }
      default: field.append(byte)
      }
    }
    return rows
  }
}
