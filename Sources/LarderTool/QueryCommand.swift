import Larder
import LarderTerminal

extension Command {
  static let query = Command(
    name: "query", arguments: "FILE SQL [VALUE…]", argumentCount: 2...2002,
    summary: "Runs one statement and prints its rows; writes only with --write.",
    details: """
      VALUE is for a “?” in the statement, and --bind for a name: a number, NULL, x'0AFF' or 'text' as in
      SQL, and anything else is text. A number is written as it prints, such as 5, -0.5 or 1e+20: 007, +5 and
      1.50 are texts. '5' is always a text, and CAST(? AS REAL) in the statement makes a number of any text.
      SQL is read from the standard input for “-”. In JSON a blob is
      Base64; in CSV NULL is nothing, an empty text is "", a blob hexadecimal; a text that isn't UTF-8 is an
      error there, which CAST(… AS BLOB) avoids. FILE may be a server's address,
      postgres://user@host/database: true and false are 1 and 0 there, a real of 32 bits has the digits of one of
      64, bytes are a blob, and values of other types are shown as the server writes them.

      Example:
        larder query cities.db 'SELECT name FROM city WHERE country = ? LIMIT 5' NO
        larder query cities.db 'SELECT * FROM city WHERE id = :id' --bind id=5 --json
        larder query cities.db --write 'UPDATE city SET name = ? WHERE id = ?' Oslo 5
      """,
    options: [
      Option("csv", nil, "print comma-separated values"),
      Option("table", nil, "print aligned columns (the default)"),
      Option("vertical", nil, "print a line for each value, for rows of many columns"),
      Option("wide", nil, "make the columns of the table as wide as their values"),
      Option("bind", "NAME=VALUE", "bind a value by name; may be given several times"),
      Option(
        "write", nil,
        "let the statement change the database, in a transaction; also counts rows that triggers changed"
      ),
      .schema,
    ]
  ) { invocation in
    let output: RowOutput =
      switch try invocation.choice(of: ["json", "csv", "table", "vertical"]) {
      case "json": .json
      case "csv": .csv
      case "vertical": .vertical
      default: .table(width: invocation.has("wide") ? nil : 60)
      }
    let sql = SQL(raw: try sqlText(invocation.arguments[1]))
    let arguments = try QueryParameters.arguments(
      Array(invocation.arguments.dropFirst(2)), named: invocation.texts("bind"))
    let file = try NamedDatabase(invocation.arguments[0], invocation)
    func show(_ db: Database) throws {
      try file.reportingSQL { try output.show(db.executeQuery(sql, arguments: arguments)) }
    }
    if invocation.has("write") {
      let changes = try file.write { db in
        try show(db)
        return db.totalChanges
      }
      // Printed only after the commit, since it may fail.
      if changes > 0 {
        Output.note("\(changes.grouped) \(changes == 1 ? "row was" : "rows were") changed")
      }
    } else {
      try file.read { db in
        // A server needs no authorizer: the transaction is READ ONLY.
        guard case .file = file else { return try show(db) }
        try db.onlyReading(show)
      }
    }
  }
}
