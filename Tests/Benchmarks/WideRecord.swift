import CSQLite
import Larder

/// A row of 20 columns of many types.
struct Station: Record {
  enum Kind: Int, DatabaseValueConvertible { case stop, station, terminus }

  var id: Int64
  var name: String
  var code: String
  var operatorName: String
  var line: String
  var description: String
  var address: String
  var platforms: Int
  var passengers: Int
  var zone: Int32
  var tariff: UInt8
  var latitude: Double
  var longitude: Double
  var height: Double
  var isStaffed: Bool
  var isAccessible: Bool
  var opened: Int?
  var rating: Double?
  var remark: String?
  var kind: Kind

  struct Columns: Sendable {
    let id = Column("id", \Station.id, .primaryKey)
    let name = Column("name", \Station.name)
    let code = Column("code", \Station.code)
    let operatorName = Column("operatorName", \Station.operatorName)
    let line = Column("line", \Station.line)
    let description = Column("description", \Station.description)
    let address = Column("address", \Station.address)
    let platforms = Column("platforms", \Station.platforms)
    let passengers = Column("passengers", \Station.passengers)
    let zone = Column("zone", \Station.zone)
    let tariff = Column("tariff", \Station.tariff)
    let latitude = Column("latitude", \Station.latitude)
    let longitude = Column("longitude", \Station.longitude)
    let height = Column("height", \Station.height)
    let isStaffed = Column("isStaffed", \Station.isStaffed)
    let isAccessible = Column("isAccessible", \Station.isAccessible)
    let opened = Column("opened", \Station.opened)
    let rating = Column("rating", \Station.rating)
    let remark = Column("remark", \Station.remark)
    let kind = Column("kind", \Station.kind)
  }
  static let columns = Columns()
  static let table = Larder.Table(
    "station", Station.init, columns.id, columns.name, columns.code, columns.operatorName,
    columns.line, columns.description, columns.address, columns.platforms, columns.passengers,
    columns.zone, columns.tariff, columns.latitude, columns.longitude, columns.height,
    columns.isStaffed, columns.isAccessible, columns.opened, columns.rating, columns.remark,
    columns.kind)

  static let schema = """
    CREATE TABLE station (id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT NOT NULL,
      operatorName TEXT NOT NULL, line TEXT NOT NULL, description TEXT NOT NULL,
      address TEXT NOT NULL, platforms INTEGER NOT NULL, passengers INTEGER NOT NULL,
      zone INTEGER NOT NULL, tariff INTEGER NOT NULL, latitude REAL NOT NULL,
      longitude REAL NOT NULL, height REAL NOT NULL, isStaffed INTEGER NOT NULL,
      isAccessible INTEGER NOT NULL, opened INTEGER, rating REAL, remark TEXT,
      kind INTEGER NOT NULL)
    """

  /// Short and long texts; every third row has no rating, every second no remark.
  static func many(_ count: Int) -> [Station] {
    (1...count).map { (number: Int) -> Station in
      let rating: Double? = number % 3 == 0 ? nil : 4.5
      let remark: String? = number % 2 == 0 ? nil : "Closed on Sundays and holidays"
      return Station(
        id: Int64(number), name: "Station \(number)", code: "S\(number)", operatorName: "Vy",
        line: "L\(number % 9)",
        description: "A station between two others, with a kiosk and a waiting room (\(number))",
        address: "Jernbanetorget \(number), 0154 Oslo", platforms: number % 20,
        passengers: number &* 31, zone: Int32(number % 5), tariff: UInt8(number % 7),
        latitude: 59.9 + Double(number) / 1_000_000, longitude: 10.75, height: Double(number % 900),
        isStaffed: number % 2 == 0, isAccessible: true, opened: 1854, rating: rating,
        remark: remark, kind: number % 9 == 0 ? .terminus : .stop)
    }
  }
}

extension Reference {
  /// Binds a text for as long as the closure runs.
  @inline(__always)
  func with(
    _ text: String, _ statement: OpaquePointer, _ index: Int32, _ body: () throws -> Void
  ) rethrows {
    var text = text
    try text.withUTF8 {
      larder_bind_text_static(statement, index, $0.baseAddress, UInt64($0.count))
      try body()
    }
  }

  @inline(__always)
  func insert(_ station: Station, _ statement: OpaquePointer) throws {
    sqlite3_bind_int64(statement, 1, station.id)
    sqlite3_bind_int64(statement, 8, Int64(station.platforms))
    sqlite3_bind_int64(statement, 9, Int64(station.passengers))
    sqlite3_bind_int64(statement, 10, Int64(station.zone))
    sqlite3_bind_int64(statement, 11, Int64(station.tariff))
    sqlite3_bind_double(statement, 12, station.latitude)
    sqlite3_bind_double(statement, 13, station.longitude)
    sqlite3_bind_double(statement, 14, station.height)
    sqlite3_bind_int64(statement, 15, station.isStaffed ? 1 : 0)
    sqlite3_bind_int64(statement, 16, station.isAccessible ? 1 : 0)
    if let opened = station.opened {
      sqlite3_bind_int64(statement, 17, Int64(opened))
    } else {
      sqlite3_bind_null(statement, 17)
    }
    if let rating = station.rating {
      sqlite3_bind_double(statement, 18, rating)
    } else {
      sqlite3_bind_null(statement, 18)
    }
    sqlite3_bind_int64(statement, 20, Int64(station.kind.rawValue))
    try with(station.name, statement, 2) {
      try with(station.code, statement, 3) {
        try with(station.operatorName, statement, 4) {
          try with(station.line, statement, 5) {
            try with(station.description, statement, 6) {
              try with(station.address, statement, 7) {
                if let remark = station.remark {
                  try with(remark, statement, 19) { try check(sqlite3_step(statement)) }
                } else {
                  sqlite3_bind_null(statement, 19)
                  try check(sqlite3_step(statement))
                }
              }
            }
          }
        }
      }
    }
    sqlite3_reset(statement)
  }

  /// The station of the row that a statement stands on.
  @inline(__always)
  static func station(_ statement: OpaquePointer) -> Station? {
    guard let kind = Station.Kind(rawValue: Int(sqlite3_column_int64(statement, 19))) else {
      return nil
    }
    func isNull(_ index: Int32) -> Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }
    return Station(
      id: sqlite3_column_int64(statement, 0), name: text(statement, 1), code: text(statement, 2),
      operatorName: text(statement, 3), line: text(statement, 4), description: text(statement, 5),
      address: text(statement, 6), platforms: Int(sqlite3_column_int64(statement, 7)),
      passengers: Int(sqlite3_column_int64(statement, 8)), zone: sqlite3_column_int(statement, 9),
      tariff: UInt8(truncatingIfNeeded: sqlite3_column_int(statement, 10)),
      latitude: sqlite3_column_double(statement, 11),
      longitude: sqlite3_column_double(statement, 12),
      height: sqlite3_column_double(statement, 13),
      isStaffed: sqlite3_column_int(statement, 14) != 0,
      isAccessible: sqlite3_column_int(statement, 15) != 0,
      opened: isNull(16) ? nil : Int(sqlite3_column_int64(statement, 16)),
      rating: isNull(17) ? nil : sqlite3_column_double(statement, 17),
      remark: isNull(18) ? nil : text(statement, 18), kind: kind)
  }
}
