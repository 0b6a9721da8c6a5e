import Foundation
import Larder

// Texts that Larder takes apart itself: dates, decimals, URLs, UUIDs, cursors of pages, SQL, JSON, and those that are
// looked for in full-text indexes.

nonisolated(unsafe) let db = expectSuccess("opening") {
  var configuration = Configuration()
  configuration.statementCacheCapacity = 8
  let db = try Database(configuration: configuration)
  try Town.table.create(db)
  try Town.insert(
    db, contentsOf: (1...20).map { Town(id: $0, name: $0 % 3 == 0 ? nil : "N\($0 % 5)", size: 0.5) }
  )
  try FullTextIndex(of: Town.self, \.name, tokenizer: .bigram).create(db)
  return db
}

/// One run of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(data, count)
  let kind = input.byte()
  let bytes = input.remainder()
  let text = String(decoding: bytes, as: UTF8.self)
  switch kind {
  case UInt8(ascii: "d"): date(text)
  case UInt8(ascii: "v"): value(text)
  case UInt8(ascii: "c"): cursor(text)
  case UInt8(ascii: "b"): cursor(of: bytes)
  case UInt8(ascii: "t"): table(text)
  case UInt8(ascii: "n"): column(text)
  case UInt8(ascii: "j"): json(text)
  case UInt8(ascii: "f"): pattern(text)
  default: statement(text)
  }
  return 0
}

func date(_ text: String) {
  for format in [DateFormat.iso8601, .sqlDateTime] {
    guard let date = try? format.date(from: .text(text)),
      let stored = try? format.databaseValue(of: date)
    else { continue }
    guard let again = try? format.date(from: stored),
      let same = try? format.databaseValue(of: again)
    else { found("\(text): \(stored) isn't read back") }
    if stored != same { found("\(text): \(stored), then \(same)") }
    // SQLite has the same to say, except of what it doesn't know: a day that its month hasn't, which
    // it takes for one of the next month, and that doesn't come this far.
    let seconds = try? db.value("SELECT unixepoch(?)", text, as: Int?.self)
    guard case .some(.some(let seconds)) = seconds else { continue }
    if abs(date.timeIntervalSince1970 - Double(seconds)) > 1 {
      found("\(text) is \(date.timeIntervalSince1970), to SQLite \(seconds)")
    }
  }
}

func value(_ text: String) {
  func check<T: DatabaseValueConvertible>(_ type: T.Type) {
    guard let value = try? T(databaseValue: .text(text)) else { return }
    guard let stored = try? value.databaseValue, let again = try? T(databaseValue: stored),
      let same = try? again.databaseValue, same.isExactly(stored)
    else { found("\(T.self) of \(text) doesn't come back") }
  }
  check(Decimal.self)
  check(URL.self)
  check(UUID.self)
}

// MARK: Cursors

struct Town: Record {
  var id: Int
  var name: String?
  var size: Double

  struct Columns: Sendable {
    let id = Column("id", \Town.id, .primaryKey)
    let name = Column("name", \Town.name)
    let size = Column("size", \Town.size)
  }
  static let columns = Columns()
  static let table = Table("town", Town.init, columns.id, columns.name, columns.size)
}

func cursor(_ text: String) {
  for query in [Town.all, Town.order { [$0.name.desc, $0.size.asc] }] {
    do {
      let page = try query.page(db, after: text, limit: 7)
      if page.rows.count > 7 { found("too long a page") }
      if let next = page.next { _ = try query.page(db, after: next, limit: 7) }
    } catch is PageError {} catch { found("\(text): \(error)") }
  }
}

/// A cursor whose sums are right, and what they are of isn't.
func cursor(of body: [UInt8]) {
  let first = expectSuccess("first page") { try Town.all.page(db, limit: 7).next ?? "" }
    .replacing("-", with: "+").replacing("_", with: "/")
  // Five bytes are the version and the sum over the query's order.
  guard let start = Data(base64Encoded: String(first.prefix(8))) else {
    found("no cursor")
  }
  let sum: UInt32 = body.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  let sums = withUnsafeBytes(of: sum.littleEndian) { Array($0) }
  cursor((start.prefix(5) + sums + body).base64EncodedString())
}

func column(_ name: String) {
  do {
    _ = try Town.all.order(byColumnNamed: name).fetchAll(db)
    if !Town.table.columnNames.contains(name) { found("ordered by \(name)") }
  } catch RecordError.unknownColumn {} catch { found("\(name): \(error)") }
}
