import Foundation
import Larder
import Testing
import TestSupport

/// A picture whose date other programs have written in the forms that they liked.
private struct Picture: Record {
  var id: Int64
  var taken: Date
  var edited: Date?

  struct Columns: Sendable {
    let id = Column("id", \Picture.id, .primaryKey)
    let taken = Column("taken", \Picture.taken, .indexed, as: .text(writing: .sqlDateTime))
    let edited = Column("edited", \Picture.edited, as: .text())
  }
  static let columns = Columns()
  static let table = Table("picture", Picture.init, columns.id, columns.taken, columns.edited)
}

@Suite("Dates as text in several forms")
struct DateTextTests {
  private static func database(_ texts: [String?]) throws -> Database {
    let db = try Database()
    try Picture.table.create(db)
    try db.inTransaction { db in
      for (index, text) in texts.enumerated() {
        try db.executeUpdate(
          "INSERT INTO picture VALUES (?, ?, ?)", index, text ?? "2016-01-01", text)
      }
    }
    return db
  }

  /// Both texts of a row as they are stored.
  private static func texts(_ db: Database, _ id: Int) throws -> [String] {
    try db.fetch(
      String.self,
      "SELECT taken FROM picture WHERE id = ?1 UNION ALL SELECT edited FROM picture WHERE id = ?1",
      id)
  }

  private static let forms: [(String, Int64)] = [
    ("2016-07-16", 1_468_627_200_000), ("20160716", 1_468_627_200_000),
    ("2016-07", 1_467_331_200_000), ("2016", 1_451_606_400_000),
    ("2016-W28-6", 1_468_627_200_000), ("2016W286", 1_468_627_200_000),
    ("2016-W28", 1_468_195_200_000), ("2016W28", 1_468_195_200_000),
    ("2009-W53-7", 1_262_476_800_000), ("2008-W01-1", 1_199_059_200_000),
    ("2016-198", 1_468_627_200_000), ("2016198", 1_468_627_200_000),
    ("2016-07-16 14", 1_468_677_600_000), ("2016-07-16T14:30", 1_468_679_400_000),
    ("2016-07-16t143005", 1_468_679_405_000), ("20160716T1430", 1_468_679_400_000),
    ("2016-07-16 14:30:05", 1_468_679_405_000), ("2016-07-16T14:30:05Z", 1_468_679_405_000),
    ("2016-07-16  14:30:05 UTC ", 1_468_679_405_000),
    ("2016-07-16 14:30:05.5", 1_468_679_405_500), ("2016-07-16 14:30:05,25", 1_468_679_405_250),
    ("2016-07-16 14:30:05.1234567890123", 1_468_679_405_123),
    ("2016-07-16 14:30:05.0005", 1_468_679_405_001),
    ("2016-07-16 14:30:59.9996", 1_468_679_460_000),
    ("2016-07-16 14.5", 1_468_679_400_000), ("2016-07-16 14:30.1", 1_468_679_406_000),
    ("2016-07-16 14:30:05+02", 1_468_672_205_000), ("2016-07-16 14:30:05 +02", 1_468_672_205_000),
    ("2016-07-16 14:30:05-0330", 1_468_692_005_000),
    ("2016-07-16 14:30:05 -03:30", 1_468_692_005_000),
    ("2016-07-16 14:30:05+00:00:05", 1_468_679_400_000),
    ("2016-07-16 24:00", 1_468_713_600_000), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
    ("0000-01-01", -62_167_219_200_000), ("-000001-12-31", -62_167_305_600_000),
    ("+012016-07-16", 317_038_147_200_000), ("1969-12-31T23:59:59.999Z", -1),
  ]

  @Test("Each form of ISO 8601 and SQL is the moment that it says", arguments: forms)
  func form(_ text: String, _ milliseconds: Int64) throws {
    let db = try Self.database([text])
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    #expect(try Picture.find(db, 0).taken == date)
    #expect(try Picture.filter { $0.taken == date }.fetchCount(db) == 1)
    #expect(try Picture.filter { $0.edited == date }.fetchCount(db) == 1)
    #expect(try Picture.all.select { $0.taken }.fetchOne(db) == date)
  }

  @Test(
    "Reading or comparing a text that is no date throws",
    arguments: [
      "", " ", "today", "2016-02-30", "2016-13-01", "2016-00-10", "2016-07-16 25:00",
      "2016-07-16 24:00:01", "2016-07-16 14:60", "2016-07-16 14:30:61", "2016-07-16T",
      "2016-07-16 14:30:05.", "2016-07-16 14:30:05 +2", "2016-07-16 14:30:05 CET", "2016-7-16",
      "16.07.2016", "2016-366x", "2015-366", "2016-000", "2015-W54-1", "2016-W00-1", "2016-W28-8",
      "2016-07-16 14:30:05Zulu", "2016-07-1614:30", "201607", "2016-07-16\u{0}", "1468627200000",
      "2016-07-16 14:3", "2016-07-16 14:30:5", "+2016-07-16", "２０１６-07-16",
    ])
  func noDate(_ text: String) throws {
    let db = try Self.database([text])
    #expect(throws: (any Error).self) { try Picture.find(db, 0) }
    let error = #expect(throws: DatabaseError.self) {
      try Picture.filter { $0.taken == Date.now }.fetchCount(db)
    }
    #expect(error?.message.contains("isn't a date") == true)
  }

  @Test("A date is written in the column's form, and found whatever the form it was written in")
  func writing() throws {
    let db = try Self.database(["2016-07-16T14:30:05+02:00", "2016-07-16 12:30:05"])
    let date = Date(timeIntervalSince1970: 1_468_672_205)
    _ = try Picture(id: 7, taken: date, edited: date.addingTimeInterval(0.25)).inserted(db)
    #expect(try Self.texts(db, 7) == ["2016-07-16 12:30:05", "2016-07-16T12:30:05.250Z"])
    #expect(try Picture.filter { $0.taken == date }.fetchCount(db) == 3)
    #expect(try Picture.filter { $0.taken.in([date]) }.fetchCount(db) == 3)
    #expect(try Picture.filter { $0.taken != date }.fetchCount(db) == 0)
    #expect(try Picture.filter { $0.edited == $0.taken }.fetchCount(db) == 2)
    #expect(try Picture.filter { $0.edited == nil }.fetchCount(db) == 0)
    #expect(
      try Picture.all.group { $0.taken }.select { ($0.taken, count()) }.fetchAll(db).count == 1)
    #expect(try Picture.all.select { $0.taken.count(distinct: true) }.fetchOne(db) == 1)
    let pairs = Picture.join(Picture.self) { $0.taken == $1.edited }
    #expect(try pairs.fetchCount(db) == 6)
    #expect(
      try Picture.all.select { $0.taken.strftime("%H:%M") }.distinct().fetchAll(db) == ["12:30"])
    let later = Picture.filter { $0.taken.adding(hours: 1) > date.addingTimeInterval(3599) }
    #expect(try later.fetchCount(db) == 3)
    let span = try Picture.filter { $0.id == 7 }.select {
      $0.edited.timeIntervalSince($0.taken)
    }.fetchOne(db)
    #expect(span == 0.25)
  }

  @Test("Expressions of such a column are assigned in the column's form")
  func assignment() throws {
    let db = try Self.database(["2016-07-16T14:30:05.250+02:00", "2016-W28-6"])
    try Picture.all.update(db) {
      $0.edited = $0.taken
      $0.taken = $0.taken.adding(days: 1)
    }
    func texts(_ id: Int) throws -> [String] { try Self.texts(db, id) }
    #expect(try texts(0) == ["2016-07-17 12:30:05", "2016-07-16T12:30:05.250Z"])
    #expect(try texts(1) == ["2016-07-17 00:00:00", "2016-07-16T00:00:00.000Z"])
    let date = Date(timeIntervalSince1970: 0)
    try Picture.all.update(db) { $0.taken = date }
    #expect(try texts(0)[0] == "1970-01-01 00:00:00")
    var picture = Picture(id: 0, taken: date.addingTimeInterval(5), edited: nil)
    try picture.upsert(db) { row, new in row.edited = new.taken }
    #expect(try texts(0)[1] == "1970-01-01T00:00:05.000Z")
    // Writing all records anew converts the column.
    try db.executeUpdate("UPDATE picture SET taken = '19700102T000000Z'")
    for var picture in try Picture.fetchAll(db) { try picture.update(db) }
    #expect(
      try db.fetch(String.self, "SELECT DISTINCT taken FROM picture") == [
        "1970-01-02 00:00:00"
      ])
  }

  @Test("Among thousands of random dates in random forms, queries find what a model finds")
  func model() throws {
    var generator = SeededGenerator(seed: 2016)
    var moments: [Int64] = []
    var texts: [String] = []
    for _ in 0..<5_000 {
      let (text, moment) = RandomDate.next(&generator)
      texts.append(text)
      moments.append(moment)
    }
    let db = try Self.database(texts)
    func date(_ moment: Int64) -> Date { Date(timeIntervalSince1970: Double(moment) / 1000) }
    let read = try Picture.order { $0.id }.fetchAll(db)
    #expect(read.map(\.taken) == moments.map(date))
    #expect(read.map(\.edited) == moments.map(date))
    let order = try Picture.all.order { ($0.taken, $0.id) }.select { $0.id }.fetchAll(db)
    let expected = moments.indices.sorted { (moments[$0], $0) < (moments[$1], $1) }
    #expect(order == expected.map { Int64($0) })
    let named = try Picture.all.order(byColumnNamed: "taken").order { $0.id }.select { $0.id }
    #expect(try named.fetchAll(db) == order)
    let ends = try Picture.all.select { ($0.taken.min(), $0.edited.max()) }.fetchOne(db)
    #expect(ends?.0 == moments.min().map(date) && ends?.1 == moments.max().map(date))
    let groups = try Picture.all.group { $0.taken }.select { _ in count() }.fetchAll(db)
    #expect(groups.count == Set(moments).count && groups.reduce(0, +) == moments.count)
    for _ in 0..<3 {
      let bounds = (0..<2).map { _ in moments[Int(generator.next() % 5_000)] }.sorted()
      let (low, high) = (bounds[0], bounds[1])
      let conditions: [((RecordFields<Picture>) -> SQLExpression<Bool>, (Int64) -> Bool)] = [
        ({ $0.taken < date(low) }, { $0 < low }), ({ $0.taken >= date(low) }, { $0 >= low }),
        ({ $0.taken == date(low) }, { $0 == low }), ({ $0.taken != date(low) }, { $0 != low }),
        ({ $0.taken.in(date(low)..<date(high)) }, { $0 >= low && $0 < high }),
        ({ $0.edited.in([date(low), date(high)]) }, { $0 == low || $0 == high }),
      ]
      for (condition, holds) in conditions {
        #expect(
          try Picture.filter(condition).fetchCount(db) == moments.count(where: holds))
      }
    }
  }
}

/// A date as text, made with Foundation's calendar.
private enum RandomDate {
  private static let calendar: Calendar = {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = .gmt
    return calendar
  }()

  private static func padded(_ number: Int, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  static func next(_ generator: inout SeededGenerator) -> (text: String, moment: Int64) {
    func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
    // The years 1600 to 2400, and often the same few days, so that many moments are equal.
    let day = random(0..<2) == 0 ? random(16_900..<17_030) : random(-135_000..<157_000)
    let noon = Date(timeIntervalSince1970: Double(day) * 86_400 + 43_200)
    let parts = calendar.dateComponents(
      [.year, .month, .day, .yearForWeekOfYear, .weekOfYear, .weekday, .dayOfYear], from: noon)
    let (year, hyphen) = (padded(parts.year ?? 0, 4), random(0..<3) == 0 ? "" : "-")
    var text =
      switch random(0..<5) {
      case 0:
        padded(parts.yearForWeekOfYear ?? 0, 4) + "\(hyphen)W" + padded(parts.weekOfYear ?? 0)
          + hyphen + "\(((parts.weekday ?? 1) + 5) % 7 + 1)"
      case 1: year + hyphen + padded(parts.dayOfYear ?? 0, 3)
      default: year + hyphen + padded(parts.month ?? 0) + hyphen + padded(parts.day ?? 0)
      }
    var moment = Int64(day) * 86_400_000
    guard random(0..<5) > 0 else { return (text, moment) }
    text += ["T", " ", "t", "  "][random(0..<4)]
    let (hour, minute, second) = (random(0..<24), random(0..<60), random(0..<60))
    let colon = random(0..<3) == 0 ? "" : ":"
    text += padded(hour)
    moment += Int64(hour) * 3_600_000
    let precision = random(0..<4)
    if precision > 0 {
      text += colon + padded(minute)
      moment += Int64(minute) * 60_000
    }
    if precision > 1 {
      text += colon + padded(second)
      moment += Int64(second) * 1000
    }
    if precision == 3 {
      let digits = random(1..<13)
      var fraction = 0
      text += random(0..<4) == 0 ? "," : "."
      var rest = 0
      for position in 0..<digits {
        let digit = random(0..<10)
        text += "\(digit)"
        if position < 3 { fraction = fraction * 10 + digit }
        if position == 3 { rest = digit }
      }
      for _ in digits..<max(3, digits) { fraction *= 10 }
      moment += Int64(fraction + (rest >= 5 ? 1 : 0))
    }
    switch random(0..<6) {
    case 0: text += "Z"
    case 1: text += " UTC"
    case 2...3:
      let (hours, minutes, isWest) = (random(0..<15), random(0..<60), random(0..<2) == 0)
      let form = random(0..<3)
      text += random(0..<2) == 0 ? " " : ""
      text += (isWest ? "-" : "+") + padded(hours)
      if form > 0 { text += (form == 1 ? ":" : "") + padded(minutes) }
      let offset = Int64(hours * 60 + (form > 0 ? minutes : 0)) * 60_000
      moment += isWest ? offset : -offset
    default: break
    }
    return (text, moment)
  }
}
