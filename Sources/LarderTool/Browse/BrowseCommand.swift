import Larder
import LarderTerminal

extension Command {
  static let browse = Command(
    name: "browse", arguments: "FILE", argumentCount: 1...1,
    summary: "Writes a web page of a database: its schema, some rows, and what check finds.",
    details: """
      The page is one file that needs neither a server nor the network. It has a picture of the schema to move
      in, the tables with the first of their rows, which can be sorted and searched, and the findings of
      “larder check”. It holds what the rows hold: whoever gets the page can read them. FILE may be a server's
      address, postgres://user@host/database: the page shows the first schema of the search path, and numbers of
      rows are the server's estimates.

      Example:
        larder browse cities.db --output cities.html
        larder browse cities.db --rows 1000 > cities.html
      """,
    options: [
      Option("rows", "NUMBER", "how many rows of each table the page has (200)"),
      Option("output", "HTML", "write into this file"), .schema,
    ]
  ) { invocation in
    let rows = try invocation.integer("rows", in: 0...100_000) ?? 200
    let database = try NamedDatabase(invocation.arguments[0], invocation)
    let page: BrowsedDatabase
    let output: TextFile?
    switch database {
    case .file(let file):
      output = try invocation.text("output").map { try TextFile($0, besides: file) }
      page = try file.read { try BrowsedDatabase($0, file, rows: rows) }
    case .server(let server):
      output = try invocation.text("output").map { try TextFile($0, besides: nil) }
      page = try server.connect { db in
        try server.noteOtherSchemas(db)
        return try db.inTransaction { db in
          db.setRollbackOnly()
          return try BrowsedDatabase(db, server, rows: rows)
        }
      }
    }
    if invocation.wantsJSON, output == nil { return try Output.showJSON(page) }
    let text = try page.html
    guard let output else { return print(text, terminator: "") }
    try output.replace(by: text)
    if invocation.wantsJSON { return try Output.showJSON(page) }
    print("\(output.path.printable): \(page.tables.count.counted("table"))")
  }
}
