import Foundation
import Larder

/// A record with a property of every type that there is a place for.
struct Specimen: Record {
  enum Size: Int, DatabaseValueConvertible, CaseIterable { case small = 1, large = -7 }
  enum Kind: String, DatabaseValueConvertible, CaseIterable { case town = "it's", none = "" }

  struct Detail: Codable, Hashable, Sendable {
    var names: [String]
    var number: Double
    var parts: [String: Int64?]
    var born: Date?
  }

  var id: Int64?
  var bool: Bool
  var int8: Int8
  var int16: Int16
  var int32: Int32
  var int: Int
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  var uint64: UInt64
  var uint: UInt
  var float: Float
  var double: Double
  var string: String
  var bytes: [UInt8]
  var data: Data
  var uuid: UUID
  var url: URL
  var decimal: Decimal
  var date: Date
  var size: Size
  var kind: Kind
  var isoDate: Date
  var milliseconds: Date
  var julian: Date
  var plainDate: Date
  var uuidText: UUID
  var detail: Detail
  var maybeInt: Int64?
  var maybeDouble: Double?
  var maybeString: String?
  var maybeBytes: [UInt8]?
  var maybeDate: Date?
  var maybeSize: Size?
  var maybeDetail: Detail?

  struct Columns: Sendable {
    let id = Column("id", \Specimen.id, .primaryKey)
    let bool = Column("bool", \Specimen.bool)
    let int8 = Column("int8", \Specimen.int8)
    let int16 = Column("int16", \Specimen.int16)
    let int32 = Column("int32", \Specimen.int32)
    let int = Column("int", \Specimen.int)
    let uint8 = Column("uint8", \Specimen.uint8)
    let uint16 = Column("uint16", \Specimen.uint16)
    let uint32 = Column("uint32", \Specimen.uint32)
    let uint64 = Column("uint64", \Specimen.uint64)
    let uint = Column("uint", \Specimen.uint)
    let float = Column("float", \Specimen.float)
    let double = Column("double", \Specimen.double)
    let string = Column("string", \Specimen.string)
    let bytes = Column("bytes", \Specimen.bytes)
    let data = Column("data", \Specimen.data)
    let uuid = Column("uuid", \Specimen.uuid)
    let url = Column("url", \Specimen.url)
    let decimal = Column("decimal", \Specimen.decimal)
    let date = Column("date", \Specimen.date)
    let size = Column("size", \Specimen.size)
    let kind = Column("kind", \Specimen.kind)
    let isoDate = Column("isoDate", \Specimen.isoDate, as: .iso8601)
    let milliseconds = Column("milliseconds", \Specimen.milliseconds, as: .unixMilliseconds)
    let julian = Column("julian", \Specimen.julian, as: .format(.julianDay))
    let plainDate = Column("plainDate", \Specimen.plainDate, as: .format(.sqlDateTime))
    let uuidText = Column("uuidText", \Specimen.uuidText, as: .text)
    let detail = Column("detail", \Specimen.detail, as: .json)
    let maybeInt = Column("maybeInt", \Specimen.maybeInt)
    let maybeDouble = Column("maybeDouble", \Specimen.maybeDouble)
    let maybeString = Column("maybeString", \Specimen.maybeString)
    let maybeBytes = Column("maybeBytes", \Specimen.maybeBytes)
    let maybeDate = Column("maybeDate", \Specimen.maybeDate, as: .iso8601)
    let maybeSize = Column("maybeSize", \Specimen.maybeSize)
    let maybeDetail = Column("maybeDetail", \Specimen.maybeDetail, as: .json)
  }
  static let columns = Columns()
  static let table = Table(
    "specimen", Specimen.init, columns.id, columns.bool, columns.int8, columns.int16,
    columns.int32, columns.int, columns.uint8, columns.uint16, columns.uint32, columns.uint64,
    columns.uint, columns.float, columns.double, columns.string, columns.bytes, columns.data,
    columns.uuid, columns.url, columns.decimal, columns.date, columns.size, columns.kind,
    columns.isoDate, columns.milliseconds, columns.julian, columns.plainDate, columns.uuidText,
    columns.detail, columns.maybeInt, columns.maybeDouble, columns.maybeString,
    columns.maybeBytes, columns.maybeDate, columns.maybeSize, columns.maybeDetail)

  /// What has to come back as it is, whichever way it goes.
  var exactValues: [any DatabaseValueConvertible] {
    [
      bool, int8, int16, int32, int, uint8, uint16, uint32, uint64, uint, float, double, string,
      bytes, data, uuid, url, decimal, size, kind, uuidText, maybeInt, maybeDouble, maybeString,
      maybeBytes, maybeSize,
    ]
  }

  /// Dates, each with how far from it the one may be that comes back, in seconds.
  var dates: [(date: Date?, error: Double)] {
    [
      (date, 0.000_000_25), (isoDate, 0.000_501), (milliseconds, 0.000_501), (julian, 0.000_041),
      (plainDate, 0.500_001), (maybeDate, 0.000_501),
    ]
  }
}

extension Sampler {
  mutating func detail() -> Specimen.Detail {
    let number = double()
    let names = (0..<random.next() % 3).map { _ in text() }
    let whole = (date().timeIntervalSince1970 * 1000).rounded() / 1000
    return Specimen.Detail(
      names: names, number: number.isFinite ? number : 0.1,
      parts: chance(2) ? [:] : [text(): maybe(integer())],
      born: maybe(Date(timeIntervalSince1970: whole)))
  }

  mutating func specimen() -> Specimen {
    Specimen(
      id: nil, bool: chance(2), int8: integer(), int16: integer(), int32: integer(), int: integer(),
      uint8: integer(), uint16: integer(), uint32: integer(), uint64: storable(), uint: storable(),
      float: float(), double: double(), string: text(), bytes: bytes(), data: Data(bytes()),
      uuid: uuid(), url: url(), decimal: decimal(), date: date(), size: pick(.small, [.large]),
      kind: pick(.town, [.none]), isoDate: date(), milliseconds: date(), julian: date(),
      plainDate: date(), uuidText: uuid(), detail: detail(), maybeInt: maybe(integer()),
      maybeDouble: maybe(double()), maybeString: maybe(text()), maybeBytes: maybe(bytes()),
      maybeDate: maybe(date()), maybeSize: maybe(pick(.small, [.large])),
      maybeDetail: maybe(detail())
    )
  }
}
