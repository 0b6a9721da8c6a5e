import Foundation
import Larder

// Hostile values and names in SQL: interpolated, bound as arguments, written as literals and compared
// with by conditions, they are values and names, byte for byte, and change nothing else.

struct Note: Record {
  var id: Int
  var body: String

  struct Columns: Sendable {
    let id = Column("id", \Note.id, .primaryKey)
    let body = Column("body", \Note.body)
  }
  static let columns = Columns()
  static let table = Table("note", Note.init, columns.id, columns.body)
}

nonisolated(unsafe) let db = expectSuccess("opening") {
  var configuration = Configuration()
  configuration.statementCacheCapacity = 16
  let db = try Database(configuration: configuration)
  try Note.table.create(db)
  try Note.insert(db, contentsOf: [Note(id: 1, body: ""), Note(id: 2, body: "untouched")])
  return db
}

/// One run of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(data, count)
  expectSuccess("values") { try checkValues(&input) }
  expectSuccess("conditions") { try checkConditions(&input) }
  checkName(input.text())
  let version = expectSuccess("schema") { try db.value("PRAGMA schema_version", as: Int.self) }
  let other = expectSuccess("other row") { try Note.find(db, 2).body }
  if version != 1 || other != "untouched" { found("something else was changed") }
  return 0
}

func checkValues(_ input: inout FuzzInput) throws {
  var values = [input.value()]
  var sql: SQL = "\(values[0])"
  for _ in 0..<input.number(below: 6) {
    let value = input.value()
    switch (input.number(below: 3), value) {
    case (0, .text(let text)): sql = "\(sql), \(text)"
    case (0, .integer(let number)): sql = "\(sql), \(number)"
    case (0, .real(let number)): sql = "\(sql), \(number)"
    case (0, .blob(let bytes)): sql = "\(sql), \(bytes)"
    case (0, .null): sql = "\(sql), \(nil as String?)"
    case (1, _):
      let fragment: SQL = "\(value)"
      sql = "\(sql), \(fragment)"
    default: sql = "\(sql), \(value)"
    }
    values.append(value)
  }
  let select: SQL = "SELECT \(sql)"
  let marks = values.map { _ in "?" }.joined(separator: ", ")
  try expect(values, try db.executeQuery(select), "interpolated")
  try expect(
    values, try db.executeQuery(SQL(raw: "SELECT " + marks), arguments: Arguments(values)), "bound")
  try expect(values, try db.executeQuery(SQL(raw: select.literalText())), "literals")
  let list: SQL = "SELECT count(*) FROM (VALUES \(values))"
  if try db.value(list, as: Int.self) != 1 { found("the list is no row of values") }
}

func expect(_ values: [DatabaseValue], _ rows: ResultSet, _ what: String) throws {
  guard try rows.next() else { found("\(what): no row") }
  let row = try (0..<rows.columnCount).map { try rows[$0] }
  if try rows.next() || !same(row, values) { found("\(what): \(row) instead of \(values)") }
}

func checkConditions(_ input: inout FuzzInput) throws {
  let (body, part) = (input.text(), input.text())
  let note = Note(id: 1, body: body)
  try note.update(db)
  if !same([.text(try Note.find(db, 1).body)], [.text(body)]) { found("another text came back") }
  let (bytes, some) = (Array(body.utf8), Array(part.utf8))
  func check(
    _ name: String, _ condition: (RecordFields<Note>) -> SQLExpression<Bool>, _ expected: Bool
  ) throws {
    // What doesn't hold is false, and not unknown.
    let holds = try Note.filter { $0.id == 1 && condition($0) }.fetchCount(db) == 1
    let fails = try Note.filter { $0.id == 1 && !condition($0) }.fetchCount(db) == 1
    if holds != expected || fails == expected { found("\(name) of \(bytes) and \(some)") }
  }
  try check("==", { $0.body == part }, bytes == some)
  try check("!=", { $0.body != part }, bytes != some)
  try check("<", { $0.body < part }, bytes.lexicographicallyPrecedes(some))
  try check("hasPrefix", { $0.body.hasPrefix(part) }, bytes.starts(with: some))
  try check(
    "hasSuffix", { $0.body.hasSuffix(part) },
    bytes.reversed().starts(with: some.reversed()))
  try check("contains", { $0.body.contains(part) }, contains(bytes, some))
}

func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
  bytes.count >= part.count
    && (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
}

func checkName(_ name: String) {
  let sql: SQL = "SELECT \(identifier: name) FROM (SELECT 1 AS \(identifier: name))"
  do {
    let rows = try db.executeQuery(sql)
    if name.utf8.contains(0) { found("a NUL in a name is cut off") }
    let names = rows.columnNames
    guard try rows.next(), try rows.get(at: 0, as: Int.self) == 1, names.count == 1,
      names[0].utf8.elementsEqual(name.utf8)
    else { found("the name \(Array(name.utf8)) is \(names)") }
  } catch let error as DatabaseError {
    if !name.utf8.contains(0) { found("the name \(Array(name.utf8)): \(error)") }
  } catch {
    found("\(error)")
  }
}
