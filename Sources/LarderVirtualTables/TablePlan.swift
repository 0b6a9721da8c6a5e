import CSQLite
import Larder

/// A plan for a scan of a table: which of the statement's constraints the table is told of, and the order of
/// the rows. See [xBestIndex](https://www.sqlite.org/vtab.html#xbestindex).
struct TablePlan: Hashable {
  /// The role of one value that a scan is given.
  struct Use: Hashable {
    enum Kind: Hashable {
      case equal
      /// One end of a range.
      case bound(isLower: Bool, isIncluded: Bool)
      /// A list of values, one of which the column has to have.
      case among
      case limit, offset
    }

    let kind: Kind
    /// The index of the column.
    var column = 0
    /// The collation by which texts are compared.
    var collation: String?
    /// Whether the value is a literal in the statement: then it has no column whose type SQLite would convert
    /// by.
    var isLiteral = false
  }

  struct Order: Hashable {
    let column: Int
    let isDescending: Bool
  }

  /// The roles of a scan's values, in their order.
  private(set) var uses: [Use] = []
  private(set) var order: [Order] = []

  /// SQLite's codes of LIMIT and OFFSET constraints, which exist from 3.38 on.
  private static let (limit, offset): (UInt8, UInt8) = (73, 74)
  /// The estimated number of rows; nothing is known of them before the table is read.
  private static let expectedRows = 1000.0

  /// Chooses a plan, and tells SQLite which constraints it uses.
  ///
  /// SQLite checks all constraints again. So a constraint can be used if the table's rows include all that
  /// SQLite would find. The collation is asked for each constraint.
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

  /// The role of a constraint; nil if the table can't use it.
  private static func use(
    of constraint: sqlite3_index_constraint, _ index: Int, _ columns: [VirtualColumn],
    _ info: UnsafeMutablePointer<sqlite3_index_info>
  ) -> Use? {
    guard columns.indices.contains(Int(constraint.iColumn)) else { return nil }
    let column = columns[Int(constraint.iColumn)]
    let kind: Use.Kind
    switch Int32(constraint.op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: kind = .equal
    case SQLITE_INDEX_CONSTRAINT_GT: kind = .bound(isLower: true, isIncluded: false)
    case SQLITE_INDEX_CONSTRAINT_GE: kind = .bound(isLower: true, isIncluded: true)
    case SQLITE_INDEX_CONSTRAINT_LT: kind = .bound(isLower: false, isIncluded: false)
    case SQLITE_INDEX_CONSTRAINT_LE: kind = .bound(isLower: false, isIncluded: true)
    default: return nil
    }
    let collation = collation(index, info)
    if kind == .equal {
      guard column.access.contains(.value), column.finds(collation) else { return nil }
      // If SQLite passed a list's values one by one, it would compare them again without any column's type.
      if larder_vtab_takes_list(info, Int32(index)) {
        // Rows of each value are told apart by the collation, which works for built-in ones only.
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

  /// Uses the statement's order, if the table can return its rows in it.
  private mutating func takeOrder(
    _ columns: [VirtualColumn], _ info: UnsafeMutablePointer<sqlite3_index_info>
  ) {
    let terms = UnsafeBufferPointer(start: info.pointee.aOrderBy, count: Int(info.pointee.nOrderBy))
    // The rows of a list come value by value, in no common order.
    if terms.isEmpty || uses.contains(where: { $0.kind == .among }) { return }
    // SQLite only passes on terms that have the column's collation.
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
  /// Whether only one of both constraints can be used.
  fileprivate func conflicts(with other: TablePlan.Use) -> Bool {
    // A second list would have to be repeated for each value of the first.
    if kind == .among { return other.kind == .among }
    guard column == other.column else { return false }
    return switch (kind, other.kind) {
    case (.equal, .equal): true
    case (.bound(let isLower, _), .bound(let isOtherLower, _)): isLower == isOtherLower
    default: false
    }
  }
}
