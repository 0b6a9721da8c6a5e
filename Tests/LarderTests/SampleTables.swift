import Foundation
import Larder
import Testing

/// A country with a text key.
struct Country: Record, Equatable {
  var code: String
  var name: String

  struct Columns: Sendable {
    let code = Column("code", \Country.code, .primaryKey)
    let name = Column("name", \Country.name, .unique)
  }
  static let columns = Columns()
  static let table = Table("country", Country.init, columns.code, columns.name)
}

/// A town with a key and one more column. Tests vary that column's options.
struct Town: Record {
  var id: Int64?
  var name: String

  static let columns = [Column("id", \Town.id, .primaryKey)]
  static let table = town(Column("name", \Town.name))
}

/// The table of towns with the given name column.
func town(
  _ name: Column<Town, String>, constraints: [TableConstraint<Town>] = [],
  indexes: [TableConstraint<Town>] = [], options: TableOptions = []
) -> Table<Town> {
  Table(
    "town", Town.init, Column("id", \Town.id, .primaryKey), name, constraints: constraints,
    indexes: indexes, options: options)
}

/// A road between two towns, with a composite key.
struct Road: Record {
  var from: Int64
  var to: Int64
  var country: String?
  var length: Double

  struct Columns: Sendable {
    let from = Column("from", \Road.from, .primaryKey)
    let to = Column("to", \Road.to, .primaryKey)
    let country = Column("country", \Road.country)
    let length = Column("length", \Road.length)
  }
  static let columns = Columns()
  static let table = road()
}

func road(
  constraints: [TableConstraint<Road>] = [], indexes: [TableConstraint<Road>] = [],
  options: TableOptions = []
) -> Table<Road> {
  let columns = Road.columns
  return Table(
    "road", Road.init, columns.from, columns.to, columns.country, columns.length,
    constraints: constraints, indexes: indexes, options: options)
}

/// A bridge that refers to a road by a composite key, and to another bridge.
struct Bridge: Record {
  var id: Int64?
  var from: Int64
  var to: Int64
  var older: Int64?

  struct Columns: Sendable {
    let id = Column("id", \Bridge.id, .autoincrement)
    let from = Column("from", \Bridge.from)
    let to = Column("to", \Bridge.to)
    let older = Column("older", \Bridge.older, .references(Bridge.self, onDelete: .setNull))
  }
  static let columns = Columns()
  static let table = Table(
    "bridge", Bridge.init, columns.id, columns.from, columns.to, columns.older,
    constraints: [
      .foreignKey(
        columns.from, columns.to, references: Road.self, onDelete: .cascade, onUpdate: .cascade,
        deferred: true)
    ])
}

enum Level: String, DatabaseValueConvertible, Codable { case capital, city, village }

/// A record with a column of every type.
struct Everything: Record {
  var id: UUID
  var integer: Int
  var real: Double?
  var text: String
  var blob: [UInt8]?
  var date: Date
  var any: DatabaseValue
  var level: Level
  var tags: [String]?
  var millisecond: Date?

  struct Columns: Sendable {
    let id = Column("id", \Everything.id, .primaryKey)
    let integer = Column("integer", \Everything.integer, .default(-5))
    let real = Column("real", \Everything.real, .default(nil))
    let text = Column("text", \Everything.text, .default("L'Aquila"))
    let blob = Column("blob", \Everything.blob, .default([1, 255]))
    let date = Column("date", \Everything.date, .default(Date(timeIntervalSince1970: 0)))
    let any = Column("any", \Everything.any, .default(2.5))
    let level = Column("level", \Everything.level, .default(.city))
    let tags = Column("tags", \Everything.tags, .default(["old"]), as: .json)
    let millisecond = Column(
      "millisecond", \Everything.millisecond, .default(Date(timeIntervalSince1970: 1)),
      as: .unixMilliseconds)
  }
  static let columns = Columns()
  static let table = everything()
}

func everything(_ options: TableOptions = []) -> Table<Everything> {
  let columns = Everything.columns
  return Table(
    "everything", Everything.init, columns.id, columns.integer, columns.real, columns.text,
    columns.blob, columns.date, columns.any, columns.level, columns.tags, columns.millisecond,
    options: options)
}

/// A record with a key that may be nil in Swift.
struct Motto: Record {
  var city: String?
  var text: String

  static let columns = [Column("city", \Motto.city, .primaryKey)]
  static let table = Table("motto", Motto.init, columns[0], Column("text", \Motto.text))
}

/// A table with its record type erased, and the SQL that should create it.
struct SampleTable: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let expected: [String]
  let sql: @Sendable (DateFormat) throws -> [String]
  let create: @Sendable (Database, Bool) throws -> Void
  let drop: @Sendable (Database) throws -> Void
  let differences: @Sendable (Database) throws -> [TableDifference]

  init<R>(_ description: String, _ table: Table<R>, _ expected: String...) {
    testDescription = description
    self.expected = expected
    sql = { try table.schema(dateFormat: $0).statements }
    create = { try table.create($0, ifNotExists: $1) }
    drop = { try table.drop($0) }
    differences = { try table.differences($0) }
  }
}

/// A capital and its mayor, which refer to each other.
struct Capital: Record {
  var id: Int64
  var mayor: Int64

  static let columns = [Column("id", \Capital.id, .primaryKey)]
  static let table = Table(
    "capital", Capital.init, columns[0],
    Column("mayor", \Capital.mayor, .references(Mayor.self, onDelete: .cascade, deferred: true)))
}

struct Mayor: Record {
  var id: Int64
  var capital: Int64

  static let columns = [Column("id", \Mayor.id, .primaryKey)]
  static let table = Table(
    "mayor", Mayor.init, columns[0],
    Column("capital", \Mayor.capital, .references(Capital.self, onDelete: .cascade, deferred: true))
  )
}
