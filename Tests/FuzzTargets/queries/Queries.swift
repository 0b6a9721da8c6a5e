import Foundation
import Larder
import RandomQueries
import TestSupport

// Queries of any shape: they compile, with as many parameters as arguments, and have rows. They
// are the random queries of the tests; here the input makes their choices.

let data = {
  var source = SeededGenerator(seed: 1)
  return RandomData(&source)
}()

nonisolated(unsafe) let databases = expectSuccess("opening") {
  let db = try Database()
  // Tables that are joined with themselves again and again have billions of rows.
  db.statementDeadline = .seconds(1)
  try db.executeStatements(SQL(raw: data.script))
  return try RandomDatabases(db, data)
}

/// One run of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(bytes, count)
  let query = TreeGenerator(SeededGenerator(bytes: input.remainder()), data).query()
  let (sql, db) = (query.sql, databases[query])
  // Long queries are slow, and find nothing that short ones don't.
  if sql.text.utf8.count > 5_000 { return -1 }
  do {
    let statement = try db.prepare(sql)
    if statement.parameterCount != sql.arguments.count {
      found("\(statement.parameterCount) parameters, \(sql.arguments.count) arguments: \(sql)")
    }
    statement.close()
    // To have rows takes ten times as long.
    if count % 16 > 0 { return 0 }
    let rows = try query.fetch(db)
    if let count = query.count, try count(db) != rows.count { found("another count: \(sql)") }
  } catch let error as DatabaseError where error.code == .interrupt {
  } catch let error as DatabaseError where error.message == "parser stack overflow" {
    // SQLite has its limits, to which random queries may come by nesting.
  } catch  where query.refusal != nil {
  } catch {
    found("\(sql.text): \(error)")
  }
  return 0
}
