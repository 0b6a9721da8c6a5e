import Larder

/// Finds the relations of the generated records. Foreign keys become options, and associations on both sides.
struct RecordRelations {
  private(set) var records: [RecordPlan]
  /// The positions of the tables' records, by ``Larder/TableSchema/key(_:)``.
  private let places: [[UInt8]: Int]

  init(_ records: [RecordPlan]) {
    self.records = records
    let tables = records.indices.filter { !records[$0].isView }
    places = Dictionary(
      tables.map { (records[$0].table.key(records[$0].table.name), $0) },
      uniquingKeysWith: { first, _ in first })
    // A key may itself be a foreign key; chains of more than eight are not expected.
    for _ in 0..<8 {
      if adoptKeys() == 0 { break }
    }
    for index in records.indices {
      if records[index].isView { adoptOrigins(of: index) }
      self.records[index].declare()
    }
    for index in records.indices where !records[index].isView { declareKeys(of: index) }
    for index in records.indices where !records[index].isView { associate(index) }
  }

  /// A foreign key to one of the records.
  private struct Relation {
    /// The position of the record with the foreign key. All numbers are positions of records or properties.
    let owner: Int
    let foreignKey: [Int]
    let target: Int
    let key: [Int]
  }

  private func record(_ table: String) -> Int? {
    records.first.flatMap { places[$0.table.key(table)] }
  }

  private func relation(_ key: ForeignKeySchema, of owner: Int) -> Relation? {
    guard key.referencedSchema == nil || key.refersToCurrentSchema,
      let target = record(key.referencedTable),
      let columns = records[owner].properties(of: key.columns)
    else { return nil }
    let names =
      key.referencedColumns.isEmpty
      ? records[target].table.primaryKey : key.referencedColumns
    guard names.count == columns.count, let referenced = records[target].properties(of: names)
    else { return nil }
    return Relation(owner: owner, foreignKey: columns, target: target, key: referenced)
  }

  /// Gives foreign keys the types of the keys that they refer to, if their values fit: associations need the
  /// same storage on both sides. Returns the number of changed properties.
  private mutating func adoptKeys() -> Int {
    var count = 0
    for owner in records.indices where !records[owner].isView {
      for key in records[owner].table.foreignKeys {
        guard let relation = relation(key, of: owner), relation.key.count == 1 else { continue }
        let storage = records[relation.target].properties[relation.key[0]].storage
        let place = relation.foreignKey[0]
        let property = records[owner].properties[place]
        let isAlike =
          property.storage.columnType == storage.columnType || property.isUnknown
          || property.storage == .decimal && storage.columnType == .integer
        guard property.storage != storage, !storage.isAny, isAlike,
          storage.fits(property.evidence),
          property.column.name.foldedName != records[owner].table.rowIDColumn?.foldedName
        else { continue }
        records[owner].properties[place].storage = storage
        records[owner].properties[place].notes = []
        count += 1
      }
    }
    return count
  }

  /// Gives a view's columns the types of the table columns that they show.
  private mutating func adoptOrigins(of view: Int) {
    for place in records[view].properties.indices {
      let property = records[view].properties[place]
      guard let origin = property.origin, let table = record(origin.table),
        let column = records[table].property(of: origin.column)
      else { continue }
      let storage = records[table].properties[column].storage
      guard !storage.isAny, storage.fits(property.evidence) else { continue }
      records[view].properties[place].storage = storage
      records[view].properties[place].notes = []
    }
  }

  // MARK: Declarations

  private mutating func declareKeys(of owner: Int) {
    for key in records[owner].table.foreignKeys {
      guard let relation = relation(key, of: owner) else {
        let columns = key.columns.map { "“\($0)”" }.joined(separator: ", ")
        let schema = key.refersToCurrentSchema ? "" : key.referencedSchema.map { $0 + "." } ?? ""
        records[owner].notes.append(
          "Not declared: \(columns) refers to “\(schema)\(key.referencedTable)”, which has no record here."
            .commented)
        continue
      }
      let target = records[relation.target]
      guard relation.key == target.keyProperties else {
        records[owner].notes.append(
          "Not declared, since a record's foreign key can only refer to a primary key: FOREIGN KEY \(key.text)"
            .commented
        )
        continue
      }
      let (type, actions) = (target.writtenType, key.actions)
      let place = relation.foreignKey[0]
      if relation.foreignKey.count == 1, !records[owner].properties[place].isReference {
        records[owner].properties[place].add(.references(type, actions: actions))
      } else {
        records[owner].constraints.append(
          .foreignKey(relation.foreignKey, type: type, actions: actions))
      }
    }
  }

  // MARK: Associations

  private func relations(of owner: Int) -> [Relation] {
    records[owner].table.foreignKeys.compactMap { relation($0, of: owner) }
      .filter { $0.key.count == 1 && areStoredAlike($0) }
  }

  private func areStoredAlike(_ relation: Relation) -> Bool {
    records[relation.owner].properties[relation.foreignKey[0]].storage
      == records[relation.target].properties[relation.key[0]].storage
  }

  private mutating func associate(_ owner: Int) {
    let relations = relations(of: owner)
    for relation in relations {
      let (record, target) = (records[owner], records[relation.target])
      let foreignKey = record.properties[relation.foreignKey[0]]
      let key = target.properties[relation.key[0]]
      let name = foreignKey.relationName(to: target.type, unless: record.isTaken)
      add(to: owner, name, or: "Record", "BelongsTo", [owner, relation.target]) { space in
        ["columns.\(foreignKey.writtenName)", target.columnText(key, in: space)]
      }
      let isOnly =
        relation.target != owner
        && relations.filter { $0.target == relation.target }.count == 1
      let several = SwiftName.several(SwiftName.noun(record.type))
      let isTree = relation.target == owner && foreignKey.relationName == "parent"
      let many =
        isTree ? "children" : isOnly ? several : "\(several)By\(foreignKey.name.capitalizedFirst)"
      add(to: relation.target, many, or: "Records", "HasMany", [relation.target, owner]) { space in
        ["columns.\(key.writtenName)", record.columnText(foreignKey, in: space)]
      }
    }
    if relations.count == 2, records[owner].isLink(relations.map { $0.foreignKey[0] }) {
      associate(relations[0], through: relations[1])
      associate(relations[1], through: relations[0])
    }
  }

  private mutating func associate(_ own: Relation, through other: Relation) {
    let (link, target) = (records[own.owner], records[other.target])
    let key = records[own.target].properties[own.key[0]]
    let ownKey = link.properties[own.foreignKey[0]]
    let otherKey = link.properties[other.foreignKey[0]]
    let name = SwiftName.several(otherKey.relationName)
    let records = [own.target, own.owner, other.target]
    add(to: own.target, name, or: "Records", "HasManyThrough", records) { space in
      [
        "columns.\(key.writtenName)", link.columnText(ownKey, in: space),
        link.columnText(otherKey, in: space),
        target.columnText(target.properties[other.key[0]], in: space),
      ]
    }
  }

  private mutating func add(
    to index: Int, _ name: String, or suffix: String, _ kind: String, _ types: [Int],
    _ arguments: @escaping (String) -> [String]
  ) {
    let record = records[index]
    var names = Set(record.associations.map(\.name))
    let wanted = record.isTaken(name) ? name + suffix : name
    let distinct = String?.some(wanted).distinct(from: &names, or: wanted)
    records[index].associations.append(
      PlannedAssociation(
        name: distinct, kind: kind, records: types, isTyped: record.needsType(distinct),
        arguments: arguments))
  }
}

extension RecordPlan {
  /// Whether this is a link table: its key, or all of its columns, are these foreign keys.
  fileprivate func isLink(_ foreignKeys: [Int]) -> Bool {
    Set(foreignKeys).count == 2
      && (Set(keyProperties) == Set(foreignKeys) || properties.count == foreignKeys.count)
  }

  fileprivate func columnText(_ property: PropertyPlan, in space: String) -> String {
    "\(space)\(writtenType).columns.\(property.writtenName)"
  }
}

extension PropertyPlan {
  /// Whether neither the declaration nor any value determines the type.
  fileprivate var isUnknown: Bool { storage.isAny && evidence.values == 0 }

  fileprivate var isReference: Bool {
    options.contains { if case .references = $0 { true } else { false } }
  }

  /// The name of a foreign key's association: `artist` for `artistID`.
  fileprivate var relationName: String {
    let endings: Set<String> = ["code", "fk", "guid", "id", "key", "no", "number", "ref", "uuid"]
    // A suffix that was added to the property's name isn't part of it.
    let isOwn = SwiftName.property(column.name) != name
    var words = SwiftName.words(of: isOwn ? name : column.name)
    if words.count > 1, let last = words.last, endings.contains(last.lowercased()) {
      words.removeLast()
    }
    return SwiftName.camelCase(words) ?? name
  }

  /// The association's name. If it is taken, the type that it refers to is appended, such as `capitalCity`,
  /// or else “Record”, such as `cityRecord`.
  fileprivate func relationName(to type: String, unless isTaken: (String) -> Bool) -> String {
    guard isTaken(relationName) else { return relationName }
    let noun = SwiftName.noun(type)
    return relationName + (relationName.lowercased().hasSuffix(noun.lowercased()) ? "Record" : noun)
  }
}

extension SwiftName {
  /// The name of a to-many association: `orderDetails` for `OrderDetail`.
  fileprivate static func several(_ type: String) -> String {
    var words = words(of: type)
    guard let last = words.popLast() else { return type }
    return camelCase(words + [EnglishNoun.plural(last)]) ?? type
  }
}

extension ForeignKeySchema {
  /// The arguments of a declaration for the foreign key's actions.
  fileprivate var actions: [String] {
    func argument(_ label: String, _ action: ForeignKeyAction) -> [String] {
      action == .noAction ? [] : ["\(label): .\(action)"]
    }
    return argument("onDelete", onDelete) + argument("onUpdate", onUpdate)
      + (isDeferred ? ["deferred: true"] : [])
  }

  fileprivate var text: String {
    "(\(columns.identifierList)) REFERENCES \(referencedTable.quotedIdentifier)"
      + (referencedColumns.isEmpty ? "" : " (\(referencedColumns.identifierList))")
  }
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
