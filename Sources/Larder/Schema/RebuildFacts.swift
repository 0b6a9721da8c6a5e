import LarderSQLite

// Facts about a rebuild, for a program that writes steps out.

extension SchemaStep {
  /// The table that this step rebuilds, and what it may lose; nil for a step that is one statement.
  package var rebuild: (table: TableSchema, losing: RebuildLosses)? {
    if case .rebuild(let table, let losing) = action { (table, losing) } else { nil }
  }
}

/// Rows that a rebuild refuses to copy, since they would lose something.
package struct RefusedRows {
  /// The column whose values would change; nil if row ids would.
  package let column: String?
  /// The condition that these rows meet: an expression over the old table's columns.
  package let condition: String
}

extension TableSchema {
  /// The rows of another table that a rebuild to this one refuses to copy. Zeros that would lose their sign
  /// aren't among them, since SQL can't tell them apart.
  ///
  /// - Parameter db: any database.
  package func refusedRows(
    of old: TableSchema, losing: RebuildLosses, in db: Database
  ) throws -> [RefusedRows] {
    let copy = RowCopy(old: old, new: self, losing: losing, db: db, copying: [:])
    var refused: [RefusedRows] = []
    if !losing.contains(.rowIDs), let condition = copy.changedRowIDs {
      refused.append(RefusedRows(column: nil, condition: try condition.literalText()))
    }
    if losing.contains(.values) { return refused }
    for value in copy.values {
      guard let column = value.column, let target = self.column(value.target) else { continue }
      let conversion = ValueConversion(from: column, of: old, to: target, of: self)
      if let condition = conversion.changed {
        refused.append(RefusedRows(column: target.name, condition: try condition.literalText()))
      }
    }
    return refused
  }

  /// The NOT NULL columns without a default for which rows of another table have no value.
  package func columnsWithoutValue(from old: TableSchema) -> [ColumnSchema] {
    columns.filter { $0.needsValue && old.column($0.name) == nil }
  }
}

extension ColumnSchema {
  /// Whether rows can't be inserted without a value for this column.
  var needsValue: Bool { isNotNull && self.default == nil && generated == nil }
}
