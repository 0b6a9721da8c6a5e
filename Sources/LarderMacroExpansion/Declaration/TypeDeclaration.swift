/// A type's declaration, as far as its record depends on it.
struct TypeDeclaration {
  let prefix: DeclarationPrefix
  /// `struct`, `class`, `enum`, …
  let keyword: String
  let name: String
  /// The position of the keyword.
  let offset: Int
  /// The position of its generic parameters; nil if it has none.
  let genericOffset: Int?
  /// Whether it says that it is a record: `struct City: Record`.
  var saysRecord = false
  var properties: [PropertyDeclaration] = []
  /// The position of its first initializer.
  var initializerOffset: Int?
  /// The types and aliases in it, with their positions.
  var others: [(name: String, offset: Int)] = []
}
