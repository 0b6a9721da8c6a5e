import Larder

extension [RecordPlan] {
  /// Gives columns whose CHECK lists their texts an enumeration; those with the same texts share one, and so do
  /// those of one enumeration type of a server.
  ///
  /// - Parameters:
  ///   - taken: the names of types that are taken.
  ///   - server: the catalog of a server; nil for a file.
  mutating func planEnums(besides taken: Set<String>, on server: ServerCatalog?) {
    var groups: [EnumGroup] = []
    for record in indices {
      for property in self[record].properties.indices {
        let plan = self[record].properties[property]
        let type =
          plan.isTexts
          ? server?.enumeration(of: plan.column.name, self[record].table.name) : nil
        guard let texts = type?.labels ?? self[record].allowedTexts(property), !texts.isEmpty else {
          continue
        }
        if let same = groups.firstIndex(where: { $0.type == type && Set($0.texts) == Set(texts) }) {
          groups[same].places.append((record, property))
        } else {
          groups.append(EnumGroup(type: type, texts: texts, places: [(record, property)]))
        }
      }
    }
    var taken = taken
    for group in groups {
      let name =
        group.type.flatMap { self.name(of: $0, &taken) } ?? self.name(of: group.places, &taken)
      let properties = group.places.map { self[$0.record].properties[$0.property] }
      let columns = zip(group.places, properties).map { place, property in
        "\(self[place.record].table.name).\(property.column.name)"
      }
      let planned = PlannedEnum(
        name: name, texts: group.texts, columns: columns, type: group.type,
        isInArrays: properties.contains { $0.storage.coding == ".array" })
      for place in group.places {
        self[place.record].properties[place.property].storage.take(planned)
        self[place.record].properties[place.property].notes = []
      }
    }
  }

  /// The name of an enumeration type of a server in Swift; nil if it has none that is free.
  private func name(of type: ServerEnum, _ taken: inout Set<String>) -> String? {
    let own = type.name.split(separator: ".").last.map { $0.filter { $0 != "\"" } } ?? type.name
    guard let name = SwiftName.camelCase(SwiftName.words(of: own))?.capitalizedFirst,
      !SwiftName.reservedTypes.contains(name), taken.insert(name).inserted
    else { return nil }
    return name
  }

  /// The name of an enumeration: that of its column if several tables share it, or else with the record's
  /// before it.
  private func name(
    of places: [(record: Int, property: Int)], _ taken: inout Set<String>
  ) -> String {
    let names = Set(places.map { self[$0.record].properties[$0.property].name })
    let record = self[places[0].record]
    let own = record.properties[places[0].property].name
    let short = own.prefix(1).uppercased() + own.dropFirst()
    let isShared = Set(places.map(\.record)).count > 1 && names.count == 1
    let isFree = !taken.contains(short) && !SwiftName.reservedTypes.contains(short)
    if isShared && isFree || short.hasPrefix(record.type), isFree {
      taken.insert(short)
      return short
    }
    return String?.some(record.type + short).distinct(from: &taken, or: short)
  }
}

/// The columns that have the same texts.
private struct EnumGroup {
  let type: ServerEnum?
  let texts: [String]
  /// The positions of the records and of their properties.
  var places: [(record: Int, property: Int)]
}

extension PropertyPlan {
  /// Whether the values are texts, or arrays of texts.
  fileprivate var isTexts: Bool {
    elementType == "String" && [nil, ".array"].contains(storage.coding)
  }
}

extension PropertyStorage {
  /// Puts an enumeration in the place of the texts.
  fileprivate mutating func take(_ words: PlannedEnum) {
    type = type.replacing("String", with: SwiftName.written(words.name))
    self.words = words
  }
}

extension RecordPlan {
  /// The texts that a property's CHECK allows; nil if it has none, or if its values aren't plain texts.
  fileprivate func allowedTexts(_ place: Int) -> [String]? {
    let property = properties[place]
    // Another collation lets the CHECK accept other texts than those of the list.
    guard !isView, property.storage == .text, property.column.generated == nil,
      isOnServer || (property.column.collation ?? "BINARY").uppercased() == "BINARY"
    else { return nil }
    return table.checks.lazy.compactMap { check -> [String]? in
      let name = property.column.name
      guard
        let texts = isOnServer
          ? check.textsListed(ofColumn: name) : check.listedTexts(of: name, table),
        texts.count <= 100,
        property.evidence.values == 0
          || property.evidence.words.words.map(Set(texts).isSuperset) ?? false
      else { return nil }
      return texts
    }.first
  }
}

extension String {
  /// The texts in `column IN ('a', 'b')`, which may be in parentheses or beside `column IS NULL`; nil for any
  /// other condition.
  fileprivate func listedTexts(of column: String, _ table: TableSchema) -> [String]? {
    var tokens = sqlTokens.withoutParentheses[...]
    func isColumn(_ token: SQLPiece?) -> Bool {
      token?.identifier.map { table.key($0) == table.key(column) } ?? false
    }
    func isNull(_ part: ArraySlice<SQLPiece>) -> Bool {
      let part = Array(part)
      return part.count == 3 && isColumn(part[0]) && part[1].isWord("is") && part[2].isWord("null")
    }
    if tokens.count > 4, isNull(tokens.prefix(3)), tokens.dropFirst(3).first?.isWord("or") == true {
      tokens = tokens.dropFirst(4)
    } else if tokens.count > 4, isNull(tokens.suffix(3)),
      tokens.dropLast(3).last?.isWord("or") == true
    {
      tokens = tokens.dropLast(4)
    }
    guard isColumn(tokens.popFirst()), tokens.popFirst()?.isWord("in") == true,
      tokens.popFirst()?.isSymbol("(") == true, tokens.popLast()?.isSymbol(")") == true
    else { return nil }
    var texts: [String] = []
    while let token = tokens.popFirst() {
      guard token.kind == .quoted, token.identifier == nil, let text = token.name else {
        return nil
      }
      if !texts.contains(text) { texts.append(text) }
      guard tokens.isEmpty || tokens.popFirst()?.isSymbol(",") == true else { return nil }
    }
    return texts.isEmpty ? nil : texts
  }
}
