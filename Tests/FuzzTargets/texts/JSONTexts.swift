import Foundation
import Larder

/// JSON is read by Larder's functions as by SQLite's: what is JSON, and what lies where. What is changed stays JSON.
func json(_ text: String) {
  let path = text.utf8.count % 2 == 0 ? #"["a",-1]"# : "[0]"
  // SQLite ends a text at a NUL.
  if text.utf8.contains(0) { return }
  let isValid = computed("SELECT larder_json_if(\(text), '[]', 'valid')")
  let own = computed("SELECT json_valid(\(text))")
  if isValid != own { found("valid: \(isValid), to SQLite \(own): \(text.debugDescription)") }
  for kind in [
    "type", "text", "number", "integer", "date", "uuid", "decimal", "bool", "count", "json",
  ] {
    _ = try? db.value("SELECT larder_json(\(text), \(path), \(kind))", as: DatabaseValue?.self)
    let lax = try? db.value(
      "SELECT larder_json_if(\(text), \(path), \(kind))", as: DatabaseValue?.self)
    if (lax == nil) != (isValid == .integer(0)) { found("\(kind) of \(text.debugDescription)") }
  }
  _ = try? db.value("SELECT larder_json_rows(\(text), '[]')", as: String?.self)
  for new in ["7", nil] {
    guard
      let changed = try? db.value(
        "SELECT larder_json_set(\(text), \(path), \(new))", as: String.self)
    else { continue }
    if computed("SELECT json_valid(\(changed))") != .integer(1) {
      found("\(text.debugDescription) becomes \(changed.debugDescription)")
    }
  }
}

private func computed(_ sql: SQL) -> DatabaseValue {
  (try? db.value(sql, as: DatabaseValue.self)) ?? .null
}

/// No pattern of a text is an error of syntax, and none finds what it shouldn't.
func pattern(_ text: String) {
  let index = FullTextIndex(of: Town.self, \.name, tokenizer: .bigram)
  for pattern in [
    FullTextPattern.all(of: text), .any(of: text), .allPrefixes(of: text), .phrase(text),
    .near(text, text), .phrase(text, prefix: true).in(Town.columns.name),
  ] {
    do {
      let rows = try Town.matching(index, pattern)
        .select { ($0, $0.highlight(\.name, mark: text, "")) }.fetchAll(db)
      if rows.contains(where: { $0.0.name == nil }) { found(text) }
    } catch let error as DatabaseError where error.code == .tooBig {
    } catch { found("\(text.debugDescription): \(error)") }
  }
}
