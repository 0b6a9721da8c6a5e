/// The visibility of a declaration.
enum AccessLevel: String {
  case `private`, `fileprivate`, `internal`, `package`, `public`, `open`

  /// The keyword for an equally visible declaration, with a trailing space.
  var prefix: String {
    switch self {
    // `private` would be less visible: only in the type that contains it.
    case .private, .fileprivate: "fileprivate "
    case .internal: ""
    case .package: "package "
    case .public, .open: "public "
    }
  }

  var isPrivate: Bool { self == .private || self == .fileprivate }
}

/// The attributes and modifiers before a declaration's keyword.
struct DeclarationPrefix {
  var attributes: [Attribute] = []
  /// The attributes between `#if` and `#endif`.
  var conditionalAttributes: [Attribute] = []
  /// The modifiers, without those of setters, such as `private(set)`.
  var modifiers: Set<String> = []
  var access = AccessLevel.internal
  /// Whether the access level is written.
  var hasAccess = false

  var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }

  var isDeprecated: Bool { (attributes + conditionalAttributes).contains(where: \.isDeprecation) }

  func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }
}

struct PropertyDeclaration {
  /// Whether, and how, the property takes memory in the type's values.
  enum Storage { case stored, computed, lazy, ofType }

  let prefix: DeclarationPrefix
  let isConstant: Bool
  /// The name in the source text, perhaps with backticks.
  let name: String
  let offset: Int
  let storage: Storage
  /// Whether it is computed, and has an accessor that initializes other properties.
  let hasInitializingAccessor: Bool
  /// The type, which may be written after another name: `var latitude, longitude: Double`.
  var type: TypeText?
  /// The position of the initial value's text.
  let value: Range<Int>?

  var isStored: Bool { storage == .stored }
}
