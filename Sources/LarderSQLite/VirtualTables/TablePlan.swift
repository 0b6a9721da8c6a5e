import CSQLite

/// How a scan of a table asks for its rows: which of a statement's constraints it is told of, and in what order the rows
/// come. See [xBestIndex](https://www.sqlite.org/vtab.html#xbestindex).
struct TablePlan: Hashable {
  /// What one of the values is that a scan gets.
  struct Use: Hashable {
    enum Kind: Hashable {
      case equal, above, from, below, upTo
      /// One of a list.
      case among
      case limit, offset
    }

    let kind: Kind
    /// The number of the column.
    var column = 0
    /// What texts are compared by.
    var collation: String?
    /// Whether the value stands in the statement: then it isn't a column's, by whose type SQLite would convert.
    var isLiteral = false
  }

  struct Order: Hashable {
    let column: Int
    let isDescending: Bool
  }

  /// In the order of the values.
  private(set) var uses: [Use] = []
  private(set) var order: [Order] = []

  /// A constant of SQLite's, from 3.38 on.
  private static let (limit, offset): (UInt8, UInt8) = (73, 74)
  /// About as many rows as a table is said to have, of which nothing is known before it is read.
  private static let expectedRows = 1000.0

  /// Plans a scan, and tells SQLite what it takes.
  ///
  /// SQLite compares all again. So a constraint is taken where the rows that the table finds are among others those
  /// that SQLite would find; what they have to be equal by is asked for each.
  init(_ columns: [VirtualColumn], _ info: UnsafeMutablePointer<sqlite3_index_info>) {
    let constraints = UnsafeBufferPointer(
      start: info.pointee.aConstraint, count: Int(info.pointee.nConstraint))
    var rows = Self.expectedRows
    for (index, constraint) in constraints.enumerated() {
      guard constraint.usable != 0 else { continue }
      if constraint.op == Self.limit || constraint.op == Self.offset {
        take(Use(kind: constraint.op == Self.limit ? .limit : .offset), index, info)
        continue
      }
      guard let use = Self.use(of: constraint, index, columns, info),
        !uses.contains(where: { $0.conflicts(with: use) })
      else { continue }
      take(use, index, info)
      rows = max(1, rows / (use.kind == .equal ? 100 : use.kind == .among ? 10 : 4))
    }
    takeOrder(columns, info)
    info.pointee.estimatedRows = Int64(rows)
    info.pointee.estimatedCost = rows * 2
  }

  private static func collation(
    _ constraint: Int, _ info: UnsafeMutablePointer<sqlite3_index_info>
  ) -> String {
    sqlite3_vtab_collation(info, Int32(constraint)).map { String(cString: $0) } ?? "BINARY"
  }

  private mutating func take(
    _ use: Use, _ index: Int, _ info: UnsafeMutablePointer<sqlite3_index_info>
  ) {
    uses.append(use)
    info.pointee.aConstraintUsage[index].argvIndex = Int32(uses.count)
    info.pointee.aConstraintUsage[index].omit = 0
  }

  /// What a constraint is for the table; nil where the table can't be asked by it.
  private static func use(
    of constraint: sqlite3_index_constraint, _ index: Int, _ columns: [VirtualColumn],
    _ info: UnsafeMutablePointer<sqlite3_index_info>
  ) -> Use? {
    guard columns.indices.contains(Int(constraint.iColumn)) else { return nil }
    let column = columns[Int(constraint.iColumn)]
    let kind: Use.Kind
    switch Int32(constraint.op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: kind = .equal
    case SQLITE_INDEX_CONSTRAINT_GT: kind = .above
    case SQLITE_INDEX_CONSTRAINT_GE: kind = .from
    case SQLITE_INDEX_CONSTRAINT_LT: kind = .below
    case SQLITE_INDEX_CONSTRAINT_LE: kind = .upTo
    default: return nil
    }
    let collation = collation(index, info)
    if kind == .equal {
      guard column.access.contains(.value), column.finds(collation) else { return nil }
      // One by one SQLite would compare a list's values again as if they were of no column.
      if larder_vtab_takes_list(info, Int32(index)) {
        // Rows of each value are told from the others' by its collation, if that is SQLite's own.
        let isKnown = ["BINARY", "NOCASE", "RTRIM"].contains(collation.uppercased())
        guard isKnown || !column.hasTexts else { return nil }
        return Use(kind: .among, column: Int(constraint.iColumn), collation: collation)
      }
    } else {
      guard column.access.contains(.range), column.isOrdered(by: collation) else { return nil }
    }
    return Use(
      kind: kind, column: Int(constraint.iColumn),
      isLiteral: larder_vtab_is_literal(info, Int32(index)))
  }

  /// Has the rows come in the order that the statement asks for, where the table can do that.
  private mutating func takeOrder(
    _ columns: [VirtualColumn], _ info: UnsafeMutablePointer<sqlite3_index_info>
  ) {
    let terms = UnsafeBufferPointer(start: info.pointee.aOrderBy, count: Int(info.pointee.nOrderBy))
    // A list's rows come value by value.
    if terms.isEmpty || uses.contains(where: { $0.kind == .among }) { return }
    // SQLite passes on no term with another collation than the column's.
    for term in terms {
      guard columns.indices.contains(Int(term.iColumn)),
        columns[Int(term.iColumn)].access.contains(.order)
      else { return }
    }
    order = terms.map { Order(column: Int($0.iColumn), isDescending: $0.desc != 0) }
    info.pointee.orderByConsumed = 1
  }
}

extension TablePlan.Use {
  /// Whether only one of both can be told of.
  fileprivate func conflicts(with other: TablePlan.Use) -> Bool {
    // One list after the other would be needed for each value of the first.
    if kind == .among { return other.kind == .among }
    guard column == other.column else { return false }
    return switch (kind, other.kind) {
    case (.equal, .equal): true
    case (.above, .above), (.above, .from), (.from, .above), (.from, .from): true
    case (.below, .below), (.below, .upTo), (.upTo, .below), (.upTo, .upTo): true
    default: false
    }
  }
}
