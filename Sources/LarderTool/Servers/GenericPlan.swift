import Larder
import LarderTerminal

extension Database {
  /// The generic plan of a server's query, by a prepared statement that isn't run, in [EXPLAIN's
  /// JSON](https://www.postgresql.org/docs/current/sql-explain.html). It holds for any values, if the setting
  /// `plan_cache_mode` is `force_generic_plan`.
  ///
  /// - Parameter name: the query's name in messages.
  func genericPlan(of query: String, _ name: String) throws -> String {
    var text = ""
    var count = 0
    var names: [String] = []
    var pieces = SQL(raw: query).pieces
    while let last = pieces.last, last.isSpace || last.isSymbol(";") { pieces.removeLast() }
    guard !pieces.contains(where: { $0.isSymbol(";") }) else {
      throw Failure(.usage, "\(name) takes one statement")
    }
    for (index, piece) in pieces.enumerated() {
      let before = index > 0 ? pieces[index - 1] : nil
      if piece.identifier != nil, before?.isSymbol(":") == true,
        index < 2 || !pieces[index - 2].isSymbol(":")
      {
        // A parameter with a name, such as :id, unless it is a cast.
        text.removeLast()
        if !names.contains(piece.text) { names.append(piece.text) }
        text += "$\((names.firstIndex(of: piece.text) ?? 0) + 1)"
      } else if piece.kind == .placeholder {
        let number = Int(piece.text.dropFirst()) ?? count + 1
        count = max(count, number)
        text += "$\(number)"
      } else {
        text += piece.text
      }
    }
    // PREPARE is in a string literal, so that its placeholders aren't taken for this statement's.
    let block = "BEGIN EXECUTE \("PREPARE larder_check AS \(text)".quotedText); END"
    try executeUpdate(SQL(raw: "DO \(block.quotedText)"))
    let types = try value(
      "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'larder_check'",
      as: Int.self)
    let values = Array(repeating: "NULL", count: types ?? 0).joined(separator: ", ")
    defer { _ = try? executeUpdate("DEALLOCATE larder_check") }
    return try value(
      SQL(raw: "EXPLAIN (FORMAT JSON) EXECUTE larder_check\(values.isEmpty ? "" : "(\(values))")"),
      as: String.self) ?? "[]"
  }
}
