import Foundation
import Larder

/// SQL text is taken apart without a loss, and has the placeholders that SQLite finds in it.
func statement(_ text: String) {
  let sql = SQL(raw: text)
  let pieces = sql.pieces
  if !pieces.map(\.text).joined().utf8.elementsEqual(text.utf8) { found("lost a part of \(text)") }
  _ = sql.normalizedTokens
  var largest = 0
  for piece in pieces where piece.kind == .placeholder {
    let number = piece.text == "?" ? largest + 1 : Int(piece.text.dropFirst()) ?? 0
    largest = max(largest, number)
  }
  _ = try? sql.literalText()
  guard let statement = try? db.prepare(sql) else { return }
  defer { statement.close() }
  // Of names there is nothing to know.
  if text.utf8.contains(where: { ":@$#".utf8.contains($0) }) { return }
  if statement.parameterCount != largest {
    found("\(largest) placeholders, but \(statement.parameterCount) parameters: \(text)")
  }
  if largest > 0, largest < 50 {
    let values: [(any DatabaseValueConvertible)?] = (0..<largest).map { "it's \($0)" }
    guard let all = try? SQL(text, values).literalText() else { found("no literals: \(text)") }
    guard let other = try? db.prepare(SQL(raw: all)) else { return }
    if other.parameterCount != 0 { found("placeholders left: \(all)") }
    other.close()
  }
}

extension SQL {
  fileprivate init(_ text: String, _ values: [(any DatabaseValueConvertible)?]) {
    self.init(raw: text)
    self.values = values
  }
}

/// What SQLite takes for a CREATE TABLE can be read as a schema, which makes the same table again.
func table(_ definition: String) {
  do {
    let own = try Database()
    defer { try? own.close() }
    own.authorizer = nil
    guard (try? own.executeUpdate(SQL(raw: "CREATE TABLE town (\(definition))"))) != nil else {
      return
    }
    let schema = try Schema(own)
    guard let town = schema.table("town") else { found("no table of \(definition)") }
    if town.columns.count != (try own.columns(of: "town")).count { found("columns: \(definition)") }
    let other = try Database()
    for sql in town.statements { try other.executeUpdate(SQL(raw: sql)) }
    let differences = try Schema(other).differences(from: schema)
    if !differences.isEmpty { found("\(definition): \(differences)") }
    try other.close()
  } catch {
    found("\(definition): \(error)")
  }
}
