import CSQLite
import FoundationEssentials
import Larder

/// A row with dates, a UUID and JSON.
struct Journey: Record {
  var id: Int64
  var ticket: UUID
  var departure: Date
  var arrival: Date?
  var stops: [String]

  struct Columns: Sendable {
    let id = Column("id", \Journey.id, .primaryKey)
    let ticket = Column("ticket", \Journey.ticket)
    let departure = Column("departure", \Journey.departure)
    let arrival = Column("arrival", \Journey.arrival)
    let stops = Column("stops", \Journey.stops, as: .json)
  }
  static let columns = Columns()
  static let table = Larder.Table(
    "journey", Journey.init, columns.id, columns.ticket, columns.departure, columns.arrival,
    columns.stops)

  static let schema = """
    CREATE TABLE journey (id INTEGER PRIMARY KEY, ticket BLOB NOT NULL, departure REAL NOT NULL,
      arrival REAL, stops TEXT NOT NULL)
    """

  /// Every third journey hasn't ended.
  static func many(_ count: Int) -> [Journey] {
    (1...count).map { (number: Int) -> Journey in
      let departure = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
      return Journey(
        id: Int64(number), ticket: UUID(), departure: departure,
        arrival: number % 3 == 0 ? nil : departure + 3600,
        stops: ["Oslo", "Hamar", "Stop number \(number)"])
    }
  }
}

extension Reference {
  @inline(__always)
  func insert(
    _ journey: Journey, _ statement: OpaquePointer, _ encoder: JSONEncoder
  ) throws {
    sqlite3_bind_int64(statement, 1, journey.id)
    sqlite3_bind_double(statement, 3, journey.departure.timeIntervalSince1970)
    if let arrival = journey.arrival {
      sqlite3_bind_double(statement, 4, arrival.timeIntervalSince1970)
    } else {
      sqlite3_bind_null(statement, 4)
    }
    let stops = try encoder.encode(journey.stops)
    try stops.withUnsafeBytes { stops in
      larder_bind_text_static(statement, 5, stops.baseAddress, UInt64(stops.count))
      try withUnsafeBytes(of: journey.ticket.uuid) { ticket in
        larder_bind_blob_static(statement, 2, ticket.baseAddress, UInt64(ticket.count))
        try check(sqlite3_step(statement))
      }
    }
    sqlite3_reset(statement)
  }

  /// The journey of the row that a statement stands on.
  @inline(__always)
  static func journey(_ statement: OpaquePointer, _ decoder: JSONDecoder) throws -> Journey? {
    guard let ticket = sqlite3_column_blob(statement, 1), sqlite3_column_bytes(statement, 1) == 16,
      let stops = sqlite3_column_text(statement, 4)
    else { return nil }
    let isUnderWay = sqlite3_column_type(statement, 3) == SQLITE_NULL
    return Journey(
      id: sqlite3_column_int64(statement, 0),
      ticket: UUID(uuid: ticket.loadUnaligned(as: uuid_t.self)),
      departure: Date(timeIntervalSince1970: sqlite3_column_double(statement, 2)),
      arrival: isUnderWay
        ? nil : Date(timeIntervalSince1970: sqlite3_column_double(statement, 3)),
      stops: try decoder.decode(
        [String].self, from: Data(bytes: stops, count: Int(sqlite3_column_bytes(statement, 4)))))
  }
}
