import Larder
import Testing

@Suite("Errors of schemas")
struct SchemaErrorTests {
  @Test("A schema error's description names the table, the problem and the remedy")
  func descriptions() {
    let errors: [(SchemaError, parts: [String])] = [
      (.noTable("city"), ["no ordinary table"]), (.hidden("city"), ["hides"]),
      (
        .cannotAddColumn(table: "city", column: "code", reason: "it is unique"),
        ["“code”", "it is unique", "rebuild"]
      ),
      (.losesColumns(table: "city", columns: ["code", "size"]), ["“code”, “size”", "losing:"]),
      (.losesRows(table: "city", count: 7), ["7 rows", "losing:"]),
      (.needsValue(table: "city", column: "code"), ["“code”", "NOT NULL", "copying:"]),
      (.noSuchColumn(table: "city", column: "code"), ["no column “code”"]),
      (.foreignKeysAreOn(table: "city"), ["inDatabase", "foreign keys off"]),
      (.brokenForeignKeys(table: "city", count: 7), ["7 foreign keys"]),
      (
        .brokenDependent(table: "city", dependent: "large", reason: "no such column"),
        ["“large”", "no such column"]
      ),
    ]
    for (error, parts) in errors {
      let text = error.description
      #expect(text.contains("“city”") && !text.contains("\n"), "\(text)")
      for part in parts { #expect(text.contains(part), "\(text)") }
    }
  }
}
