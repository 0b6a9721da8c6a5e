import Larder
import LarderTerminal

/// A record to be generated for a table or view.
struct RecordPlan {
  /// The table; for a view, only its name and columns are known.
  let table: TableSchema
  let isView: Bool
  /// The record's type, without backticks.
  let type: String
  private let types: Set<String>
  /// The properties in the order of the table's columns. Those of the primary key are in the key's order
  /// among themselves, as in a declaration.
  var properties: [PropertyPlan]
  var constraints: [PlannedConstraint] = []
  var indexes: [PlannedConstraint] = []
  var associations: [PlannedAssociation] = []
  var notes: [String] = []
  /// The table's comment in a server's catalog.
  var documentation: String?
  /// The schema that the declaration names; nil for the first one of the search path.
  var schema: String?
  /// The columns without a property, since their values can't be read.
  var unreadable: Set<String> = []

  var writtenType: String { SwiftName.written(type) }

  /// The source texts of the table's options.
  var options: [String] {
    if isView { return [".view"] }
    return (table.isWithoutRowID ? [".withoutRowID"] : [])
      + (keyProperties.isEmpty ? [".noPrimaryKey"] : [])
      + (table.isStrict || isOnServer ? [] : [".notStrict"])
  }

  /// Whether the table is a server's, which has no options such as STRICT.
  var isOnServer: Bool { table.engine != nil }

  /// The positions of the primary key's properties.
  var keyProperties: [Int] {
    isView ? [] : properties.indices.filter { properties[$0].column.primaryKeyPosition > 0 }
  }

  /// The position of a column's property; nil for a column that is left out.
  func property(of column: String) -> Int? {
    properties.firstIndex { table.key($0.column.name) == table.key(column) }
  }

  /// The positions of several columns' properties; nil if one is left out.
  func properties(of columns: [String]) -> [Int]? {
    let places = columns.compactMap(property)
    return places.count == columns.count ? places : nil
  }

  /// Sets the origins of a view's columns, which are in the columns' order.
  mutating func setOrigins(_ origins: [ColumnOrigin?]) {
    for (column, origin) in zip(table.columns, origins) {
      guard let place = property(of: column.name) else { continue }
      properties[place].origin = origin
    }
  }

  /// Whether a name is taken, so that no association can have it. A property may have the same name, since
  /// associations are static.
  func isTaken(_ name: String) -> Bool {
    SwiftName.takenStatics.contains(name) || types.contains(name)
  }

  /// Whether a property or a query's function has an association's name.
  func needsType(_ name: String) -> Bool {
    SwiftName.queryFunctions.contains(name) || properties.contains { $0.name == name }
  }
}

/// The knowledge of a column besides its declaration.
enum ColumnKnowledge {
  /// The values of a file's column, which may be of any type.
  case values(ColumnEvidence)
  /// The type of a server's column, which determines its values; for a domain, the base type.
  case serverType(String)
}

/// A constraint or index of a table, apart from those of single columns.
enum PlannedConstraint {
  /// A unique constraint. The numbers are positions of properties.
  case unique([Int])
  case check(String)
  case foreignKey([Int], type: String, actions: [String])
  case index([Int], isUnique: Bool, condition: String?, name: String?)

  /// The call in a declaration, and its arguments.
  ///
  /// - Parameter column: the expression for a property's column: `\.name` or `columns.name`.
  func call(_ column: (Int) -> String) -> (name: String, arguments: [String]) {
    switch self {
    case .unique(let columns): return (".unique", columns.map(column))
    case .check(let condition): return (".check", [condition.swiftLiteral])
    case .foreignKey(let columns, let type, let actions):
      return (".foreignKey", columns.map(column) + ["references: \(type).self"] + actions)
    case .index(let columns, let isUnique, let condition, let name):
      let options =
        (isUnique ? ["unique: true"] : [])
        + (condition.map { ["where: \($0.swiftLiteral)"] } ?? [])
        + (name.map { ["name: \($0.swiftLiteral)"] } ?? [])
      return (".index", columns.map(column) + options)
    }
  }
}

/// An association, which is a static property of a record.
struct PlannedAssociation {
  let name: String
  /// The association's type: `BelongsTo`, `HasMany` or `HasManyThrough`.
  let kind: String
  /// The positions of the associated records: the owner, a link table's if there is one, and the target.
  let records: [Int]
  /// Whether the type has to be written, since a property or a query's function has the same name: to infer
  /// it, the compiler would need that of the property, and for it that of the association.
  let isTyped: Bool
  /// The arguments in Swift, given the prefix of the enumeration around the records.
  let arguments: (_ space: String) -> [String]
}

extension RecordPlan {
  /// - Parameters:
  ///   - types: the types of all records.
  ///   - columns: the knowledge of the columns, in their order.
  ///   - names: the properties' names that the user chose, by the folded names of columns.
  ///   - naming: the rules for the names of other properties.
  init(
    _ table: TableSchema, isView: Bool, types: [String], type: String, columns: [ColumnKnowledge],
    names: [[UInt8]: String], _ naming: TableNaming
  ) {
    self.table = table
    self.isView = isView
    self.type = type
    self.types = Set(types)
    let keyName = isView || table.primaryKey.count != 1 ? nil : table.primaryKey[0]
    // In scripts without upper case, a property could have a type's name, and hide it.
    var taken = self.types.union(names.values)
    properties = zip(table.columns, columns).enumerated().compactMap { place, pair in
      let (column, knowledge) = pair
      // A record can't declare a column without a name.
      guard !column.name.isEmpty, Self.isFirst(column, in: table) else { return nil }
      let isKey = column.name == keyName
      let name =
        names[table.key(column.name)]
        ?? Self.propertyName(naming.column(column.name), of: type, isKey: isKey, table).distinct(
          from: &taken, or: "column\(place + 1)")
      switch knowledge {
      case .values(let evidence):
        return PropertyPlan(column, evidence, name, of: table, isView: isView)
      case .serverType(let type):
        return PropertyPlan(column, ofServerType: type, name, of: table, isView: isView)
      }
    }
    noteUnreadable(columns)
    if table.columns.contains(where: \.name.isEmpty) {
      notes.append("A column without a name is left out: a record's columns need names.")
    }
    orderKey()
  }

  /// Whether no earlier column has the same name apart from case, which a record can't declare.
  private static func isFirst(_ column: ColumnSchema, in table: TableSchema) -> Bool {
    table.columns.first { $0.name.foldedName == column.name.foldedName }?.name == column.name
  }

  /// The property's name for a column, such as `id` for the key `ArtistId` of an artist.
  private static func propertyName(
    _ column: String, of type: String, isKey: Bool, _ table: TableSchema
  ) -> String? {
    let words = SwiftName.words(of: column).map { $0.lowercased() }
    let owner = SwiftName.words(of: type).map { $0.lowercased() }
    let short = words.last ?? ""
    let hasOther = table.columns.contains { $0.name.foldedName == short.foldedName }
    if isKey, !hasOther, ["id", "uuid"].contains(short), Array(words.dropLast()) == owner {
      return short
    }
    return SwiftName.property(column)
  }

  /// Sorts the key's properties in the key's order, among the positions that they have. A declaration has
  /// that order.
  private mutating func orderKey() {
    let places = keyProperties
    let key = places.map { properties[$0] }.sorted {
      $0.column.primaryKeyPosition < $1.column.primaryKeyPosition
    }
    for (place, property) in zip(places, key) { properties[place] = property }
  }
}

extension String? {
  /// The name, or the fallback if it is nil, with a number appended if it is already taken.
  func distinct(from taken: inout Set<String>, or fallback: String) -> String {
    let name = self ?? fallback
    var distinct = name
    var number = 2
    while !taken.insert(distinct).inserted {
      distinct = "\(name)\(number)"
      number += 1
    }
    return distinct
  }
}

extension PropertyPlan {
  init(
    _ column: ColumnSchema, _ evidence: ColumnEvidence, _ name: String, of table: TableSchema,
    isView: Bool
  ) {
    let isRowID = table.rowIDColumn?.foldedName == column.name.foldedName
    let guess = StorageGuess(
      column, evidence, isKey: isRowID, isStrict: table.isStrict, isView: isView)
    self.column = column
    self.evidence = evidence
    self.name = name
    storage = guess.storage
    notes = guess.notes
    let isKey = column.primaryKeyPosition > 0
    isOptional = isView || isRowID || !column.isNotNull && (!isKey || evidence.hasNull)
    if isKey, !isRowID, evidence.hasNull {
      notes.append("It is part of the key, but NULL in some rows, which can't be found or updated.")
    }
    if storage == .any, !isOptional { storage = .anyNotNull }
  }
}
