import Larder
import ProofSupport
import TestSupport

/// The rows of tables as they were read at one moment, with their columns, to which changes are applied.
struct TableCopy: Sendable {
  private var columns: [String: [String]] = [:]
  /// How often there is a row.
  private var rows: [String: [Row: Int]] = [:]

  /// A row that is equal where all bytes are.
  private struct Row: Hashable {
    let bytes: [UInt8]

    init(_ values: [DatabaseValue]) {
      var bytes: [UInt8] = []
      func add(_ tag: UInt8, _ content: some Sequence<UInt8>) {
        let content = Array(content)
        bytes += [tag] + withUnsafeBytes(of: content.count) { Array($0) } + content
      }
      for value in values {
        switch value {
        case .null: add(0, [])
        case .integer(let number): add(1, withUnsafeBytes(of: number) { Array($0) })
        case .real(let number): add(2, withUnsafeBytes(of: number.bitPattern) { Array($0) })
        case .text(let text): add(3, text.utf8)
        case .blob(let blob): add(4, blob)
        }
      }
      self.bytes = bytes
    }
  }

  init(of tables: [String], in db: Database) throws {
    for table in tables {
      let found = try db.executeQuery("SELECT * FROM \(identifier: table)")
      columns[table] = try db.columns(of: table).map(\.name)
      var counts: [Row: Int] = [:]
      while try found.next() {
        counts[Row(try (0..<found.columnCount).map { try found.get(at: $0) }), default: 0] += 1
      }
      rows[table] = counts
    }
  }

  /// Makes one change; throws where it doesn't fit.
  mutating func apply(_ change: RowChange) throws {
    guard let known = columns[change.table], known == change.columns else {
      throw WrongAnswer(
        description: "\(change.table) has \(columns[change.table] ?? []), not \(change.columns)")
    }
    if let old = change.old.map(Row.init) {
      guard let count = rows[change.table]?[old] else {
        throw WrongAnswer(description: "there is no row to change: \(change)")
      }
      rows[change.table]?[old] = count > 1 ? count - 1 : nil
    }
    if let new = change.new.map(Row.init) { rows[change.table]?[new, default: 0] += 1 }
  }

  /// All rows, whatever their order.
  var state: [String: [[UInt8]]] {
    rows.mapValues { counts in
      counts.flatMap { Array(repeating: $0.key.bytes, count: $0.value) }
        .sorted { $0.lexicographicallyPrecedes($1) }
    }
  }
}
