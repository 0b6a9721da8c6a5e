import CSQLite

/// Answers the requests for the rows of one open table, of which statements say by their constraints which
/// they need, and in which order.
package protocol TableRequests: AnyObject {
  /// Whether scans may be asked for a part of the rows, so that they find different ones.
  var hasAccess: Bool { get }

  /// Chooses a plan for a scan, and returns the number under which SQLite knows it.
  func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>) -> Int

  /// Begins a scan by the plan with a number. Returns a function that gives its requests one by one, and
  /// then nil. Pointer safety: SQLite has made the values for the current call.
  func scan(
    _ plan: Int, _ values: UnsafeBufferPointer<OpaquePointer?>, _ format: StorageFormat
  ) throws -> () -> TableRequest?
}

/// One request for rows.
package struct TableRequest {
  /// The values in it, which error messages leave out.
  let values: [DatabaseValue]
  let makeRows: () throws -> TableRows

  package init(values: [DatabaseValue], makeRows: @escaping () throws -> TableRows) {
    self.values = values
    self.makeRows = makeRows
  }
}
