/// A type as it is declared, as far as its record is made of it.
struct TypeDeclaration {
  let prefix: DeclarationPrefix
  /// `struct`, `class`, `enum`, …
  let keyword: String
  let name: String
  /// Where the keyword stands.
  let offset: Int
  /// Where its generic parameters stand, if it has some.
  let genericOffset: Int?
  var properties: [PropertyDeclaration] = []
  /// Where its first initializer stands.
  var initializerOffset: Int?
  /// The types, aliases and functions in it, and where they stand.
  var others: [(name: String, offset: Int)] = []
}
