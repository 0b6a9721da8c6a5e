/// Who sees a declaration.
enum AccessLevel: String {
  case `private`, `fileprivate`, `internal`, `package`, `public`, `open`

  /// The keyword for a declaration that is as visible, with the space behind it.
  var prefix: String {
    switch self {
    // Private would be less: of the type that it stands in.
    case .private, .fileprivate: "fileprivate "
    case .internal: ""
    case .package: "package "
    case .public, .open: "public "
    }
  }

  var isPrivate: Bool { self == .private || self == .fileprivate }
}

/// What stands before a declaration's keyword.
struct DeclarationPrefix {
  var attributes: [Attribute] = []
  /// Those between `#if` and `#endif`.
  var conditionalAttributes: [Attribute] = []
  /// Without those of setters, such as `private(set)`.
  var modifiers: Set<String> = []
  var access = AccessLevel.internal

  var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }

  func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }
}

/// A property as it is declared.
struct PropertyDeclaration {
  /// Whether it takes memory in the type, and how.
  enum Storage { case stored, computed, lazy, ofType }

  let prefix: DeclarationPrefix
  let isConstant: Bool
  /// As it is written, perhaps with backticks.
  let name: String
  let offset: Int
  let storage: Storage
  /// The type, which may be written behind another name: `var latitude, longitude: Double`.
  var type: TypeText?
  /// The tokens of the initial value.
  let value: Range<Int>?

  var isStored: Bool { storage == .stored }
}
