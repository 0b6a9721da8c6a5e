import Larder

/// The error that the closure throws, or nil if it throws none of this type.
func failure<E: Error, T>(_ type: E.Type, _ body: () throws -> T) -> E? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? E
  }
}

/// The description of the record error that the closure throws.
func recordFailure<T>(_ body: () throws -> T) -> String? {
  failure(RecordError.self, body).map { "\($0)" }
}

/// The problem that a query finds in the table's declaration.
func problem<R: Record>(of type: R.Type) throws -> String? {
  let db = try Database.empty()
  guard
    case .declaration(let table, let problem)? = failure(RecordError.self, { try R.fetchAll(db) })
  else { return nil }
  return table == R.table.name ? problem : nil
}

/// The parts of ``RecordError/conversion(table:column:key:error:)``.
struct ConversionFailure {
  let table: String
  let column: String
  let key: [DatabaseValue]
  let kind: ConversionError.Kind
  let type: String
  let sql: String?

  init?(_ error: (any Error)?) {
    guard case RecordError.conversion(let table, let column, let key, let error)? = error else {
      return nil
    }
    self.table = table
    self.column = column
    self.key = key
    kind = error.kind
    type = error.type
    sql = error.column == column ? error.sql : nil
  }
}

/// The conversion error that the closure throws.
func conversionFailure<T>(_ body: () throws -> T) -> ConversionFailure? {
  ConversionFailure(failure(RecordError.self, body))
}

/// The index and the error of the record at which a batch of cities failed.
struct BatchFailure {
  let index: Int
  let error: any Error

  init?<T>(_ body: () throws -> T) {
    guard case .batch("city", let index, let error)? = failure(RecordError.self, body) else {
      return nil
    }
    self.index = index
    self.error = error
  }
}
