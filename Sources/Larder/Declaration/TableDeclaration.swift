/// The declaration of a table: its constraints, including indexes, its options, and its columns, which are
/// added one after the other.
@usableFromInline
final class TableDeclaration {
  let constraints: [TableConstraintDefinition]
  let options: TableOptions
  private(set) var columns: [ColumnDefinition] = []
  private(set) var properties: [PropertyAccess] = []
  private(set) var readers: [PropertyReader] = []
  /// The identities of the columns.
  private(set) var storages: [UInt] = []
  private let record: Any.Type
  private let notStored: [CoveredProperty]
  /// The other record's type and columns, if this record is a part of that.
  private var whole: (recordType: String, columns: [ColumnDefinition])?
  var recordType: String { "\(record)" }

  /// - Parameter notStored: properties that are deliberately in no column.
  @usableFromInline
  init<R>(
    of type: R.Type, _ constraints: [TableConstraint<R>], _ indexes: [TableConstraint<R>],
    _ options: TableOptions, notStored: [PartialKeyPath<R> & Sendable]
  ) {
    record = type
    self.constraints = (constraints + indexes).map(\.definition)
    self.options = options
    self.notStored = notStored.map { keyPath in
      func property<V>(_ type: V.Type) -> CoveredProperty {
        CoveredProperty(
          place: MemoryLayout<R>.offset(of: keyPath), type: type, size: MemoryLayout<V>.size,
          column: nil)
      }
      return _openExistential(Swift.type(of: keyPath).valueType, do: property)
    }
  }

  /// A part of another record, by that record's type, columns and options.
  convenience init<R>(
    of type: R.Type, partOf whole: String, _ columns: [ColumnDefinition], _ options: TableOptions,
    notStored: [PartialKeyPath<R> & Sendable]
  ) {
    self.init(of: type, [], [], options.union(.part), notStored: notStored)
    self.whole = (whole, columns)
  }

  @usableFromInline
  func add<R, Value>(_ column: Column<R, Value>) {
    columns.append(column.definition)
    properties.append(column.access)
    readers.append(column.propertyReader)
    storages.append(UInt(bitPattern: ObjectIdentifier(column.storage)))
  }

  func problem(table name: String, schema: String?) -> String? {
    if let schema, schema.isEmpty || schema.utf8.contains(0) {
      return "the name of its schema is empty or holds a NUL"
    }
    return Self.problem(ofNames: name, columns) ?? partProblem ?? repeatedProblem ?? orderProblem
      ?? versionProblem
      ?? timestampProblem ?? Self.keyProblem(columns, options) ?? viewProblem ?? unwrittenKeyProblem
      ?? uncoveredProblem
  }

  /// The problem of a part that has other columns than the whole record, or lacks those that identify a row.
  private var partProblem: String? {
    guard let whole else { return nil }
    let (own, all) = (
      Set(columns.map(\.name.foldedName)), Set(whole.columns.map(\.name.foldedName))
    )
    if let column = columns.first(where: { !all.contains($0.name.foldedName) }) {
      return "“\(column.name)” isn't a column of \(whole.recordType), of which it is a part"
    }
    let needed = whole.columns.filter { $0.isPrimaryKey || $0.isVersion }
    guard let column = needed.first(where: { !own.contains($0.name.foldedName) }) else {
      return nil
    }
    return """
      \(recordType) is a part of \(whole.recordType), but lacks “\(column.name)”, which belongs to the \
      \(column.isVersion ? "row's version" : "key")
      """
  }

  /// The problem of a key that is never written: it is another one in the database than in the record.
  private var unwrittenKeyProblem: String? {
    guard !options.contains(.view),
      let column = columns.first(where: { $0.isPrimaryKey && !$0.isWritten })
    else { return nil }
    // A key that is nil gets the value that the database has chosen.
    let isChosen =
      column.isOfRowIDType && column.type == .integer.optional && !options.contains(.withoutRowID)
    if isChosen, columns.count(where: \.isPrimaryKey) == 1 { return nil }
    return """
      its key “\(column.name)” is never written, so the row's key would differ from the record's: leave out \
      \(column.generated == nil ? ".readOnly" : ".generated") or, for the database to choose the key, make \
      the property an optional integer
      """
  }

  private var uncoveredProblem: String? {
    var properties = StoredProperties(
      zip(columns, self.properties).map { column, property in
        CoveredProperty(
          place: property.place, type: property.valueType, size: property.size, column: column.name)
      } + notStored)
    let names = properties.uncovered(in: record)
    guard let first = names.first else { return nil }
    let (isOne, all) = (names.count == 1, names.quotedList)
    return """
      the \(isOne ? "property" : "properties") \(all) of \(recordType) \
      \(isOne ? "has no column" : "have no columns"), and would be lost: \
      give \(isOne ? "it a column" : "them columns") or, if that is intended, name \
      \(isOne ? "it" : "them") in notStored: [\\.\(first)\(isOne ? "" : ", …")] of \
      Table, or mark \(isOne ? "it" : "them") @NotStored
      """
  }

  static func problem(ofNames name: String, _ columns: [ColumnDefinition]) -> String? {
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

  private var repeatedProblem: String? {
    var known: [AnyKeyPath: Int] = [:]
    for (index, property) in properties.enumerated() {
      guard let keyPath = property.keyPath else { continue }
      if let first = known.updateValue(index, forKey: keyPath) {
        return """
          the columns “\(columns[first].name)” and “\(columns[index].name)” have the same key path: \
          a property can only be one column
          """
      }
    }
    return nil
  }

  private var viewProblem: String? {
    guard options.contains(.view) else { return nil }
    let hasIndex = columns.contains { $0.isIndexed || $0.isUnique || $0.isAutoincrement }
    return hasIndex || !constraints.isEmpty
      ? "a view can't have indexes or constraints" : nil
  }

  private var orderProblem: String? {
    // Zero-sized properties have no offset of their own.
    let stored = columns.indices.filter { properties[$0].isStored && properties[$0].size > 0 }
    for (first, second) in zip(stored, stored.dropFirst())
    where properties[second].offset <= properties[first].offset {
      return """
        the columns “\(columns[first].name)” and “\(columns[second].name)” aren't in the order of the \
        record's properties
        """
    }
    return nil
  }

  private var versionProblem: String? {
    if columns.filter(\.isVersion).count > 1 { return "it has two version columns" }
    for (column, property) in zip(columns, properties) where column.isVersion {
      if column.isPrimaryKey { return "the version “\(column.name)” is a part of the key" }
      if !column.isWritten { return "the version “\(column.name)” isn't written" }
      if !property.isWritable { return "the version “\(column.name)” is a constant" }
    }
    return nil
  }

  private var timestampProblem: String? {
    for (column, property) in zip(columns, properties) where column.timestamp != nil {
      if column.isPrimaryKey { return "the timestamp “\(column.name)” is a part of the key" }
      if !column.isWritten { return "the timestamp “\(column.name)” isn't written" }
      if !property.isWritable { return "the timestamp “\(column.name)” is a constant" }
    }
    return nil
  }

  static func keyProblem(
    _ columns: [ColumnDefinition], _ options: TableOptions
  ) -> String? {
    let key = columns.filter(\.isPrimaryKey)
    if key.isEmpty {
      return !options.isDisjoint(with: [.noPrimaryKey, .view])
        ? nil : "it has no primary key; use .noPrimaryKey if that is intended"
    }
    if options.contains(.noPrimaryKey) { return "it has a primary key, but also .noPrimaryKey" }
    for column in key where column.isAutoincrement {
      if key.count > 1 || column.type.kind != .integer || !column.isOfRowIDType
        || options.contains(.withoutRowID)
      {
        return "“\(column.name)” can't be autoincremented: it isn't the row id"
      }
    }
    return nil
  }
}
