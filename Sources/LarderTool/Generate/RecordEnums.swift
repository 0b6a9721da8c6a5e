import Larder

extension [RecordPlan] {
  /// Gives columns whose CHECK lists their texts an enumeration; those with the same texts share one.
  ///
  /// - Parameter taken: the names of types that are taken.
  mutating func planEnums(besides taken: Set<String>) {
    var groups: [(texts: [String], places: [(record: Int, property: Int)])] = []
    for record in indices where !self[record].isView && !self[record].isOnServer {
      for property in self[record].properties.indices {
        guard let texts = self[record].allowedTexts(property) else { continue }
        if let same = groups.firstIndex(where: { Set($0.texts) == Set(texts) }) {
          groups[same].places.append((record, property))
        } else {
          groups.append((texts, [(record, property)]))
        }
      }
    }
    var taken = taken
    for group in groups {
      let name = name(of: group.places, &taken)
      let columns = group.places.map { place in
        "\(self[place.record].table.name).\(self[place.record].properties[place.property].column.name)"
      }
      let planned = PlannedEnum(name: name, texts: group.texts, columns: columns)
      for place in group.places {
        self[place.record].properties[place.property].storage = planned.storage
        self[place.record].properties[place.property].notes = []
      }
    }
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

extension RecordPlan {
  /// The texts that a property's CHECK allows; nil if it has none, or if its values aren't plain texts.
  fileprivate func allowedTexts(_ place: Int) -> [String]? {
    let property = properties[place]
    // Another collation lets the CHECK accept other texts than those of the list.
    guard property.storage == .text, property.column.generated == nil,
      (property.column.collation ?? "BINARY").uppercased() == "BINARY"
    else { return nil }
    return table.checks.lazy.compactMap { check -> [String]? in
      guard let texts = check.listedTexts(of: property.column.name, table), texts.count <= 100,
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
