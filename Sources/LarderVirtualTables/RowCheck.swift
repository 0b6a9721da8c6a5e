import Larder

/// Checks rows against the declaration of their table: the columns' types, and the order that was asked for.
/// SQLite relies on both, and would otherwise find and group rows incorrectly.
struct RowCheck {
  private let table: String
  private let columns: [VirtualColumn]
  private let key: Int?
  private let order: [TablePlan.Order]
  let wanted: WantedValue?
  private var last: [DatabaseValue]?

  /// Returns nil if there is nothing to check.
  init?(
    _ table: String, _ columns: [VirtualColumn], key: Int?, _ order: [TablePlan.Order],
    _ wanted: WantedValue?
  ) {
    let isTyped = columns.contains { $0.type != nil }
    guard key != nil || !order.isEmpty || wanted != nil || isTyped else { return nil }
    (self.table, self.columns, self.key, self.order) = (table, columns, key, order)
    self.wanted = wanted
  }

  /// Converts a row's values to their columns' types. Returns false if the row isn't wanted. Throws if a
  /// value has another type, the primary key is NULL, or the row is out of order.
  mutating func check(_ row: inout [DatabaseValue]) throws -> Bool {
    while row.count < columns.count { row.append(.null) }
    for (index, column) in columns.enumerated() {
      guard let stored = column.stored(row[index]) else {
        throw DatabaseError(
          .mismatch,
          "the value of column \(column.name) of \(table) isn't of the declared type")
      }
      // Assigning every value would copy each row.
      if row[index].storageClass != stored.storageClass { row[index] = stored }
    }
    if let key, row[key].isNull {
      throw DatabaseError(.mismatch, "the primary key of a row of \(table) is NULL")
    }
    if let wanted, !wanted.isIn(row) { return false }
    guard !order.isEmpty else { return true }
    if let last, !isInOrder(last, row) {
      throw DatabaseError(
        .misuse, "\(table) didn't return its rows in the requested order")
    }
    last = row
    return true
  }

  private func isInOrder(_ first: [DatabaseValue], _ second: [DatabaseValue]) -> Bool {
    for term in order {
      guard
        let difference = first[term.column].compare(
          to: second[term.column], columns[term.column].collation)
        // Only SQLite knows the order of a custom collation.
      else { return true }
      if difference != 0 { return (difference < 0) != term.isDescending }
    }
    return true
  }
}

extension DatabaseValue {
  /// Compares in SQLite's order: negative if this value comes first, 0 if both are equal; nil if the
  /// collation isn't built in.
  func compare(to other: DatabaseValue, _ collation: String?) -> Int? {
    switch (self, other) {
    case (.integer(let first), .integer(let second)): first.order(second)
    case (.real(let first), .real(let second)): first.order(second)
    case (.integer(let first), .real(let second)): Self.compare(first, second)
    case (.real(let first), .integer(let second)): Self.compare(second, first) * -1
    case (.text(let first), .text(let second)): Self.compare(first, second, collation)
    case (.blob(let first), .blob(let second)):
      first.lexicographicallyPrecedes(second) ? -1 : first == second ? 0 : 1
    default: rank.order(other.rank)
    }
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  /// Compares exactly, since a Double can't represent every integer.
  private static func compare(_ integer: Int64, _ real: Double) -> Int {
    guard let whole = Int64(exactly: real.rounded(.down)) else { return real > 0 ? -1 : 1 }
    return integer != whole ? integer.order(whole) : real > Double(whole) ? -1 : 0
  }

  private static func compare(_ first: String, _ second: String, _ collation: String?) -> Int? {
    let bytes: (String) -> [UInt8]
    switch collation?.uppercased() {
    case nil, "BINARY": bytes = { Array($0.utf8) }
    case "NOCASE": bytes = { $0.foldedName }
    case "RTRIM": bytes = { Array($0.utf8.reversed().drop { $0 == 0x20 }.reversed()) }
    default: return nil
    }
    let (one, other) = (bytes(first), bytes(second))
    return one.lexicographicallyPrecedes(other) ? -1 : one == other ? 0 : 1
  }
}

extension Comparable {
  fileprivate func order(_ other: Self) -> Int { self < other ? -1 : self == other ? 0 : 1 }
}
