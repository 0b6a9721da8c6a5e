import SwiftSyntax

/// A type's members as the compiler's own parser sees them.
struct ParsedType: Equatable {
  struct Property: Equatable {
    var name: String
    var storage: String
    var isConstant: Bool
    var type: String?
    var isFunction: Bool
    var value: String?
    var attributes: [String]
    var conditionalAttributes: [String]
  }

  var properties: [Property] = []
  var others: [String] = []
  var hasInitializer = false
  /// Whether there is what the macro refuses, as it can't tell what the record would be.
  var isRefused = false

  init() {}

  init(_ members: MemberBlockItemListSyntax) {
    for member in members { add(member.decl) }
  }

  private mutating func add(_ declaration: DeclSyntax) {
    if let variable = declaration.as(VariableDeclSyntax.self) {
      add(variable)
    } else if declaration.is(InitializerDeclSyntax.self) {
      hasInitializer = true
    } else if let alias = declaration.as(TypeAliasDeclSyntax.self) {
      others.append(alias.name.text)
    } else if let condition = declaration.as(IfConfigDeclSyntax.self) {
      add(condition)
    } else if let macro = declaration.as(MacroExpansionDeclSyntax.self) {
      if macro.macroName.text != "warning", macro.macroName.text != "error" { isRefused = true }
    } else if let type = declaration.asProtocol((any NamedDeclSyntax).self),
      type is any DeclGroupSyntax
    {
      others.append(type.name.text)
    }
  }

  private mutating func add(_ condition: IfConfigDeclSyntax) {
    for clause in condition.clauses {
      guard case .decls(let members)? = clause.elements else { continue }
      let inner = ParsedType(members)
      others += inner.others
      properties += inner.properties
      if inner.isRefused || inner.hasInitializer
        || inner.properties.contains(where: { $0.storage == "stored" })
      {
        isRefused = true
      }
    }
  }

  private mutating func add(_ variable: VariableDeclSyntax) {
    let modifiers = variable.modifiers.filter { $0.detail == nil }.map(\.name.text)
    let isStatic = modifiers.contains("static") || modifiers.contains("class")
    let first = properties.count
    for binding in variable.bindings {
      if binding.pattern.is(TuplePatternSyntax.self), !isStatic { isRefused = true }
      let type = binding.typeAnnotation?.type
      properties.append(
        Property(
          name: binding.pattern.is(TuplePatternSyntax.self)
            ? "(" : binding.pattern.trimmedDescription,
          storage: isStatic
            ? "ofType"
            : modifiers.contains("lazy")
              ? "lazy" : Self.isComputed(binding.accessorBlock) ? "computed" : "stored",
          isConstant: variable.bindingSpecifier.text == "let",
          type: type?.trimmedDescription, isFunction: type.map(Self.isFunction) ?? false,
          value: binding.initializer?.value.trimmedDescription,
          attributes: variable.attributes.compactMap { $0.as(AttributeSyntax.self) }.map(Self.name),
          conditionalAttributes: variable.attributes.flatMap(Self.conditionalNames)))
    }
    var index = properties.count - 2
    while index >= first {
      if properties[index].type == nil, properties[index].value == nil {
        properties[index].type = properties[index + 1].type
        properties[index].isFunction = properties[index + 1].isFunction
      }
      index -= 1
    }
  }

  private static func isComputed(_ block: AccessorBlockSyntax?) -> Bool {
    switch block?.accessors {
    case nil: false
    case .accessors(let list):
      !list.contains { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    default: true
    }
  }

  private static func isFunction(_ type: TypeSyntax) -> Bool {
    if let attributed = type.as(AttributedTypeSyntax.self) {
      return isFunction(attributed.baseType)
    }
    return type.is(FunctionTypeSyntax.self)
  }

  private static func name(_ attribute: AttributeSyntax) -> String {
    let name = attribute.attributeName
    if let member = name.as(MemberTypeSyntax.self) { return member.name.text }
    return name.as(IdentifierTypeSyntax.self)?.name.text ?? name.trimmedDescription
  }

  private static func conditionalNames(_ element: AttributeListSyntax.Element) -> [String] {
    guard case .ifConfigDecl(let condition) = element else { return [] }
    return condition.clauses.flatMap { clause -> [String] in
      guard case .attributes(let list)? = clause.elements else { return [] }
      return list.compactMap { $0.as(AttributeSyntax.self) }.map(name)
        + list.flatMap(conditionalNames)
    }
  }
}

extension ParsedType {
  /// The same as the macro's scanner has it.
  init(_ type: TypeDeclaration, in source: SourceBytes) {
    let scanner = SourceScanner(source)
    properties = type.properties.map { property in
      Property(
        name: property.name, storage: "\(property.storage)", isConstant: property.isConstant,
        type: property.type.map { scanner.text($0.range) },
        isFunction: property.type?.isFunction ?? false,
        value: property.value.map { scanner.text($0) },
        attributes: property.prefix.attributes.map(\.name),
        conditionalAttributes: property.prefix.conditionalAttributes.map(\.name))
    }
    others = type.others.map(\.name)
    hasInitializer = type.initializerOffset != nil
  }
}
