/// The affinity of a column: how SQLite converts values that are stored in it or compared with it. INTEGER
/// and NUMERIC act alike.
///
/// See [type affinity](https://www.sqlite.org/datatype3.html#type_affinity).
package enum ColumnAffinity: Sendable {
  case none, text, numeric, real

  /// Finds a declared type's affinity by SQLite's
  /// [rules](https://www.sqlite.org/datatype3.html#determination_of_column_affinity), in their order.
  package init(type: String, isStrict: Bool) {
    // The search is by bytes, for speed: it runs for each column of each table that is used.
    let type = type.foldedName
    func has(_ word: StaticString) -> Bool {
      word.withUTF8Buffer { word in
        type.count >= word.count
          && (0...(type.count - word.count)).contains { start in
            word.indices.allSatisfy { type[start + $0] == word[$0] }
          }
      }
    }
    self =
      if isStrict, type == Array("any".utf8) {
        .none
      } else if has("int") {
        .numeric
      } else if has("char") || has("clob") || has("text") {
        .text
      } else if type.isEmpty || has("blob") {
        .none
      } else if has("real") || has("floa") || has("doub") {
        .real
      } else {
        .numeric
      }
  }
}
