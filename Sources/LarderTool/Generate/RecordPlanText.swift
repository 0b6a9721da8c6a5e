import Larder

// The options, constraints and indexes of a record's declaration, chosen so that Larder finds no difference
// from the table.

extension RecordPlan {
  /// Translates the table's declaration, as far as a record can express it. The rest becomes comments.
  /// Foreign keys are added later.
  mutating func declare() {
    guard !isView else { return }
    for place in properties.indices { declareProperty(place) }
    if keyProperties.count == 1, table.isAutoincrement {
      properties[keyProperties[0]].options[0] = .autoincrement
    }
    for constraint in table.uniqueIndexes { declare(unique: constraint) }
    for index in table.indexes { declare(index) }
    let own = properties.flatMap(\.column.checks)
    for check in table.checks where !own.contains(check) {
      if namesUnreadable(check) {
        notes.append("Not declared, since a column is left out: CHECK (\(check))".commented)
      } else {
        constraints.append(.check(check))
      }
    }
  }

  private mutating func declareProperty(_ place: Int) {
    guard isOnServer else { return properties[place].declare(in: table) }
    if properties[place].column.primaryKeyPosition > 0 { properties[place].add(.primaryKey) }
    properties[place].declareOnServer(
      isKey: properties[place].isOptional && keyProperties == [place], namesSchema: schema != nil)
    for check in properties[place].column.checks { properties[place].add(.check(check)) }
  }

  private mutating func declare(unique constraint: IndexSchema) {
    let columns = constraint.columns.compactMap { $0 }
    if columns == [table.rowIDColumn] { return }
    guard
      constraint.terms == columns.map(\.quotedIdentifier)
        || isOnServer && constraint.terms.map(Self.column) == columns.map(String?.some),
      let places = properties(of: columns)
    else {
      return notes.append(
        "Not declared, since a record's constraint can only have columns: \(constraint.sql.commented)"
      )
    }
    if places.count == 1 {
      properties[places[0]].add(.unique)
    } else {
      constraints.append(.unique(places))
    }
  }

  private mutating func declare(_ index: IndexSchema) {
    let columns = index.terms.map(isOnServer ? serverColumn : Self.column)
    guard let places = properties(of: columns.compactMap { $0 }), places.count == columns.count,
      !index.name.isEmpty, !isOnServer || index.canBeDeclared,
      !namesUnreadable(index.condition ?? "")
    else {
      let reason =
        isOnServer && index.terms.allSatisfy { Self.column(ofTerm: $0) != nil }
          && index.canBeDeclared
        ? "puts NULLs first, as SQLite does" : "can only have columns"
      return notes.append(
        "Not declared, since a record's index \(reason): \(index.sql.commented)")
    }
    let names = places.map { properties[$0].column.name }
    let usual = ([table.name] + names + ["index"]).joined(separator: "_")
    if places.count == 1, index.name == usual, !index.isUnique, index.condition == nil {
      return properties[places[0]].add(.indexed)
    }
    indexes.append(
      .index(
        places, isUnique: index.isUnique, condition: index.condition,
        name: index.name == usual ? nil : index.name))
  }

  /// The column of an index term; nil for an expression, or for another order than ASC.
  private static func column(ofTerm term: String) -> String? {
    let tokens = term.sqlTokens
    guard let name = tokens.first?.identifier else { return nil }
    let isPlain = tokens.count == 1 || tokens.count == 2 && tokens[1].isWord("asc")
    return isPlain ? name : nil
  }

  /// The column of a term of a server's index; nil unless a declared index has the same order of NULLs.
  private func serverColumn(ofTerm term: String) -> String? {
    let tokens = term.sqlTokens
    guard let name = tokens.first?.identifier, let place = property(of: name) else { return nil }
    let order = properties[place].isOptional ? ["nulls", "first"] : []
    return tokens.dropFirst().map { $0.text.lowercased() } == order ? name : nil
  }

  // MARK: Looking at the result

  /// Adds comments on the differences that Larder still finds, which a declaration can't express.
  mutating func noteDifferences() {
    guard !isView else { return }
    var options: TableOptions = table.isStrict ? [] : .notStrict
    if table.isWithoutRowID { options.insert(.withoutRowID) }
    if keyProperties.isEmpty { options.insert(.noPrimaryKey) }
    do {
      note(try TableSchema(table.name, columns(\.option), options: options))
    } catch {
      notes.append("Larder can't use this declaration: \("\(error)".commented)")
    }
  }

  /// The declared columns, each with the options that a closure makes.
  func columns(
    _ option: (PlannedOption) -> ColumnOption<DatabaseValue>?
  ) -> [ColumnDefinition] {
    properties.map { property in
      let type = property.storage.columnType
      return .column(
        property.column.name,
        property.isOptional || property.storage == .any ? type.optional : type,
        options: property.options.compactMap(option) + [.stored(as: property.storage.form)])
    }
  }

  /// Adds comments on the differences from the declared table.
  mutating func note(_ declared: TableSchema) {
    let told: Set<TableDifference.Kind> = [.index, .check, .foreignKey]
    for difference in declared.differences(from: table) where !told.contains(difference.kind) {
      if difference.kind == .column, let column = difference.column, unreadable.contains(column) {
        continue
      }
      notes.append("Differs, since a declaration can't express it: \("\(difference)".commented).")
    }
  }
}

extension PropertyPlan {
  fileprivate mutating func declare(in table: TableSchema) {
    if column.primaryKeyPosition > 0 { add(.primaryKey) }
    declareType(in: table)
    if let collation = column.collation { add(.collate(collation)) }
    for check in column.checks { add(.check(check)) }
    if let expression = column.generated {
      add(.generated(expression, isStored: column.isStored))
    } else if let sql = column.default, sql.normalizedSQL != ["null"] {
      declareDefault(sql, literal(of: sql))
    }
  }

  mutating func add(_ option: PlannedOption) { options.append(option) }

  private mutating func declareType(in table: TableSchema) {
    // In a table that isn't STRICT, ANY has no special meaning.
    let usual =
      storage.isAny && !table.isStrict ? "" : SQLiteDialect().typeName(of: storage.columnType)
    guard column.type != usual else { return }
    if Self.isPlainType(column.type) {
      add(.sqlType(column.type))
    } else {
      notes.append("Its type isn't declared: \(column.type.commented).")
    }
  }

  /// Whether a type consists of words and numbers, and the brackets of an array, so that a declaration can't
  /// mistake it for something else.
  private static func isPlainType(_ type: String) -> Bool {
    let form = /((?:[A-Za-z_ ][A-Za-z0-9_ ]*)?)(?:\([0-9, +\-.]+\))?(?:\[\])*/
    guard let name = type.wholeMatch(of: form)?.1 else { return false }
    return !name.split(separator: " ").contains { DDL.constraintWords.contains($0.lowercased()) }
  }

  /// Declares the default, by its literal if Larder writes the same SQL for that.
  mutating func declareDefault(_ sql: String, _ literal: Literal?) {
    value = literal?.text
    if let literal, literal.isSame {
      add(.defaultValue(literal.value, text: literal.text))
    } else {
      add(.defaultSQL(sql))
    }
  }

  struct Literal {
    let value: DatabaseValue
    /// The literal in Swift.
    let text: String
    /// Whether Larder writes the same SQL for it.
    let isSame: Bool
  }

  /// The default as a literal of the property's type; nil if it isn't one.
  private func literal(of sql: String) -> Literal? {
    guard storage.coding == nil else { return nil }
    if let words = storage.words {
      let tokens = sql.sqlTokens
      guard tokens.count == 1, tokens[0].kind == .quoted, let text = tokens[0].name else {
        return nil
      }
      return words.literal(of: text).map {
        Literal(value: .text(text), text: $0, isSame: true)
      }
    }
    switch storage.type {
    case "Decimal":
      return Int64(sql).map { Literal(value: .integer($0), text: "\($0)", isSame: false) }
    case "Int", "Int64":
      return Int64(sql).map { Literal(value: .integer($0), text: "\($0)", isSame: "\($0)" == sql) }
    case "Bool":
      let words = ["0": false, "1": true, "false": false, "true": true]
      return words[sql.lowercased()].map {
        Literal(value: .integer($0 ? 1 : 0), text: "\($0)", isSame: sql.utf8.count == 1)
      }
    case "Double":
      guard let number = Double(sql), number.isFinite else { return nil }
      return Literal(value: .real(number), text: "\(number)", isSame: "\(number)" == sql)
    case "String":
      let tokens = sql.sqlTokens
      guard tokens.count == 1, let name = tokens[0].name,
        tokens[0].kind == .quoted || !Self.words.contains(where: tokens[0].isWord)
      else { return nil }
      return Literal(value: .text(name), text: name.swiftLiteral, isSame: true)
    default: return nil
    }
  }

  /// Words that are values in a DEFAULT, and not strings.
  private static let words = [
    "current_timestamp", "current_date", "current_time", "true", "false", "null",
  ]
}

extension IndexSchema {
  /// Whether a declaration can express a server's index completely.
  fileprivate var canBeDeclared: Bool {
    !sql.sqlTokens.contains { token in
      ["include", "with", "distinct"].contains(where: token.isWord)
    }
  }
}
