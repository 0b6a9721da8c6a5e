import Larder
import PostgresSupport
import Testing

@Suite("The SQL of a table's record statements")
struct RecordSQLTests {
  @Test("A table's SQL has named parameters and quoted names")
  func city() {
    let table = City.table
    #expect(
      table.insertSQL
        == #"INSERT INTO "city" ("id", "name", "population") VALUES (:id, :name, :population)"#)
    #expect(
      table.updateSQL
        == #"UPDATE "city" SET "name" = :name, "population" = :population WHERE "id" = :id"#)
    #expect(
      table.upsertSQL
        == #"INSERT INTO "city" ("id", "name", "population") VALUES (:id, :name, :population)"#
        + #" ON CONFLICT ("id") DO UPDATE SET "name" = excluded."name","#
        + #" "population" = excluded."population""#)
    #expect(table.deleteSQL == #"DELETE FROM "city" WHERE "id" = :id"#)
    #expect(table.findSQL == #"SELECT "id", "name", "population" FROM "city" WHERE "id" = :id"#)
    #expect(table.selectSQL == #"SELECT "id", "name", "population" FROM "city""#)
    #expect(table.name == "city")
    #expect(table.columnNames == ["id", "name", "population"])
    #expect(table.columns.map(\.name) == table.columnNames)
  }

  @Test("A table's SQL finds rows by all columns of a composite key")
  func compositeKey() {
    struct Twinning: Record {
      var city: String
      var year: Int
      var twin: String

      struct Columns: Sendable {
        let city = Column("city", \Twinning.city, .primaryKey)
        let year = Column("year", \Twinning.year)
        let twin = Column("twin", \Twinning.twin, .primaryKey)
      }
      static let columns = Columns()
      static let table = Table("twinning", Twinning.init, columns.city, columns.year, columns.twin)
    }
    let table = Twinning.table
    #expect(
      table.findSQL
        == #"SELECT "city", "year", "twin" FROM "twinning" WHERE "city" = :city AND "twin" = :twin"#
    )
    #expect(
      table.updateSQL
        == #"UPDATE "twinning" SET "year" = :year WHERE "city" = :city AND "twin" = :twin"#)
    #expect(
      table.upsertSQL
        == #"INSERT INTO "twinning" ("city", "year", "twin") VALUES (:city, :year, :twin)"#
        + #" ON CONFLICT ("city", "twin") DO UPDATE SET "year" = excluded."year""#)
    #expect(table.deleteSQL == #"DELETE FROM "twinning" WHERE "city" = :city AND "twin" = :twin"#)
  }

  @Test("A table's SQL doesn't write generated or read-only columns")
  func unwritten() {
    struct Street: Record {
      var id: Int64?
      var name: String
      var label: String?
      var changes: Int?

      struct Columns: Sendable {
        let id = Column("id", \Street.id, .primaryKey)
        let name = Column("name", \Street.name)
        let label = Column("label", \Street.label, .generated("upper(name)"))
        let changes = Column("changes", \Street.changes, .readOnly)
      }
      static let columns = Columns()
      static let table = Table(
        "street", Street.init, columns.id, columns.name, columns.label, columns.changes)
    }
    let table = Street.table
    #expect(table.insertSQL == #"INSERT INTO "street" ("id", "name") VALUES (:id, :name)"#)
    #expect(table.updateSQL == #"UPDATE "street" SET "name" = :name WHERE "id" = :id"#)
    #expect(
      table.upsertSQL
        == #"INSERT INTO "street" ("id", "name") VALUES (:id, :name)"#
        + #" ON CONFLICT ("id") DO UPDATE SET "name" = excluded."name""#)
    #expect(table.selectSQL == #"SELECT "id", "name", "label", "changes" FROM "street""#)
  }

  @Test("A table's SQL compares and increments the version")
  func version() {
    let table = Budget.table
    #expect(
      table.updateSQL
        == #"UPDATE "budget" SET "amount" = :amount, "version" = "version" + 1"#
        + #" WHERE "city" = :city AND "version" = :version"#)
    #expect(
      table.deleteSQL == #"DELETE FROM "budget" WHERE "city" = :city AND "version" = :version"#)
    #expect(
      table.upsertSQL
        == #"INSERT INTO "budget" ("city", "amount", "version")"#
        + #" VALUES (:city, :amount, :version)"#
        + #" ON CONFLICT ("city") DO UPDATE SET "amount" = excluded."amount","#
        + #" "version" = "budget"."version" + 1"#)
  }

  @Test("Columns whose names can't be parameters get numbered parameter names")
  func parameterNames() {
    struct Odd: Record {
      var first: Int
      var second: Int
      var third: Int
      var fourth: Int
      var fifth: Int

      struct Columns: Sendable {
        let first = Column("select", \Odd.first, .primaryKey)
        let second = Column("say \"hi\"", \Odd.second)
        let third = Column("a b", \Odd.third)
        let fourth = Column("column_3", \Odd.fourth)
        let fifth = Column("größe", \Odd.fifth)
      }
      static let columns = Columns()
      static let table = Table(
        "my \"odd\" table", Odd.init, columns.first, columns.second, columns.third, columns.fourth,
        columns.fifth)
    }
    #expect(
      Odd.table.insertSQL
        == #"INSERT INTO "my ""odd"" table" ("select", "say ""hi""", "a b", "column_3", "größe")"#
        + #" VALUES (:select, :column_2, :column_3_, :column_3, :größe)"#)
    #expect(
      Odd.table.updateSQL
        == #"UPDATE "my ""odd"" table" SET "say ""hi""" = :column_2, "a b" = :column_3_,"#
        + #" "column_3" = :column_3, "größe" = :größe WHERE "select" = :select"#)
  }

  @Test("A record with nothing but a read-only key is inserted by DEFAULT VALUES")
  func nothingToWrite() {
    struct Ticket: Record {
      var id: Int64?

      struct Columns: Sendable {
        let id = Column("id", \Ticket.id, .primaryKey, .readOnly)
      }
      static let columns = Columns()
      static let table = Table("ticket", Ticket.init, columns.id)
    }
    #expect(Ticket.table.insertSQL == #"INSERT INTO "ticket" DEFAULT VALUES"#)
    #expect(Ticket.table.updateSQL == #"UPDATE "ticket" SET "id" = "id" WHERE "id" = :id"#)
  }
}

/// A record with a version.
struct Budget: Record, Equatable {
  var city: String
  var amount: Int
  var version: Int

  struct Columns: Sendable {
    let city = Column("city", \Budget.city, .primaryKey)
    let amount = Column("amount", \Budget.amount)
    let version = Column("version", \Budget.version, .version)
  }
  static let columns = Columns()
  static let table = Table(
    "budget", Budget.init, columns.city, columns.amount, columns.version)

  static func database() throws -> Database {
    let db = try Database.empty()
    try db.define(
      """
      CREATE TABLE budget (city TEXT NOT NULL PRIMARY KEY, amount INTEGER NOT NULL,
        version INTEGER NOT NULL) STRICT
      """)
    return db
  }
}
