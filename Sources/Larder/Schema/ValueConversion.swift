import LarderSQLite

/// The effect of copying a column's values to another column.
///
/// SQLite converts a stored value to the column's
/// [affinity](https://www.sqlite.org/datatype3.html#type_affinity), which the words of its type decide: "007"
/// becomes 7 in an INTEGER column, 0.30000000000000004 becomes "0.3" in a TEXT column. A value counts as kept
/// if it is the same number, or if converting it back gives its own text.
struct ValueConversion {
  /// The condition of rows whose value changes; nil if none can.
  let changed: SQL?
  /// The condition of rows whose value is a zero that may lose its sign, which only columns without an
  /// affinity keep. SQL can't tell -0.0 from 0.0.
  let realZeros: SQL?

  init(
    from column: ColumnSchema, of old: TableSchema, to target: ColumnSchema, of new: TableSchema
  ) {
    let affinity = ColumnAffinity(type: target.type, isStrict: new.isStrict)
    let isSame = ColumnAffinity(type: column.type, isStrict: old.isStrict) == affinity
    // The `+` removes the column's affinity, which would convert the other operand of a comparison.
    let value: SQL = "(+\(identifier: column.name))"
    var conditions: [SQL] = []
    if !isSame { conditions = affinity.conversions(value) }
    let becomesRowID =
      target.name == new.rowIDColumn && column.name.foldedName != old.rowIDColumn?.foldedName
    let replacesNull = new.conflictClauses.contains { $0.replacesNull(in: target.name) }
    if becomesRowID || target.default != nil && replacesNull {
      conditions.append("\(value) IS NULL")
    }
    changed = conditions.reduce(nil) { all, one in all.map { "\($0) OR \(one)" } ?? one }
    realZeros = !isSame && affinity != .none ? "typeof(\(value)) = 'real' AND \(value) = 0" : nil
  }
}

extension ColumnAffinity {
  /// The conditions of values that the affinity changes. A CAST's own affinity is removed by `+`.
  fileprivate func conversions(_ value: SQL) -> [SQL] {
    switch self {
    case .none: []
    case .text:
      ["(typeof(\(value)) = 'real' AND CAST(+CAST(\(value) AS TEXT) AS REAL) <> \(value))"]
    case .numeric: [textThatIsNoNumber(value, becoming: "NUMERIC")]
    case .real:
      [
        textThatIsNoNumber(value, becoming: "REAL"),
        "(typeof(\(value)) = 'integer' AND CAST(\(value) AS REAL) <> \(value))",
      ]
    }
  }

  /// The condition of texts that look like a number but not in SQLite's spelling. (A comparison with a number
  /// converts texts as storing does; those that don't look like one are kept.)
  private func textThatIsNoNumber(_ value: SQL, becoming type: String) -> SQL {
    let text: SQL = "+CAST(+CAST(\(value) AS \(SQL(raw: type))) AS TEXT)"
    return """
      (typeof(\(value)) = 'text' AND CAST(\(value) AS NUMERIC) = \(value)
        AND (\(text)) COLLATE BINARY <> \(value))
      """
  }
}
