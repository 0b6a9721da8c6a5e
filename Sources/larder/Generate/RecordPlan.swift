import Larder
import LarderTerminal

/// A record that is to be generated: a table or view, and what Swift makes of it.
struct RecordPlan {
  /// Of a view it is its columns alone.
  let table: TableSchema
  let isView: Bool
  /// Without backticks.
  let type: String
  /// Those of all records.
  private let types: Set<String>
  /// In the order of the table's columns; those of the key in the key's, as a declaration has them.
  var properties: [PropertyPlan]
  var constraints: [PlannedConstraint] = []
  var indexes: [PlannedConstraint] = []
  var associations: [PlannedAssociation] = []
  /// What is told of it in comments.
  var notes: [String] = []
  /// The columns without a property, since their values can't be read.
  var unreadable: Set<String> = []

  var writtenType: String { SwiftName.written(type) }

  /// The options of the table as they are written.
  var options: [String] {
    if isView { return [".view"] }
    return (table.isWithoutRowID ? [".withoutRowID"] : [])
      + (keyProperties.isEmpty ? [".noPrimaryKey"] : [])
      + (table.isStrict || isOnServer ? [] : [".notStrict"])
  }

  /// Whether it is a server's, which has no such options.
  var isOnServer: Bool { table.engine != nil }

  /// The places of the properties of the primary key.
  var keyProperties: [Int] {
    isView ? [] : properties.indices.filter { properties[$0].column.primaryKeyPosition > 0 }
  }

  /// The place of a column's property; nil for a column that is left out.
  func property(of column: String) -> Int? {
    properties.firstIndex { table.key($0.column.name) == table.key(column) }
  }

  /// The places of several columns' properties; nil where one is left out.
  func properties(of columns: [String]) -> [Int]? {
    let places = columns.compactMap(property)
    return places.count == columns.count ? places : nil
  }

  /// Says where the columns of a view come from, in the order of its columns.
  mutating func setOrigins(_ origins: [ColumnOrigin?]) {
    for (column, origin) in zip(table.columns, origins) {
      guard let place = property(of: column.name) else { continue }
      properties[place].origin = origin
    }
  }

  /// Whether no association can have a name.
  func isTaken(_ name: String) -> Bool {
    SwiftName.takenStatics.contains(name) || types.contains(name)
      || properties.contains { $0.name == name }
  }
}

/// What is known of a column besides its declaration.
enum ColumnKnowledge {
  /// Of a file's, which may hold anything: what it holds.
  case values(ColumnEvidence)
  /// Of a server's, which holds nothing else: the type, that of a domain's values for one.
  case serverType(String)
}

extension TableSchema {
  /// A name of a table or column as the database compares it.
  func key(_ name: String) -> [UInt8] { engine == nil ? name.foldedName : Array(name.utf8) }
}

/// What a table has that isn't a single column's.
enum PlannedConstraint {
  /// The numbers are the places of properties.
  case unique([Int])
  case check(String)
  case foreignKey([Int], type: String, actions: [String])
  case index([Int], isUnique: Bool, condition: String?, name: String?)

  /// The call that stands in a declaration, and its arguments.
  ///
  /// - Parameter column: what names a property's column: `\.name` or `columns.name`.
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

/// What belongs to a record, as a static property of it.
struct PlannedAssociation {
  let name: String
  /// `BelongsTo`, `HasMany` or `HasManyThrough`.
  let kind: String
  /// The columns that it is made of, as they are written behind the name of a space around the records.
  let arguments: (_ space: String) -> [String]
}

extension RecordPlan {
  /// - Parameters:
  ///   - types: those of all records.
  ///   - columns: what is known of them, in their order.
  ///   - names: of properties, by the folded names of columns, where they were asked for.
  init(
    _ table: TableSchema, isView: Bool, types: [String], type: String, columns: [ColumnKnowledge],
    names: [[UInt8]: String]
  ) {
    self.table = table
    self.isView = isView
    self.type = type
    self.types = Set(types)
    let keyName = isView || table.primaryKey.count != 1 ? nil : table.primaryKey[0]
    // In scripts without capital letters a property could have a type's name, and hide it.
    var taken = self.types.union(names.values)
    properties = zip(table.columns, columns).enumerated().compactMap { place, pair in
      let (column, knowledge) = pair
      // A declaration has no column without a name.
      guard !column.name.isEmpty, Self.isFirst(column, in: table) else { return nil }
      let isKey = column.name == keyName
      let name =
        names[table.key(column.name)]
        ?? Self.propertyName(column.name, of: type, isKey: isKey, table).distinct(
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
      notes.append("A column without a name is left out: a record's columns have names.")
    }
    orderKey()
  }

  /// Whether no column before it has the same name but for its case: a record's columns don't.
  private static func isFirst(_ column: ColumnSchema, in table: TableSchema) -> Bool {
    table.columns.first { $0.name.foldedName == column.name.foldedName }?.name == column.name
  }

  /// `id` for the key `ArtistId` of an artist.
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

  /// Puts the columns of the key at their own places in the order of the key, which is that in which they are
  /// declared.
  private mutating func orderKey() {
    let places = keyProperties
    let key = places.map { properties[$0] }.sorted {
      $0.column.primaryKeyPosition < $1.column.primaryKeyPosition
    }
    for (place, property) in zip(places, key) { properties[place] = property }
  }
}

extension String? {
  /// This name, or another one where there is none, with a number where it is taken already.
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
      notes.append(
        "It is a part of the key, and NULL in some rows: those can't be found or updated.")
    }
    if storage == .any, !isOptional { storage = .anyNotNull }
  }
}
