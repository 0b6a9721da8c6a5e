import Foundation
import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Date parts and date arithmetic in queries")
struct DateArithmeticTests {
  private struct Event: Record {
    var id: Int
    var plain: Date
    var maybe: Date?
    var seconds: Date
    var milliseconds: Date
    var julian: Date
    var iso: Date
    var isoSeconds: Date
    var sql: Date
    var sqlMilliseconds: Date
    var day: Date

    struct Columns: Sendable {
      let id = Column("id", \Event.id, .primaryKey)
      let plain = Column("plain", \Event.plain)
      let maybe = Column("maybe", \Event.maybe)
      let seconds = Column("seconds", \Event.seconds, as: .format(.secondsSince1970))
      let milliseconds = Column("milliseconds", \Event.milliseconds, as: .unixMilliseconds)
      let julian = Column("julian", \Event.julian, as: .format(.julianDay))
      let iso = Column("iso", \Event.iso, as: .iso8601)
      let isoSeconds = Column("iso_seconds", \Event.isoSeconds, as: .format(.iso8601Seconds))
      let sql = Column("sql", \Event.sql, as: .format(.sqlDateTime))
      let sqlMilliseconds = Column(
        "sql_milliseconds", \Event.sqlMilliseconds, as: .format(.sqlDateTimeMilliseconds))
      let day = Column("day", \Event.day, as: .format(.sqlDate))
    }
    static let columns = Columns()
    static let table = Table(
      "event", Event.init, columns.id, columns.plain, columns.maybe, columns.seconds,
      columns.milliseconds, columns.julian, columns.iso, columns.isoSeconds, columns.sql,
      columns.sqlMilliseconds, columns.day)

    init(
      id: Int, plain: Date, maybe: Date?, seconds: Date, milliseconds: Date, julian: Date,
      iso: Date, isoSeconds: Date, sql: Date, sqlMilliseconds: Date, day: Date
    ) {
      self.id = id
      self.plain = plain
      self.maybe = maybe
      self.seconds = seconds
      self.milliseconds = milliseconds
      self.julian = julian
      self.iso = iso
      self.isoSeconds = isoSeconds
      self.sql = sql
      self.sqlMilliseconds = sqlMilliseconds
      self.day = day
    }

    init(id: Int, _ date: Date, _ maybe: Date?) {
      self.init(
        id: id, plain: date, maybe: maybe, seconds: date, milliseconds: date, julian: date,
        iso: date, isoSeconds: date, sql: date, sqlMilliseconds: date, day: date)
    }
  }

  private static let formats: [DateFormat] = [
    .secondsSince1970, .unixMilliseconds, .julianDay, .iso8601, .iso8601Seconds, .sqlDateTime,
    .sqlDateTimeMilliseconds, .sqlDate,
  ]

  /// Whole days: every format stores them exactly.
  private static let dates: [Date] = [
    // PostgreSQL counts years before year 1 differently.
    "1969-12-31", "2024-02-29", "2016-07-04", TestEngine.isPostgres ? "0002-01-01" : "0001-01-01",
    "9998-12-31", "2000-01-31",
  ].map { (try? Date("\($0)T00:00:00Z", strategy: .iso8601)) ?? .distantPast }

  private func database(_ format: DateFormat) throws -> Database {
    var configuration = Configuration()
    configuration.dateFormat = format
    let db = try Database.empty(configuration)
    try Event.table.create(db)
    try Event.insert(
      db,
      contentsOf: Self.dates.enumerated().map { index, date in
        Event(id: index, date, index % 2 == 0 ? date : nil)
      })
    return db
  }

  private func columns(
    _ event: RecordFields<Event>
  ) -> [SQLExpression<Date>] {
    [
      event.plain, event.seconds, event.milliseconds, event.julian, event.iso, event.isoSeconds,
      event.sql, event.sqlMilliseconds, event.day,
    ]
  }

  private var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }

  @Test(
    "Date parts are those of the Gregorian calendar in UTC, in each storage format",
    arguments: formats
  )
  private func parts(format: DateFormat) throws {
    let db = try database(format)
    for column in 0..<9 {
      let rows = try Event.order { $0.id }.select { event in
        let date = columns(event)[column]
        return (date.year, date.month, date.day, date.weekday, date.hour, date.minute, date.second)
      }.fetchAll(db)
      for (row, date) in zip(rows, Self.dates) where date > .distantPast + 86_400_000 {
        let parts = calendar.dateComponents(
          [.year, .month, .day, .weekday, .hour, .minute, .second], from: date)
        #expect(
          [row.0, row.1, row.2, row.3] == [parts.year, parts.month, parts.day, parts.weekday])
        #expect([row.4, row.5, row.6] == [parts.hour, parts.minute, parts.second])
      }
      #expect(rows.count == Self.dates.count)
    }
    let maybe = try Event.order { $0.id }.select { ($0.maybe.year, $0.maybe.weekday) }.fetchAll(db)
    #expect(maybe.map { $0.0 == nil } == [false, true, false, true, false, true])
    #expect(maybe[2].0 == 2016 && maybe[2].1 == 2)
  }

  @Test("Date parts of a fractional second round down to the second, also before 1970")
  private func fractions() throws {
    let dates = [
      35.9997, 35.9994, 0.999_999, -0.0003, -1.0003, -86_400, 1_767_225_599.9997, 253_402_300_799.9,
      -62_135_596_800.0004, 951_782_399.999_999, 1_795_249_993,
    ].map { Date(timeIntervalSince1970: $0) }
    let db = try Database.empty()
    try Event.table.create(db)
    let events = dates.enumerated().filter { $1.timeIntervalSince1970 < 253_402_300_799 }
    try Event.insert(db, contentsOf: events.map { Event(id: $0, $1, $1) })
    for (column, place) in [(0, "connection's"), (1, "column's")] {
      let rows = try Event.order { $0.id }.select { event in
        let date = columns(event)[column]
        return (date.year, date.month, date.day, date.hour, date.minute, date.second)
      }.fetchAll(db)
      #expect(rows.count == events.count)
      for (row, (_, date)) in zip(rows, events) where date > .distantPast + 86_400_000 {
        let parts = calendar.dateComponents(
          [.year, .month, .day, .hour, .minute, .second], from: date)
        #expect([row.0, row.1, row.2] == [parts.year, parts.month, parts.day], "\(date) \(place)")
        #expect([row.3, row.4, row.5] == [parts.hour, parts.minute, parts.second], "\(date)")
      }
      let texts = try Event.order { $0.id }.select { event in
        let date = columns(event)[column]
        return (date.strftime("%Y-%m-%d %H:%M:%S"), date.strftime("%s"), date.strftime("%S %f"))
      }.fetchAll(db)
      #expect(texts.count == events.count)
      for (text, (_, date)) in zip(texts, events) {
        let seconds = date.timeIntervalSinceReferenceDate.rounded(.down) + 978_307_200
        #expect(text.1 == "\(Int(seconds))", "\(date) \(place)")
        if TestEngine.isPostgres { continue }
        #expect(try db.value("SELECT unixepoch(\(text.0))", as: Double.self) == seconds)
      }
      // A format with a fraction rounds the whole time to milliseconds.
      #expect(texts.prefix(2).map(\.2) == ["36 36.000", "35 35.999"])
    }
    let id = dates.count
    let lastOfJanuary = try Date("2026-01-31T23:59:59Z", strategy: .iso8601) + 0.9997
    try Event.insert(db, contentsOf: [Event(id: id, lastOfJanuary, nil)])
    let later = try Event.filter { $0.id == id }.select {
      ($0.plain.adding(months: 1), $0.seconds.adding(months: 1))
    }.fetchAll(db)
    #expect(later.count == 1)
    for date in later.flatMap({ [$0.0, $0.1] }) {
      #expect(abs(date.timeIntervalSince(lastOfJanuary) - 31 * 86_400) < 0.001)
    }
    let seven: SQL = TestEngine.isPostgres ? "to_timestamp(7)" : "7"
    try db.executeUpdate("UPDATE event SET plain = \(seven), maybe = NULL WHERE id = \(id)")
    let foreign = Event.filter { $0.id == id }.select { ($0.plain.second, $0.maybe.second) }
    #expect(try foreign.fetchOne(db).map { $0.0 == 7 && $0.1 == nil } == true)
  }

  @Test(
    "Adding days, months and seconds to a date works in its column's storage format",
    arguments: formats)
  private func adding(format: DateFormat) throws {
    let db = try database(format)
    for column in 0..<9 {
      let days = try Event.order { $0.id }.select { columns($0)[column].adding(days: 40) }.fetchAll(
        db)
      #expect(days == Self.dates.map { $0 + 40 * 86_400 }, "column \(column)")
      let years = try Event.filter { $0.id == 2 }.select {
        columns($0)[column].adding(years: 1, months: -2, hours: 24)
      }.fetchAll(db)
      #expect(years == [try Date("2017-05-05T00:00:00Z", strategy: .iso8601)], "column \(column)")
      let later = Event.filter { columns($0)[column].adding(days: 1) > columns($0)[column] }
      #expect(try later.fetchCount(db) == Self.dates.count)
    }
    let month = try Event.filter { $0.id == 5 }.select { $0.iso.adding(months: 1) }.fetchAll(db)
    #expect(month == [try Date("2000-03-02T00:00:00Z", strategy: .iso8601)])
    try Event.filter { $0.id == 0 }.update(db) {
      $0.sqlMilliseconds = $0.sqlMilliseconds.adding(seconds: 0.125)
      $0.milliseconds = $0.milliseconds.adding(seconds: -0.125)
      $0.plain = $0.plain.adding(minutes: 1440)
    }
    let changed = try Event.find(db, 0)
    #expect(changed.sqlMilliseconds == Self.dates[0] + 0.125)
    #expect(changed.milliseconds == Self.dates[0] - 0.125)
    #expect(changed.plain == Self.dates[0] + 86_400)
  }

  @Test(
    "Moving a date out of the years 0 to 9999 gives NULL in each storage format", arguments: formats
  )
  private func beyondTheCalendar(format: DateFormat) throws {
    let db = try database(format)
    for column in 0..<9 {
      let moved = try Event.filter { $0.id == 0 }.select { event in
        let date = columns(event)[column]
        return (
          date.adding(years: -3000).cast(to: Date?.self),
          date.adding(days: -1_000_000).cast(to: Date?.self),
          date.adding(years: 9000).cast(to: Date?.self)
        )
      }.fetchAll(db)
      #expect(moved.allSatisfy { $0.0 == nil && $0.1 == nil && $0.2 == nil }, "column \(column)")
      #expect(moved.count == 1)
    }
  }

  @Test(
    "timeIntervalSince gives seconds between dates of different storage formats", arguments: formats
  )
  private func intervals(format: DateFormat) throws {
    let db = try database(format)
    let since = try Date("2016-07-01T00:00:00Z", strategy: .iso8601)
    for column in 0..<9 {
      let rows = try Event.order { $0.id }.select { event in
        let date = columns(event)[column]
        return (
          date.timeIntervalSince(since), date.timeIntervalSince(event.plain),
          event.sql.adding(seconds: 90).timeIntervalSince(date)
        )
      }.fetchAll(db)
      #expect(rows.map(\.0) == Self.dates.map { $0.timeIntervalSince(since) })
      #expect(rows.allSatisfy { $0.1 == 0 && $0.2 == 90 })
    }
    let maybe = Event.order { $0.id }.limit(2).select { $0.iso.timeIntervalSince($0.maybe) }
    #expect(try maybe.fetchAll(db) == [0, nil])
  }
}
