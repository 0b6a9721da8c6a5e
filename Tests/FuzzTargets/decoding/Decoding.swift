import Foundation
import Larder

// Values of every storage class, text that isn't UTF-8 among them, read as every type: by `get`, as a
// property of a record, and as one of a Decodable type. It gives the value or an error.

nonisolated(unsafe) let db = expectSuccess("opening") {
  let db = try Database()
  try Everything.create(db)
  return db
}

/// One run of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(data, count)
  let column = input.number(below: 256)
  let format = formats[input.number(below: formats.count)]
  var value = input.value()
  var bytes: [UInt8]?
  // Text of any bytes is stored as a blob that is cast.
  if case .text = value {
    let all = input.remainder()
    bytes = all
    value = .text(String(decoding: all, as: UTF8.self))
  }
  do {
    try read(value, bytes, as: Reader.types[column % Reader.types.count])
    try readRecord(column, value, bytes)
    checkDate(format, value)
  } catch {
    found("\(error)")
  }
  return 0
}

let formats: [DateFormat] = [
  .secondsSince1970, .unixMilliseconds, .julianDay, .iso8601, .sqlDateTime,
  .sqlDateTimeMilliseconds, .sqlDate, .iso8601Seconds,
]

func read(
  _ value: DatabaseValue, _ bytes: [UInt8]?, as type: any DatabaseValueConvertible.Type
) throws {
  let sql: SQL = "SELECT CASE WHEN ?1 THEN CAST(?2 AS TEXT) ELSE ?3 END AS v"
  let rows = try db.executeQuery(sql, bytes != nil, bytes, value)
  guard try rows.next() else { found("no row") }
  let isText = bytes.map { String(validating: $0, as: UTF8.self) != nil } ?? true
  Reader(rows: rows, value: value, isValid: isText).check(type)
}

enum Size: Int, DatabaseValueConvertible { case small = 1, large }
enum Name: String, DatabaseValueConvertible { case oslo = "Oslo", empty = "" }

/// Compares what a row gives with what the value gives by itself.
struct Reader {
  let rows: ResultSet
  let value: DatabaseValue
  let isValid: Bool

  static let types: [any DatabaseValueConvertible.Type] = [
    Bool.self, Int.self, Int8.self, Int16.self, Int32.self, UInt.self, UInt8.self, UInt16.self,
    UInt32.self, UInt64.self, Float.self, Double.self, String.self, [UInt8].self, Data.self,
    Date.self, UUID.self, URL.self, Decimal.self, Size.self, Name.self, Int?.self, String?.self,
    Decimal?.self, DatabaseValue.self,
  ]

  func check<T: DatabaseValueConvertible>(_ type: T.Type) {
    let alone = Result { try T(databaseValue: value) }
    let read = Result { try rows.get(at: 0, as: T.self) }
    switch (alone, read) {
    case (.success(let one), .success(let two)):
      guard let first = try? one.databaseValue, let second = try? two.databaseValue,
        first.isExactly(second)
      else { found("\(T.self) of \(value) is \(two), not \(one)") }
      guard let again = try? T(databaseValue: first), let third = try? again.databaseValue,
        third.isExactly(first)
      else { found("\(T.self) \(one) doesn't come back") }
    case (_, .failure(let error)) where !(error is ConversionError):
      found("\(T.self) of \(value): \(error)")
    case (.success, .failure(let error)):
      if isValid { found("\(T.self) of \(value): \(error)") }
    case (.failure(let error), .success(let two)):
      found("\(T.self) of \(value) is \(two), but alone \(error)")
    case (.failure, .failure): break
    }
  }
}

func checkDate(_ format: DateFormat, _ value: DatabaseValue) {
  guard let date = try? format.date(from: value) else { return }
  // What can be read can be written, unless it is out of range, and then stays as it is.
  guard let stored = try? format.databaseValue(of: date) else { return }
  guard let again = try? format.date(from: stored), let same = try? format.databaseValue(of: again)
  else { found("\(date) as \(format) isn't read back from \(stored)") }
  let isNear = format != .secondsSince1970 && format != .julianDay
  if isNear, !same.isExactly(stored) { found("\(format): \(stored), then \(same)") }
}
