/// What a table has besides its columns.
@usableFromInline
struct TableDeclaration {
  /// With the indexes.
  let constraints: [TableConstraintDefinition]
  let options: TableOptions

  @usableFromInline
  init<R>(
    _ constraints: [TableConstraint<R>], _ indexes: [TableConstraint<R>], _ options: TableOptions
  ) {
    self.constraints = (constraints + indexes).map(\.definition)
    self.options = options
  }
}

/// Gathers the columns of a table, one after the other.
@usableFromInline
final class TableBuilder {
  private(set) var columns: [ColumnDefinition] = []
  private(set) var properties: [PropertyAccess] = []

  @usableFromInline
  init() {}

  @usableFromInline
  func add<R, Value>(_ column: Column<R, Value>) {
    columns.append(column.definition)
    properties.append(column.access)
  }

  /// What is wrong with the declaration, if anything.
  func problem(table name: String, _ options: TableOptions) -> String? {
    Self.problem(ofNames: name, columns) ?? orderProblem ?? versionProblem
      ?? Self.keyProblem(columns, options)
  }

  /// The same for a table without a record.
  static func problem(
    table name: String, _ columns: [ColumnDefinition], _ options: TableOptions
  ) -> String? {
    problem(ofNames: name, columns) ?? keyProblem(columns, options)
  }

  private static func problem(ofNames name: String, _ columns: [ColumnDefinition]) -> String? {
    if name.isEmpty || name.utf8.contains(0) { return "its name is empty or holds a NUL" }
    if columns.isEmpty { return "it has no columns" }
    var names: Set<[UInt8]> = []
    for column in columns {
      if column.name.isEmpty || column.name.utf8.contains(0) {
        return "the name of a column is empty or holds a NUL"
      }
      if !names.insert(column.name.foldedName).inserted {
        return "two columns are named “\(column.name)”"
      }
    }
    return nil
  }

  private var orderProblem: String? {
    // What has no size has no place of its own.
    let stored = columns.indices.filter { properties[$0].isStored && properties[$0].size > 0 }
    for (first, second) in zip(stored, stored.dropFirst())
    where properties[second].offset <= properties[first].offset {
      return """
        the columns “\(columns[first].name)” and “\(columns[second].name)” don't stand in the order \
        of the record's properties
        """
    }
    return nil
  }

  private var versionProblem: String? {
    if columns.filter(\.isVersion).count > 1 { return "it has two versions" }
    for (column, property) in zip(columns, properties) where column.isVersion {
      if column.isPrimaryKey { return "the version “\(column.name)” is a part of the key" }
      if !column.isWritten { return "the version “\(column.name)” isn't written" }
      if !property.isWritable { return "the version “\(column.name)” is a constant" }
    }
    return nil
  }

  private static func keyProblem(
    _ columns: [ColumnDefinition], _ options: TableOptions
  ) -> String? {
    let key = columns.filter(\.isPrimaryKey)
    if key.isEmpty {
      return options.contains(.noPrimaryKey)
        ? nil : "no column is its primary key; say .noPrimaryKey if it has none"
    }
    if options.contains(.noPrimaryKey) { return "it has a primary key, and says that it has none" }
    for column in key where column.isAutoincrement {
      if key.count > 1 || column.type.kind != .integer || options.contains(.withoutRowID) {
        return "“\(column.name)” can't be autoincremented: it isn't the row id"
      }
    }
    return nil
  }
}
