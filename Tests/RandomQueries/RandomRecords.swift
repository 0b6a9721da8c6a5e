import Foundation
import Larder
import TestSupport

/// A place with columns of every kind, for random queries.
struct RandomPlace: Record {
  var id: Int
  var name: String
  var note: String?
  var size: Int
  var rank: Int?
  var height: Double
  var depth: Double?
  var data: [UInt8]?
  var day: Date?
  var parent: Int?
  var area: String?

  struct Columns: Sendable {
    let id = Column("id", \RandomPlace.id, .primaryKey)
    let name = Column("name", \RandomPlace.name)
    let note = Column("note", \RandomPlace.note)
    let size = Column("size", \RandomPlace.size)
    let rank = Column("rank", \RandomPlace.rank)
    let height = Column("height", \RandomPlace.height)
    let depth = Column("depth", \RandomPlace.depth)
    let data = Column("data", \RandomPlace.data)
    let day = Column("day", \RandomPlace.day)
    let parent = Column("parent", \RandomPlace.parent)
    let area = Column("area", \RandomPlace.area)
  }
  static let columns = Columns()
  static let table = Table(
    "odd \"place", RandomPlace.init, columns.id, columns.name, columns.note, columns.size,
    columns.rank, columns.height, columns.depth, columns.data, columns.day, columns.parent,
    columns.area)

  /// The values as they are stored, in the order of the columns.
  var values: [DatabaseValue] {
    [
      .integer(Int64(id)), .text(name), note.map(DatabaseValue.text) ?? .null,
      .integer(Int64(size)), rank.map { .integer(Int64($0)) } ?? .null, .real(height),
      depth.map(DatabaseValue.real) ?? .null, data.map(DatabaseValue.blob) ?? .null,
      day.map { .real($0.timeIntervalSince1970) } ?? .null,
      parent.map { .integer(Int64($0)) } ?? .null, area.map(DatabaseValue.text) ?? .null,
    ]
  }
}

/// An area that places are in.
struct RandomArea: Record {
  var code: String
  var title: String?
  var weight: Int?

  struct Columns: Sendable {
    let code = Column("code", \RandomArea.code, .primaryKey)
    let title = Column("title", \RandomArea.title)
    let weight = Column("weight", \RandomArea.weight)
  }
  static let columns = Columns()
  static let table = Table("area", RandomArea.init, columns.code, columns.title, columns.weight)

  /// The values as they are stored, in the order of the columns.
  var values: [DatabaseValue] {
    [
      .text(code), title.map(DatabaseValue.text) ?? .null,
      weight.map { .integer(Int64($0)) } ?? .null,
    ]
  }
}

/// What random queries read, with texts that mean something in SQL, in patterns or to Unicode.
package struct RandomData {
  static let texts = [
    "Oslo", "oslo", "OSLO", "北京市", "北海", "", "'", "\"", "it's \"quoted\"", "100%", "a_b", "a*b",
    "[x]", "é", "e\u{301}", "\\", "--", ";", "/*", "?", "1", "-7", "2.5", "Ünï", "🇳🇴", "a\nb", " x ",
    "%", "_", "*", "\u{10FFFF}", "\u{FFFF}", "NULL", ")", "zz",
  ]

  private static let ends = [Int.max, .max - 1, .min + 1, 1 << 53 + 1]

  let places: [RandomPlace]
  let areas: [RandomArea]
  let sales: RandomSales
  let moments: RandomMoments

  private static let extremes = [
    Double.infinity, -.infinity, 1e300, -1e300, 1e-300, 0x1p53 + 2, -0.0, 1e15, 9e18, 0.1, 2.5,
    -2.5,
  ]

  /// - Parameters:
  ///   - isForSQLite: whether there are texts with NULs and dates of the year 0, which not every engine stores.
  ///   - isHostile: whether a third of the real numbers are infinite, or at other ends.
  package init(
    _ generator: inout SeededGenerator, isForSQLite: Bool = true, isHostile: Bool = false
  ) {
    func real(_ generator: inout SeededGenerator, _ number: Double) -> Double {
      guard isHostile, Int.random(in: 0..<3, using: &generator) == 0 else { return number }
      return Self.extremes.randomElement(using: &generator) ?? 0
    }
    let codes = ["CN", "NO", "it's", "北", "", "no"]
    areas = codes.map { code in
      RandomArea(
        code: code, title: Self.maybe(&generator) { Self.texts.randomElement(using: &$0) ?? "" },
        weight: Self.maybe(&generator) { Int.random(in: -3...3, using: &$0) })
    }
    places = (1...24).map { id in
      RandomPlace(
        id: id, name: Self.texts.randomElement(using: &generator) ?? "",
        note: Self.maybe(&generator) { Self.texts.randomElement(using: &$0) ?? "" },
        size: Int.random(in: 0..<12, using: &generator) == 0
          ? Self.ends.randomElement(using: &generator) ?? 0
          : Int.random(in: -5...20, using: &generator),
        rank: Self.maybe(&generator) { Int.random(in: -2...5, using: &$0) },
        height: real(&generator, Double(Int.random(in: -12...12, using: &generator)) / 4),
        depth: Self.maybe(&generator) { real(&$0, Double(Int.random(in: -8...8, using: &$0)) / 8) },
        data: Self.maybe(&generator) { [0, UInt8.random(in: 0...3, using: &$0), 255] },
        day: Self.maybe(&generator) {
          Date(timeIntervalSince1970: Double(Int.random(in: -4...9, using: &$0)) * 86_400.5)
        },
        parent: Self.maybe(&generator) { Int.random(in: 1...24, using: &$0) },
        area: Self.maybe(&generator) { codes.randomElement(using: &$0) ?? "" })
    }
    sales = RandomSales(&generator, hasNULs: isForSQLite)
    moments = RandomMoments(&generator, hasFirst: isForSQLite)
  }

  private static func maybe<T>(
    _ generator: inout SeededGenerator, _ make: (inout SeededGenerator) -> T
  ) -> T? {
    Int.random(in: 0..<4, using: &generator) == 0 ? nil : make(&generator)
  }

  /// The tables and their rows for SQLite's shell, written without any help from Larder.
  package var script: String {
    var script = """
      CREATE TABLE "odd ""place" (id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT,
        size INTEGER NOT NULL, rank INTEGER, height REAL NOT NULL, depth REAL, data BLOB,
        day REAL, parent INTEGER, area TEXT);
      CREATE TABLE area (code TEXT PRIMARY KEY NOT NULL, title TEXT, weight INTEGER);

      """
    for place in places {
      let values = place.values.map(Self.literal).joined(separator: ", ")
      script += "INSERT INTO \"odd \"\"place\" VALUES (\(values));\n"
    }
    for area in areas {
      let values = area.values.map(Self.literal).joined(separator: ", ")
      script += "INSERT INTO area VALUES (\(values));\n"
    }
    return script + sales.script + moments.script(.secondsSince1970)
  }

  static func literal(_ value: DatabaseValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): number.isFinite ? "\(number)" : number < 0 ? "-9e999" : "9e999"
    case .text(let text):
      "('"
        + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        .split(separator: "\0", omittingEmptySubsequences: false).joined(
          separator: "' || char(0) || '")
        + "')"
    case .blob(let bytes):
      "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
  }
}
