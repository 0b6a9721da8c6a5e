import CSQLite
import Larder

/// The requests of one scan: a single one, or one for each value of a list.
struct TableScan {
  /// A column and the values of which it has to have one.
  struct List {
    let column: Int
    let collation: String?
    var values: [DatabaseValue]
  }

  private(set) var request = VirtualTableRequest()
  private(set) var list: List?
  /// Whether no row can match.
  private(set) var isEmpty = false

  /// Reads the values of a plan. Pointer safety: SQLite has made the values for the current call.
  init(
    _ plan: TablePlan, _ values: UnsafeBufferPointer<OpaquePointer?>,
    _ columns: [VirtualColumn],
    _ format: StorageFormat
  ) throws {
    request.order = plan.order.map {
      (column: columns[$0.column].name, isDescending: $0.isDescending)
    }
    var (limit, offset): (Int64?, Int64) = (nil, 0)
    for case (let use, let value?) in zip(plan.uses, values) {
      switch use.kind {
      case .limit: limit = sqlite3_value_int64(value)
      case .offset: offset = max(0, sqlite3_value_int64(value))
      case .among: try take(value, listedBy: use, columns[use.column], format)
      case .equal:
        let column = columns[use.column]
        take(RequestedValue(equalTo: value, column, isLiteral: use.isLiteral, format)) {
          request, value, _ in request.value[column.name] = value
        }
      case .bound(let isLower, let isIncluded):
        let column = columns[use.column]
        let found = RequestedValue(
          bound: value, isLower: isLower, isIncluded: isIncluded, column, isLiteral: use.isLiteral,
          format)
        take(found) {
          let end = isLower ? \VirtualTableRequest.Range.lower : \.upper
          $0.range[column.name, default: .init()][keyPath: end] = .init(value: $1, isIncluded: $2)
        }
      }
    }
    if let limit, limit >= 0 {
      let (sum, overflow) = limit.addingReportingOverflow(offset)
      request.limit = overflow ? nil : Int(sum)
    }
  }

  private mutating func take(
    _ found: RequestedValue, _ add: (inout VirtualTableRequest, DatabaseValue, Bool) -> Void
  ) {
    switch found {
    case .none: isEmpty = true
    case .any: break
    case .value(let value, let isIncluded): add(&request, value, isIncluded)
    }
  }

  private mutating func take(
    _ given: OpaquePointer, listedBy use: TablePlan.Use, _ column: VirtualColumn,
    _ format: StorageFormat
  ) throws {
    var values: [DatabaseValue] = []
    var next: OpaquePointer?
    var code = larder_vtab_list_next(given, true, &next)
    while code == SQLITE_OK, let value = next {
      switch RequestedValue(equalTo: value, column, isLiteral: false, format) {
      case .none: break
      // All rows have to be read, once.
      case .any: return
      case .value(let value, _): values.append(value)
      }
      code = larder_vtab_list_next(given, false, &next)
    }
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "the values of a list can't be read")
    }
    list = List(column: use.column, collation: use.collation, values: values.reversed())
    if values.isEmpty { isEmpty = true }
  }

  /// The next request and, if it is for one value of a list, that value; nil if there is none.
  mutating func next(
    _ columns: [VirtualColumn]
  ) -> (request: VirtualTableRequest, wanted: WantedValue?)? {
    guard !isEmpty else { return nil }
    guard let column = list?.column, let collation = list?.collation else {
      isEmpty = true
      return (request, nil)
    }
    guard let value = list?.values.popLast() else { return nil }
    var request = request
    if request.value[columns[column].name] == nil { request.value[columns[column].name] = value }
    return (request, WantedValue(column: column, value: value, collation: collation))
  }
}

/// The one value of a list that a request is for. Rows with other values are skipped: the requests for those
/// find them.
struct WantedValue {
  let column: Int
  let value: DatabaseValue
  let collation: String

  func isIn(_ row: [DatabaseValue]) -> Bool {
    // Only SQLite knows the order of a custom collation, so no list is requested by one.
    column < row.count && row[column].compare(to: value, collation) == 0
  }
}
