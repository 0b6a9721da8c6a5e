import Foundation
import Larder
import TestSupport

/// A moment in every format of dates.
struct RandomMoment: Record {
  var id: Int
  var plain: Date?
  var milliseconds: Date?
  var julian: Date?
  var iso: Date?
  var isoSeconds: Date?
  var sql: Date?
  var sqlMilliseconds: Date?
  var day: Date?

  struct Columns: Sendable {
    let id = Column("id", \RandomMoment.id, .primaryKey)
    let plain = Column("plain", \RandomMoment.plain)
    let milliseconds = Column("milliseconds", \RandomMoment.milliseconds, as: .unixMilliseconds)
    let julian = Column("julian", \RandomMoment.julian, as: .format(.julianDay))
    let iso = Column("iso", \RandomMoment.iso, as: .iso8601)
    let isoSeconds = Column("isoSeconds", \RandomMoment.isoSeconds, as: .format(.iso8601Seconds))
    let sql = Column("sql", \RandomMoment.sql, as: .format(.sqlDateTime))
    let sqlMilliseconds = Column(
      "sqlMilliseconds", \RandomMoment.sqlMilliseconds, as: .format(.sqlDateTimeMilliseconds))
    let day = Column("day", \RandomMoment.day, as: .format(.sqlDate))
  }
  static let columns = Columns()
  static let table = Table(
    "moment", RandomMoment.init, columns.id, columns.plain, columns.milliseconds, columns.julian,
    columns.iso, columns.isoSeconds, columns.sql, columns.sqlMilliseconds, columns.day)
}

/// Moments, of which each column has the same one.
struct RandomMoments {
  let moments: [Moment?]

  private static let ends = [
    // The first and the last there are, and days that not every month or year has.
    -62_167_219_200_000, 253_402_300_799_000, 951_782_400_000, -2_203_891_200_001, -1, 0,
    1_706_659_200_000, 1_709_164_799_999, 4_107_542_399_000,
  ]

  init(_ generator: inout SeededGenerator, hasFirst: Bool) {
    moments = (0..<16).map { index in
      if index < Self.ends.count, index % 2 == 0 || Bool.random(using: &generator) {
        return Moment(index == 0 && !hasFirst ? -30_000_000_000_000 : Self.ends[index])
      }
      if Int.random(in: 0..<5, using: &generator) == 0 { return nil }
      // From the year 1600 to 2400, or about 1970.
      let days = Bool.random(using: &generator) ? -135_000...157_000 : -40...40
      return Moment(
        Int.random(in: days, using: &generator) * 86_400_000
          + Int.random(in: 0..<86_400_000, using: &generator))
    }
  }

  /// The moments as records.
  var records: [RandomMoment] {
    moments.enumerated().map { index, moment in
      let date = moment?.date
      return RandomMoment(
        id: index + 1, plain: date, milliseconds: date, julian: date, iso: date, isoSeconds: date,
        sql: date, sqlMilliseconds: date, day: date)
    }
  }

  static let formats: [DateFormat] = [
    .unixMilliseconds, .julianDay, .iso8601, .iso8601Seconds, .sqlDateTime,
    .sqlDateTimeMilliseconds, .sqlDate,
  ]

  /// The table for connections that store dates in a format, written without any help from Larder.
  func script(_ format: DateFormat) -> String {
    var script = """
      CREATE TABLE moment (id INTEGER PRIMARY KEY, plain, milliseconds INTEGER, julian REAL, iso TEXT,
        isoSeconds TEXT, sql TEXT, sqlMilliseconds TEXT, day TEXT);

      """
    for (index, moment) in moments.enumerated() {
      let values = ([format] + Self.formats).map { moment?.stored(as: $0) ?? .null }
      let literals = values.map(RandomData.literal).joined(separator: ", ")
      script += "INSERT INTO moment VALUES (\(index + 1), \(literals));\n"
    }
    return script
  }

  /// The rows, with milliseconds since 1970 in the place of each date.
  func rows(_ format: DateFormat) -> [[DatabaseValue]] {
    moments.enumerated().map { index, moment in
      [.from(index + 1)]
        + ([format] + Self.formats).map { format in
          moment.map { .from($0.rounded(to: format).milliseconds) } ?? .null
        }
    }
  }
}
