import Larder
import LarderTerminal

extension Command {
  static let schema = Command(
    name: "schema", arguments: "FILE", argumentCount: 1...1,
    summary: "Prints the statements that create a database's tables, indexes, views and triggers.",
    details: """
      “larder diff” can compare with a file's JSON. Objects that SQLite creates by itself are left out. FILE may
      be a server's address, postgres://user@host/database: its types, sequences, functions, partitions and
      comments are there too; rights and the objects of extensions aren't.

      Example:
        larder schema cities.db > schema.sql
        larder schema cities.db --json > schema.json
        larder schema postgres://app@db.example.org/app --schema sales > sales.sql
      """,
    options: [.schema]
  ) { invocation in
    let database = try NamedDatabase(invocation.arguments[0], invocation)
    let document = try database.read { db in
      try database.noteOtherSchemas(db)
      return try SchemaDocument(db)
    }
    try invocation.show(document, document.statements.map(\.terminated))
  }
}
