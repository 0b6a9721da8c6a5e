import Foundation
import LarderMacros

/// Tables as they were: what a migration makes mustn't change with the program.
enum V1 {
  @Record("ticket")
  struct Ticket {
    @Column(.primaryKey) var id: Int64?
    @Column(.unique) var reference: String
    var subject: String
    var body: String
    @Column(.indexed, .default(TicketState.open)) var state = TicketState.open
    @Column(as: .iso8601) var created: Date
    @Column(.version) var version = 1
  }
}

let migrations = [
  Migration("v1: tickets and comments") { db in
    try V1.Ticket.table.create(db)
    try Comment.table.create(db)
  },
  Migration(
    "v2: priorities",
    sql: "ALTER TABLE ticket ADD COLUMN priority TEXT NOT NULL DEFAULT 'normal'",
    postgres: "ALTER TABLE ticket ADD COLUMN priority TEXT COLLATE \"C\" NOT NULL DEFAULT 'normal'"),
  Migration("v3: tags, jobs, words") { db in
    try Tag.table.create(db)
    try TicketTag.table.create(db)
    try Job.table.create(db)
    try Delivery.table.create(db)
    try Ticket.words.create(db)
    try Comment.words.create(db)
  },
  Migration("v4: details, due dates, an audit log") { db in
    try Ticket.table.addMissingColumns(db)
    try Audit.table.create(db)
  },
]
let migrator = Migrator(migrations)

/// All of it, for checks.
let tables: [any Record.Type] = [
  Ticket.self, Comment.self, Tag.self, TicketTag.self, Job.self, Delivery.self, Audit.self,
]
