import CLibPQ

/// Rows that are read into memory because another statement has to run.
enum KeptRows {
  /// Copies the single row of a result to the end of another: a result of its own takes 2 KiB. Returns false
  /// if memory is short.
  static func append(_ result: OpaquePointer, to kept: OpaquePointer) -> Bool {
    let place = PQntuples(kept)
    return (0..<PQnfields(result)).allSatisfy { column in
      let isNull = PQgetisnull(result, 0, column) == 1
      return PQsetvalue(
        kept, place, column, isNull ? nil : PQgetvalue(result, 0, column),
        isNull ? -1 : PQgetlength(result, 0, column)) == 1
    }
  }
}
