import Foundation
import Larder

/// A record, and Decodable type, with a property of every kind that can be NULL.
struct Everything: Record, Codable {
  var id: Int
  var bool: Bool?
  var int: Int?
  var tiny: Int8?
  var word: UInt32?
  var huge: UInt64?
  var float: Float?
  var double: Double?
  var string: String?
  var data: Data?
  var date: Date?
  var uuid: UUID?
  var url: URL?
  var decimal: Decimal?
  var isoDate: Date?
  var milliseconds: Date?
  var uuidText: UUID?
  var list: [String]?
  var pair: Pair?

  struct Pair: Codable, Sendable {
    var name: String
    var born: Date?
    var parts: [String: [Double]]?
  }

  struct Columns: Sendable {
    let id = Column("id", \Everything.id, .primaryKey)
    let bool = Column("bool", \Everything.bool)
    let int = Column("int", \Everything.int)
    let tiny = Column("tiny", \Everything.tiny)
    let word = Column("word", \Everything.word)
    let huge = Column("huge", \Everything.huge)
    let float = Column("float", \Everything.float)
    let double = Column("double", \Everything.double)
    let string = Column("string", \Everything.string)
    let data = Column("data", \Everything.data)
    let date = Column("date", \Everything.date)
    let uuid = Column("uuid", \Everything.uuid)
    let url = Column("url", \Everything.url)
    let decimal = Column("decimal", \Everything.decimal)
    let isoDate = Column("isoDate", \Everything.isoDate, as: .iso8601)
    let milliseconds = Column("milliseconds", \Everything.milliseconds, as: .unixMilliseconds)
    let uuidText = Column("uuidText", \Everything.uuidText, as: .text)
    let list = Column("list", \Everything.list, as: .json)
    let pair = Column("pair", \Everything.pair, as: .json)
  }
  static let columns = Columns()
  static let table = Table(
    "everything", Everything.init, columns.id, columns.bool, columns.int, columns.tiny,
    columns.word, columns.huge, columns.float, columns.double, columns.string, columns.data,
    columns.date, columns.uuid, columns.url, columns.decimal, columns.isoDate,
    columns.milliseconds, columns.uuidText, columns.list, columns.pair)

  static let columnCount = table.columns.count - 1

  /// Columns without a type take any value as it is.
  static func create(_ db: Database) throws {
    let names = table.columnNames.dropFirst().map { "\"\($0)\"" }.joined(separator: ", ")
    try db.executeUpdate(SQL(raw: "CREATE TABLE everything (id INTEGER PRIMARY KEY, \(names))"))
    try db.executeUpdate("INSERT INTO everything (id) VALUES (1)")
  }

  /// Writes a value into a column, NULL into the others.
  static let write = SQL(
    raw: "UPDATE everything SET "
      + table.columnNames.dropFirst().enumerated()
      .map { "\"\($0.element)\" = iif(?1 = \($0.offset), v.x, NULL)" }.joined(separator: ", ")
      + " FROM (SELECT CASE WHEN ?2 THEN CAST(?3 AS TEXT) ELSE ?4 END AS x) AS v")
}

func readRecord(_ choice: Int, _ value: DatabaseValue, _ bytes: [UInt8]?) throws {
  let column = choice % Everything.columnCount
  try db.executeUpdate(Everything.write, column, bytes != nil, bytes, value)
  guard choice < 128 else {
    do {
      _ = try db.fetch(Everything.self, "SELECT * FROM everything")
    } catch is ConversionError {} catch is DecodingError {}
    return
  }
  do {
    let records = try Everything.fetchAll(db)
    if records.count != 1 { found("\(records.count) records") }
    // What could be read can be written, and is the same then.
    try records[0].update(db)
    _ = try Everything.find(db, 1)
  } catch RecordError.conversion {}
}
