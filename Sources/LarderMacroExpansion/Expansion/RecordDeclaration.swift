/// The declaration of a type that is to become a record.
struct RecordDeclaration {
  let type: TypeDeclaration
  let columns: [ColumnDeclaration]
  /// The stored properties that have no column.
  let notStored: [PropertyDeclaration]
  let arguments: RecordArguments
  let initializer: RecordInitializer

  /// Throws if the declaration can't be read, or can't be a record's.
  init(_ scanner: SourceScanner, attribute: SourceScanner) throws {
    var reading = scanner
    type = try reading.typeDeclaration()
    try Self.checkKind(type)
    columns = try type.properties.filter(Self.isColumn).map {
      try ColumnDeclaration($0, in: scanner)
    }
    notStored = type.properties.filter {
      $0.isStored && $0.prefix.attribute("NotStored") != nil
    }
    for (first, second) in zip(columns, columns.dropFirst()) {
      let attributes = [first, second].map { $0.property.prefix.attribute("Column")?.offset }
      if let attribute = attributes[0], attribute == attributes[1] {
        throw SourceProblem(
          "@Column can only be on one property: declare each property by itself", at: attribute)
      }
    }
    for other in type.others where other.name == "Columns" {
      throw SourceProblem("@Record writes a type of this name itself", at: other.offset)
    }
    for other in type.others where Identifier.isSame(other.name, type.name) {
      throw SourceProblem(
        "a type in a record can't have the record's name, which means the inner type there",
        at: other.offset)
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
      throw SourceProblem("“\(type.name)” has no stored properties", at: type.offset)
    }
    if arguments.whole != nil {
      if let attribute = columns.lazy.compactMap({ $0.property.prefix.attribute("Column") }).first {
        throw SourceProblem(
          "the columns of a part are those of the whole record: remove @Column",
          at: attribute.offset)
      }
      return
    }
    guard columns.contains(where: \.isKey) || arguments.mayHaveNoKey else {
      throw SourceProblem(
        "no property is the primary key: mark one @Column(.primaryKey), or pass options: .noPrimaryKey",
        at: type.offset)
    }
  }

  private static func checkKind(_ type: TypeDeclaration) throws {
    guard type.keyword == "struct" || type.keyword == "class" else {
      throw SourceProblem("@Record can only be on a structure or a final class", at: type.offset)
    }
    if let offset = type.genericOffset {
      throw SourceProblem(
        "a generic type can't be a record, since it can't have static stored properties", at: offset
      )
    }
    guard type.keyword == "class" else { return }
    guard type.prefix.modifiers.contains("final") else {
      throw SourceProblem("a class has to be final to be a record", at: type.offset)
    }
    guard type.initializerOffset != nil else {
      throw SourceProblem("a class needs an initializer of its own to be a record", at: type.offset)
    }
  }

  /// Whether a property is a column; throws if that can't be decided.
  private static func isColumn(_ property: PropertyDeclaration) throws -> Bool {
    let columns = property.prefix.attributes.filter { $0.name == "Column" }
    if columns.count > 1 {
      throw SourceProblem("a property can only have one @Column", at: columns[1].offset)
    }
    guard property.isStored else {
      if let column = columns.first {
        throw SourceProblem("only a stored instance property can be a column", at: column.offset)
      }
      return false
    }
    for attribute in property.prefix.conditionalAttributes
    where !isPlain(attribute) {
      throw SourceProblem(
        "@Record can't tell whether this is compiled: a property has to be the same column under all conditions",
        at: attribute.offset)
    }
    if property.prefix.attribute("NotStored") != nil {
      if let column = columns.first {
        throw SourceProblem("a property can't have both @Column and @NotStored", at: column.offset)
      }
      try checkHasValue(property)
      return false
    }
    for attribute in property.prefix.attributes where attribute.name != "Column" {
      guard isPlain(attribute) else {
        throw SourceProblem(
          "@\(attribute.name) could be a property wrapper or a macro, so this may not be a plain stored property: add @NotStored, or store a property without it",
          at: attribute.offset)
      }
    }
    if property.prefix.modifiers.contains("weak") || property.prefix.modifiers.contains("unowned") {
      throw SourceProblem(
        "a weak or unowned reference can't be a column: add @NotStored", at: property.offset)
    }
    if property.isConstant, property.value != nil {
      throw SourceProblem(
        "a constant with an initial value can't be read from a row: make it var, or static, or add @NotStored",
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

  private static func checkHasValue(_ property: PropertyDeclaration) throws {
    let isWrapped = property.prefix.attributes.count > 1
    let isNil = !property.isConstant && property.type?.isOptional == true
    guard property.value == nil, !isWrapped, !isNil, !property.prefix.modifiers.contains("weak")
    else { return }
    throw SourceProblem(
      "“\(property.name)” needs an initial value, since it isn't read from rows",
      at: property.offset)
  }
}

/// A problem in the text of the attribute, rather than in the declaration's.
struct AttributeProblem: Error {
  let problem: SourceProblem
}
