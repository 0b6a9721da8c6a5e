import CSQLite
import Larder

/// One open ``VirtualTable``: the plans of the statements that read it, and the transaction that writes it.
final class RequestedTable: TableRequests {
  let name: String
  let columns: [VirtualColumn]
  /// The index of the primary key's column; nil if there is none.
  let primaryKey: Int?
  let changes: VirtualTableChanges?
  private let rows: @Sendable (VirtualTableRequest, RowCheck?) throws -> TableRows
  /// The plans, by the numbers under which SQLite knows them. Kept for good, since compiled statements use
  /// them.
  private var plans: [TablePlan] = []
  /// Whether the current transaction has changed rows, so that the table was told of its beginning.
  @exclusivity(unchecked) var hasChanges = false

  init(_ name: String, _ table: VirtualTable) {
    self.name = name
    columns = table.columns
    primaryKey = table.keyIndex
    changes = table.changes
    rows = table.rows
  }

  var hasAccess: Bool { columns.contains { !$0.access.isEmpty } }

  func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>) -> Int {
    let plan = TablePlan(columns, info)
    if let number = plans.firstIndex(of: plan) { return number }
    plans.append(plan)
    return plans.count - 1
  }

  func scan(
    _ plan: Int, _ values: UnsafeBufferPointer<OpaquePointer?>, _ format: StorageFormat
  ) throws -> () -> TableRequest? {
    let order = plans[plan].order
    var scan = try TableScan(plans[plan], values, columns, format)
    return { [name, columns, primaryKey, rows] in
      guard let (request, wanted) = scan.next(columns) else { return nil }
      return TableRequest(values: request.values) {
        try rows(request, RowCheck(name, columns, key: primaryKey, order, wanted))
      }
    }
  }
}

extension TableRows {
  /// Rows as lists. Missing values are NULL.
  ///
  /// - Parameter check: checks each row: it skips unwanted ones, and throws for invalid ones.
  convenience init<Rows: Sequence>(
    lists rows: Rows, columnCount: Int, check: RowCheck?
  ) where Rows.Element == [DatabaseValue] {
    let state = RowState(rows.makeIterator(), [DatabaseValue].self)
    let columns = (0..<columnCount).map { TableColumn(element: $0) }
    if var check {
      self.init(state.place, columns) {
        while var row = state.iterator.next() {
          if try check.check(&row) { return state.take(row) }
        }
        return false
      }
    } else {
      self.init(state.place, columns) { state.take(state.iterator.next()) }
    }
    list = {
      let row = state.row.pointee
      return (0..<columnCount).map { $0 < row.count ? row[$0] : .null }
    }
  }
}

extension TableColumn {
  /// An element of a list; NULL if the list is shorter.
  fileprivate init(element index: Int) {
    self.init(at: 0, plain: nil) { place, binder in
      let list = place.assumingMemoryBound(to: [DatabaseValue].self).pointee
      try (index < list.count ? list[index] : .null).bind(to: binder)
    }
  }
}
