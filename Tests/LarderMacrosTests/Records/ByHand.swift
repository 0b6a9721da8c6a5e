import Foundation
import Larder

/// The records of ``ByMacro``, written by hand.
enum ByHand {
  struct City: Record {
    var id: Int64?
    var name: String
    var population: Int
    var founded: Date?
    var country: String
    var tags: [String]
    var isSelected = false

    struct Columns: Sendable {
      let id = Column("id", \City.id, .primaryKey)
      let name = Column("name", \City.name)
      let population = Column("inhabitants", \City.population, .indexed, .default(0))
      let founded = Column("founded", \City.founded, as: .iso8601)
      let country = Column(
        "country", \City.country, .references(Country.self, onDelete: .cascade))
      let tags = Column("tags", \City.tags, .validJSON, as: .json)
    }
    static let columns = Columns()
    static let table = Table(
      "city",
      { City(id: $0, name: $1, population: $2, founded: $3, country: $4, tags: $5) },
      columns.id, columns.name, columns.population, columns.founded, columns.country,
      columns.tags, notStored: [\.isSelected])
  }

  struct Country: Record {
    let code: String
    var name: String

    struct Columns: Sendable {
      let code = Column("code", \Country.code, .primaryKey, .references("country", column: "code"))
      let name = Column("name", \Country.name, .unique, .collate("NOCASE"))
    }
    static let columns = Columns()
    static let table = Table("country", Country.init, columns.code, columns.name)
  }

  struct Measurement: Record {
    enum Quality: Int, DatabaseValueConvertible { case poor, good }

    var station: Int64
    var day: Date
    var value: Double
    var double: Double?
    var quality: Quality
    var note: String?
    var device: UUID
    var hash: UUID
    var batch: UUID
    var seen: Date
    var created: String
    var version: Int

    struct Columns: Sendable {
      let station = Column("station", \Measurement.station, .primaryKey)
      let day = Column("day", \Measurement.day, .primaryKey, as: .format(.sqlDate))
      let value = Column(
        "value", \Measurement.value, .check("value >= -90"), .check("value < \(60)"))
      let double = Column(
        "double", \Measurement.double, .generated("value * 2", stored: true))
      let quality = Column(
        "quality", \Measurement.quality, .default(Measurement.Quality.good))
      let note = Column("note", \Measurement.note, .collate("RTRIM"), .default("none, \"yet\""))
      let device = Column("device", \Measurement.device, .unique, as: .text)
      let hash = Column("hash", \Measurement.hash, as: .lowercaseText)
      let batch = Column("batch", \Measurement.batch, as: .blob)
      let seen = Column("seen", \Measurement.seen, as: .unixMilliseconds)
      let created = Column(
        "created", \Measurement.created, .readOnly, .default(sql: "CURRENT_TIMESTAMP"))
      let version = Column("version", \Measurement.version, .version)
    }
    static let columns = Columns()
    static let table = Table(
      "measurement", Measurement.init, columns.station, columns.day, columns.value,
      columns.double, columns.quality, columns.note, columns.device, columns.hash,
      columns.batch, columns.seen, columns.created, columns.version,
      constraints: [
        .unique(columns.station, columns.seen), .check("value <> 0 OR note IS NOT NULL"),
        .foreignKey(
          columns.station, references: City.self, onDelete: .cascade, onUpdate: .restrict,
          deferred: true),
      ],
      indexes: [
        .index(columns.day, columns.station),
        .index(columns.quality, columns.value, unique: true, where: "value > 0", name: "by_value"),
      ], options: .withoutRowID)
  }

  struct Job: Record {
    var number: Int64?
    var queue: String
    var weight: Int
    var color: Color

    struct Columns: Sendable {
      let number = Column("number", \Job.number, .autoincrement)
      let queue = Column("the \"queue\"", \Job.queue, .sqlType("VARCHAR(40)"))
      let weight = Column(
        "default", \Job.weight, .default(1), .sqlType(sqlite: "INT", postgres: "smallint"))
      let color = Column(
        "color", \Job.color,
        as: ColumnCoding<Color>(encode: { $0.hue }, decode: { Color(hue: $0) }))
    }
    static let columns = Columns()
    static let table = Table(
      "jobs", Job.init, columns.number, columns.queue, columns.weight, columns.color,
      options: .notStrict)
  }

  struct Document: Record {
    var id: Int64?
    var body: [String: [Int]]
    var first: Int?
    var made: Date
    var edited: Date?

    struct Columns: Sendable {
      let id = Column("id", \Document.id, .primaryKey)
      let body = Column("the body", \Document.body, .validJSON, as: .json)
      let first = Column(
        "first", \Document.first,
        .generated(json: JSONExpression(column: "the body")["it's"][0], stored: true))
      let made = Column("made", \Document.made, .createdAt)
      let edited = Column("edited", \Document.edited, .updatedAt)
    }
    static let columns = Columns()
    static let table = Table(
      "document", Document.init, columns.id, columns.body, columns.first, columns.made,
      columns.edited,
      indexes: [
        .index(on: columns.body["it's"][-1], as: Int.self),
        .index(
          on: columns.body["n"][0], as: Int.self, unique: true, where: "id > 0", name: "by_number"),
      ])
  }

  struct Line: Record {
    var text: String

    struct Columns: Sendable {
      let text = Column("text", \Line.text)
    }
    static let columns = Columns()
    static let table = Table(
      "line", Line.init, columns.text, options: [.noPrimaryKey, .notStrict])
  }

  struct Label: Record {
    var text: String

    struct Columns: Sendable {
      let text = Column("text", \Label.text)
    }
    static let columns = Columns()
    static let table = Table("label", Label.init, columns.text, options: .view)
  }
}

struct Color: Sendable, Equatable { var hue: Int }
