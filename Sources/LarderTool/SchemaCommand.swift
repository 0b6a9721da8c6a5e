import Larder
import LarderTerminal

extension Command {
  static let schema = Command(
    name: "schema", arguments: "FILE", argumentCount: 1...1,
    summary: "Prints the statements that create a database's tables, indexes, views and triggers.",
    details: """
      “larder diff” can compare with the JSON. Objects that SQLite creates by itself are left out.

      Example:
        larder schema cities.db > schema.sql
        larder schema cities.db --json > schema.json
      """
  ) { invocation in
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    let document = try file.read { try SchemaDocument($0) }
    try invocation.show(document, document.statements.map(\.terminated))
  }
}
