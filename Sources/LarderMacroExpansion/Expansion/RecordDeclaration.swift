/// A type that is to be a record, as far as it can be one.
struct RecordDeclaration {
  let type: TypeDeclaration
  let columns: [ColumnDeclaration]
  /// The names of the properties that are stored in records, and in no column.
  let notStored: [String]
  let arguments: RecordArguments
  let initializer: RecordInitializer

  /// Throws where the declaration can't be read, or says what can't be.
  init(_ scanner: SourceScanner, attribute: SourceScanner) throws {
    var reading = scanner
    type = try reading.typeDeclaration()
    try Self.checkKind(type)
    columns = try type.properties.filter(Self.isColumn).map {
      try ColumnDeclaration($0, in: scanner)
    }
    notStored = type.properties.filter {
      $0.isStored && $0.prefix.attribute("NotStored") != nil
    }.map(\.name)
    for (first, second) in zip(columns, columns.dropFirst()) {
      let attributes = [first, second].map { $0.property.prefix.attribute("Column")?.offset }
      if let attribute = attributes[0], attribute == attributes[1] {
        throw SourceProblem("@Column is one property's: declare each by itself", at: attribute)
      }
    }
    for other in type.others where other.name == "Columns" {
      throw SourceProblem("@Record writes a type of this name itself", at: other.offset)
    }
    for property in type.properties
    where property.name == "columns" || property.name == "table" && property.storage == .ofType {
      throw SourceProblem(
        "@Record writes a static property of this name: choose another, and the column's name with @Column",
        at: property.offset)
    }
    initializer = try RecordInitializer(type, columns, in: scanner)
    do {
      arguments = try RecordArguments(attribute, columns: columns.map(\.property.name))
    } catch let problem as SourceProblem {
      throw AttributeProblem(problem: problem)
    }
    guard !columns.isEmpty else {
      throw SourceProblem("“\(type.name)” has no properties that are stored", at: type.offset)
    }
    guard columns.contains(where: \.isKey) || arguments.mayHaveNoKey else {
      throw SourceProblem(
        "no property is the primary key: mark it @Column(.primaryKey), or say options: .noPrimaryKey",
        at: type.offset)
    }
  }

  private static func checkKind(_ type: TypeDeclaration) throws {
    guard type.keyword == "struct" || type.keyword == "class" else {
      throw SourceProblem("@Record makes records of structures and final classes", at: type.offset)
    }
    if let offset = type.genericOffset {
      throw SourceProblem(
        "a generic type can't be a record, since it has no static properties", at: offset)
    }
    guard type.keyword == "class" else { return }
    guard type.prefix.modifiers.contains("final") else {
      throw SourceProblem("a class has to be final to be a record", at: type.offset)
    }
    guard type.initializerOffset != nil else {
      throw SourceProblem("a class needs an initializer of its own to be a record", at: type.offset)
    }
  }

  /// Whether a property is a column; throws where that can't be told.
  private static func isColumn(_ property: PropertyDeclaration) throws -> Bool {
    let columns = property.prefix.attributes.filter { $0.name == "Column" }
    if columns.count > 1 {
      throw SourceProblem("a property has one @Column", at: columns[1].offset)
    }
    guard property.isStored else {
      if let column = columns.first {
        throw SourceProblem(
          "only a property that is stored in its record is a column", at: column.offset)
      }
      return false
    }
    for attribute in property.prefix.conditionalAttributes
    where !isPlain(attribute) {
      throw SourceProblem(
        "@Record can't tell whether this is compiled: a property is the same column under all conditions",
        at: attribute.offset)
    }
    if let notStored = property.prefix.attribute("NotStored") {
      if let column = columns.first {
        throw SourceProblem("a property is a column, or @NotStored", at: column.offset)
      }
      try checkHasValue(property, notStored)
      return false
    }
    for attribute in property.prefix.attributes where attribute.name != "Column" {
      guard isPlain(attribute) else {
        throw SourceProblem(
          "@\(attribute.name) could be a property wrapper or a macro, with which this isn't simply stored: add @NotStored, or store a property without it",
          at: attribute.offset)
      }
    }
    if property.prefix.modifiers.contains("weak") || property.prefix.modifiers.contains("unowned") {
      throw SourceProblem(
        "a reference that isn't kept is no column: add @NotStored", at: property.offset)
    }
    if property.isConstant, property.value != nil {
      throw SourceProblem(
        "a constant that has its value can't be read from a row: make it var, or static, or add @NotStored",
        at: property.offset)
    }
    return true
  }

  private static func isPlain(_ attribute: Attribute) -> Bool {
    plainAttributes.contains(attribute.name) || attribute.name.hasPrefix("_")
  }

  /// Attributes that don't change how a property is stored.
  private static let plainAttributes: Set<String> = [
    "available", "nonobjc", "objc", "preconcurrency", "unsafe", "usableFromInline",
  ]

  private static func checkHasValue(
    _ property: PropertyDeclaration, _ notStored: Attribute
  ) throws {
    let isWrapped = property.prefix.attributes.count > 1
    let isNil = !property.isConstant && property.type?.isOptional == true
    guard property.value == nil, !isWrapped, !isNil, !property.prefix.modifiers.contains("weak")
    else { return }
    throw SourceProblem(
      "“\(property.name)” needs a value, since none is read from rows", at: property.offset)
  }
}

/// A problem in the text of the attribute, rather than in that of the declaration.
struct AttributeProblem: Error {
  let problem: SourceProblem
}
