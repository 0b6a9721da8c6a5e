import Foundation
import Larder
import ProofSupport

/// Values of every type go in by every way, and come out byte for byte.
enum RoundTrip: ProofRow {
  static let name = "round-trip"
  static let number = 8
  static let unit = "values of each of 34 types"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let db = try Database()
    try Specimen.table.create(db)
    let count = options.count ?? 10_000
    while result.tried < count, options.goesOn(after: result.tried) {
      let seed = options.seed &+ UInt64(result.tried)
      var sampler = Sampler(seed: seed)
      do {
        try WrongAnswer.at("seed \(seed)") { try trip(&sampler, db) }
      } catch {
        result.failures.append("\(error)")
        if result.failures.count > 20 { break }
      }
      result.tried += 1
    }
    return result
  }

  private static func trip(_ sampler: inout Sampler, _ db: Database) throws {
    let specimen = sampler.specimen()
    try tripAsArguments(specimen, db)
    // Statements that are compiled anew take most of the time.
    let isThorough = sampler.chance(10)
    if isThorough { try refuse(specimen, sampler.integer(), db) }
    let inserted = try specimen.inserted(db)
    try compare(try Specimen.find(db, inserted.id), specimen, "find")
    if isThorough {
      let found = try query(inserted).fetchAll(db)
      try WrongAnswer.check(found.count, 1, "the rows that equal the record in all columns")
      try compare(found[0], specimen, "fetchAll")
    }
    // Batches are written by other statements.
    try Specimen.all.delete(db)
    try Specimen.insert(db, contentsOf: [specimen, specimen])
    for record in try Specimen.fetchAll(db) { try compare(record, specimen, "a batch") }
    try Specimen.all.delete(db)
  }

  private static func tripAsArguments(_ specimen: Specimen, _ db: Database) throws {
    let values = specimen.exactValues
    let bound = SQL.list(values)
    for (name, sql) in [("arguments", bound), ("literals", SQL(raw: try bound.literalText()))] {
      let rows = try db.executeQuery(sql)
      _ = try rows.next()
      for (index, value) in values.enumerated() {
        try compare(value, try rows.same(as: value, at: index), "\(name): \(type(of: value))")
      }
    }
  }

  /// Every column by its own argument.
  private static func query(_ one: Specimen) -> Query<Specimen> {
    let numbers = Specimen.filter { $0.id == one.id && $0.bool == one.bool && $0.int8 == one.int8 }
      .filter { $0.int16 == one.int16 && $0.int32 == one.int32 && $0.int == one.int }
      .filter { $0.uint8 == one.uint8 && $0.uint16 == one.uint16 && $0.uint32 == one.uint32 }
      .filter { $0.uint64 == one.uint64 && $0.uint == one.uint && $0.float == one.float }
      .filter { $0.double == one.double && $0.maybeInt == one.maybeInt }
    let texts = numbers.filter { $0.string == one.string && $0.bytes == one.bytes }
      .filter { $0.data == one.data && $0.uuid == one.uuid && $0.url == one.url }
      .filter { $0.decimal == one.decimal && $0.size == one.size && $0.kind == one.kind }
      .filter { $0.uuidText == one.uuidText && $0.maybeString == one.maybeString }
    return texts.filter { $0.date == one.date && $0.isoDate == one.isoDate }
      .filter { $0.milliseconds == one.milliseconds && $0.julian == one.julian }
      .filter { $0.plainDate == one.plainDate && $0.maybeDate == one.maybeDate }
      .filter { $0.maybeDouble == one.maybeDouble && $0.maybeBytes == one.maybeBytes }
      .filter { $0.maybeSize == one.maybeSize }
  }

  /// What SQLite can't store is an error, and nothing is stored.
  private static func refuse(_ specimen: Specimen, _ high: UInt64, _ db: Database) throws {
    var wrong = Array(repeating: specimen, count: 5)
    wrong[0].double = .nan
    wrong[1].float = -.nan
    wrong[2].uint64 = high | 1 << 63
    wrong[3].uint = UInt(high | 1 << 63)
    wrong[4].decimal = .nan
    for (index, record) in wrong.enumerated() {
      try WrongAnswer.expectError("a value that can't be stored, \(index)") {
        try record.inserted(db)
      }
      try WrongAnswer.expectError("a query for it, \(index)") {
        try query(record).fetchAll(db)
      }
    }
    try WrongAnswer.check(try Specimen.all.fetchCount(db), 0, "the rows of what can't be stored")
    let int8 = try? db.value("SELECT \(specimen.int)", as: Int8.self)
    let uint64 = try? db.value("SELECT \(specimen.int)", as: UInt64.self)
    try WrongAnswer.check(int8, Int8(exactly: specimen.int), "an Int as an Int8")
    try WrongAnswer.check(uint64, UInt64(exactly: specimen.int), "an Int as a UInt64")
  }

  private static func compare(_ found: Specimen, _ expected: Specimen, _ way: String) throws {
    for (one, two) in zip(found.exactValues, expected.exactValues) {
      // In a REAL column SQLite keeps an integer for what has no fraction, and so no -0.0.
      if case .real(0) = try two.databaseValue, case .real(0) = try one.databaseValue { continue }
      try compare(two, one, "\(way): \(type(of: two))")
    }
    for (one, two) in zip(found.dates, expected.dates) {
      let distance = one.date.map { date in two.date.map { abs(date.timeIntervalSince($0)) } }
      guard one.date == nil && two.date == nil || ((distance ?? nil) ?? 1) <= two.error else {
        throw WrongAnswer(description: "\(way): \(one) instead of \(two)")
      }
    }
    guard found.detail == expected.detail, found.maybeDetail == expected.maybeDetail else {
      throw WrongAnswer(description: "\(way): \(found.detail) instead of \(expected.detail)")
    }
  }

  private static func compare(
    _ expected: any DatabaseValueConvertible, _ found: any DatabaseValueConvertible, _ way: String
  ) throws {
    let (one, two) = (try found.databaseValue, try expected.databaseValue)
    guard one.isExactly(two) else {
      throw WrongAnswer(description: "\(way): \(one) instead of \(two)")
    }
  }
}

extension ResultSet {
  /// The value of a column as the type of another one.
  fileprivate func same<T: DatabaseValueConvertible>(
    as value: T, at index: Int
  ) throws -> any DatabaseValueConvertible { try get(at: index, as: T.self) }
}

extension SQL {
  /// A row of these values.
  fileprivate static func list(_ values: [any DatabaseValueConvertible]) -> SQL {
    var sql: SQL = "SELECT \(values[0])"
    for value in values.dropFirst() { sql = "\(sql), \(value)" }
    return sql
  }
}

extension DatabaseValue {
  /// Whether both are the same bytes.
  func isExactly(_ other: DatabaseValue) -> Bool {
    switch (self, other) {
    case (.text(let one), .text(let two)): one.utf8.elementsEqual(two.utf8)
    case (.real(let one), .real(let two)): one.bitPattern == two.bitPattern
    default: self == other
    }
  }
}
