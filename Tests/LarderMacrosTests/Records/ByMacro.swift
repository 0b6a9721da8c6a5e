import Foundation
import LarderMacros

/// The records of ``ByHand``, declared with the macro.
enum ByMacro {
  @Record
  struct City: Equatable {
    @Column(.primaryKey) var id: Int64?
    var name: String
    @Column("inhabitants", .indexed, .default(0)) var population: Int
    @Column(as: .iso8601) var founded: Date?
    @Column(.references(Country.self, onDelete: .cascade)) var country: String
    @Column(.validJSON, as: .json) var tags: [String]
    @NotStored var isSelected = false
  }

  @Record
  struct Country {
    @Column(.primaryKey, .references("country", column: "code")) let code: String
    @Column(.unique, .collate("NOCASE")) var name: String
  }

  @Record(
    constraints: [
      .unique(\.station, \.seen), .check("value <> 0 OR note IS NOT NULL"),
      .foreignKey(
        \.station, references: City.self, onDelete: .cascade, onUpdate: .restrict, deferred: true),
    ],
    indexes: [
      .index(\.day, \.station),
      .index(\.quality, \.value, unique: true, where: "value > 0", name: "by_value"),
    ],
    options: .withoutRowID)
  struct Measurement {
    enum Quality: Int, DatabaseValueConvertible { case poor, good }

    @Column(.primaryKey) var station: Int64
    @Column(.primaryKey, as: .format(.sqlDate)) var day: Date
    @Column(.check("value >= -90"), .check("value < \(60)")) var value: Double
    @Column(.generated("value * 2", stored: true)) var double: Double?
    @Column(.default(Quality.good)) var quality: Quality
    @Column(.collate("RTRIM"), .default("none, \"yet\"")) var note: String?
    @Column(.unique, as: .text) var device: UUID
    @Column(as: .lowercaseText) var hash: UUID
    @Column(as: .blob) var batch: UUID
    @Column(as: .unixMilliseconds) var seen: Date
    @Column(.readOnly, .default(sql: "CURRENT_TIMESTAMP")) var created: String
    @Column(.version) var version: Int
  }

  @Record("jobs", options: .notStrict)
  struct Job {
    @Column(.autoincrement) var number: Int64?
    @Column("the \"queue\"", .sqlType("VARCHAR(40)")) var queue: String
    @Column("default", .default(1), .sqlType(sqlite: "INT", postgres: "smallint")) var weight: Int
    @Column(as: ColumnCoding<Color>(encode: { $0.hue }, decode: { Color(hue: $0) })) var color:
      Color
  }

  @Record(indexes: [
    .index(on: \.body["it's"][-1], as: Int.self),
    .index(on: \.body["n"][0], as: Int.self, unique: true, where: "id > 0", name: "by_number"),
  ])
  struct Document {
    @Column(.primaryKey) var id: Int64?
    @Column("the body", .validJSON, as: .json) var body: [String: [Int]]
    @Column(.generated(json: JSONExpression(column: "the body")["it's"][0], stored: true))
    var first: Int?
    @Column(.createdAt) var made: Date
    @Column(.updatedAt) var edited: Date?
  }

  @Record(options: [.noPrimaryKey, .notStrict])
  struct Line { var text: String }

  @Record(options: .view)
  struct Label { var text: String }
}
