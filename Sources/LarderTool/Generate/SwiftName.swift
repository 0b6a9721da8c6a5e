// Swift identifiers for the names of a database.

/// Makes Swift identifiers of the names of tables and columns, without the backticks that they may need.
enum SwiftName {
  /// The length to which long names are cut, so that lines stay readable.
  private static let mostCharacters = 44

  /// The type for a table: `OrderDetail` for `order details`. Nil if no character of the name can be used.
  ///
  /// - Parameter tables: the names of all tables in small letters, of which a link table's name consists.
  static func type(_ table: String, among tables: Set<String> = []) -> String? {
    var words = words(of: table)
    guard !words.isEmpty else { return nil }
    // Only the noun before a preposition becomes singular: “list of orders” keeps its plural.
    let preposition = words.dropFirst().firstIndex { prepositions.contains($0.lowercased()) }
    let noun = (preposition ?? words.count) - 1
    let last = EnglishNoun.singular(words[noun])
    if preposition == nil, last != words[noun] {
      // Each part of `posts_tags` names a table.
      for place in 0..<noun
      where EnglishNoun.isPlainPlural(words[place]) || tables.contains(words[place].lowercased()) {
        words[place] = EnglishNoun.singular(words[place])
      }
    }
    words[noun] = last
    let name = words.map(capitalized).joined()
    return identifier(reservedTypes.contains(name) ? name + recordSuffix : name)
  }

  private static let prepositions: Set<String> = [
    "by", "for", "from", "in", "of", "per", "to", "with",
  ]
  private static let recordSuffix = "Record"

  /// A type's name without the suffix that distinguishes it from a reserved type.
  static func noun(_ type: String) -> String {
    let name = String(type.dropLast(recordSuffix.count))
    return type.hasSuffix(recordSuffix) && reservedTypes.contains(name) ? name : type
  }

  /// The property for a column: `customerID` for `CUSTOMER_ID`. Nil if no character of the name can be used.
  static func property(_ column: String) -> String? {
    guard let name = camelCase(words(of: column)) else { return nil }
    return takenMembers.contains(name) ? name + "Value" : name
  }

  /// The words in camel case, with a lower-case first word.
  static func camelCase(_ words: [String]) -> String? {
    words.first.flatMap { first in
      identifier(first.lowercased() + words.dropFirst().map(capitalized).joined())
    }
  }

  private static func identifier(_ name: String) -> String? {
    let name = String(name.prefix(mostCharacters))
    guard let first = name.unicodeScalars.first else { return nil }
    let identifier = first == "_" || isHead(first) ? name : "_" + name
    return isIdentifier(identifier) ? identifier : nil
  }

  /// The identifier in Swift, with backticks if it is a keyword.
  static func written(_ identifier: String) -> String {
    keywords.contains(identifier) ? "`\(identifier)`" : identifier
  }

  // MARK: Words

  /// The words of a name: `["order", "item", "ID"]` for `order_itemID`.
  static func words(of name: String) -> [String] {
    // In a name without lower-case letters, an upper-case one doesn't begin a word.
    let isShouted = !name.unicodeScalars.contains(where: \.properties.isLowercase)
    var words: [String] = []
    for part in name.unicodeScalars.split(whereSeparator: { !isPart($0) }) {
      words += isShouted ? [String(part).lowercased()] : camelWords(Array(part))
    }
    return words
  }

  private static func camelWords(_ scalars: [Unicode.Scalar]) -> [String] {
    var words: [String] = []
    var word = ""
    for (index, scalar) in scalars.enumerated() {
      let isUpper = scalar.properties.isUppercase
      let followsUpper = index > 0 && scalars[index - 1].properties.isUppercase
      let isFollowed = index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
      if isUpper, !word.isEmpty, !followsUpper || isFollowed {
        words.append(word)
        word = ""
      }
      word.unicodeScalars.append(scalar)
    }
    return word.isEmpty ? words : words + [word]
  }

  private static func capitalized(_ word: String) -> String {
    let upper = word.uppercased()
    if abbreviations.contains(upper) { return upper }
    return word.prefix(1).uppercased() + word.dropFirst()
  }

  /// Words that are all upper case in Swift's own names.
  private static let abbreviations: Set<String> = [
    "ID", "URL", "URI", "UUID", "GUID", "HTTP", "HTTPS", "JSON", "XML", "HTML", "SQL", "IP", "API",
    "ISBN", "SKU", "UTC", "PDF", "CSV",
  ]

  // MARK: Identifiers

  /// Whether a text is an identifier, without backticks.
  static func isIdentifier(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, text != "_" else { return false }
    return (first == "_" || isHead(first)) && text.unicodeScalars.allSatisfy(isPart(orUnderscore:))
  }

  private static func isPart(orUnderscore scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || isPart(scalar)
  }

  /// Whether this is a letter, digit or mark that an identifier may contain.
  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return isASCIILetter(scalar) || ("0"..."9").contains(scalar) }
    return switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .spacingMark, .decimalNumber:
      allowed.contains { $0.contains(scalar.value) }
    default: false
    }
  }

  /// Whether an identifier may begin with this character.
  private static func isHead(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return isASCIILetter(scalar) }
    let isMark = [.nonspacingMark, .spacingMark, .decimalNumber].contains(
      scalar.properties.generalCategory)
    return isPart(scalar) && !isMark
  }

  private static func isASCIILetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  /// The non-ASCII characters that
  /// [identifiers](https://docs.swift.org/swift-book/documentation/the-swift-programming-language/lexicalstructure/#Identifiers)
  /// may contain.
  private static let allowed: [ClosedRange<UInt32>] = [
    0xAA...0xAA, 0xB2...0xB5, 0xB7...0xBA, 0xBC...0xBE, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x167F,
    0x1681...0x180D, 0x180F...0x1FFF, 0x2054...0x2054, 0x2060...0x218F, 0x2460...0x24FF,
    0x2776...0x2793, 0x2C00...0x2DFF, 0x2E80...0x2FFF, 0x3004...0x3007, 0x3021...0x302F,
    0x3031...0xD7FF, 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE44, 0xFE47...0xFFFD,
    0x10000...0x1FFFD, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
  ]

  // MARK: Names that are taken

  /// The keywords that need backticks as names.
  static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "actor", "as", "associatedtype", "await", "break", "case",
    "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension",
    "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init",
    "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
    "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
    "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// Members of a record besides its columns, and names that can't be in a key path or an argument label.
  private static let takenMembers: Set<String> = [
    "changes", "columns", "delete", "init", "inout", "insert", "inserted", "let", "save", "self",
    "table", "update", "updated", "upsert", "var",
  ]

  /// Static members of records, whose names associations can't have.
  static let takenStatics: Set<String> = [
    "aliased", "all", "columns", "fetchAll", "fetchOne", "filter", "find", "forEach", "fullJoin",
    "init", "insert", "inserted", "join", "leftJoin", "matching", "queryReader", "queryTables",
    "rightJoin", "select", "self", "table", "tableDefinition", "tableName", "update", "upsert",
  ]

  /// Static functions of records whose names are usual nouns, so that associations have them too.
  static let queryFunctions: Set<String> = ["limit", "order"]

  static func canBeMember(_ name: String) -> Bool {
    !takenMembers.contains(name) && !["Protocol", "Type"].contains(name)
  }

  /// Type names that generated code uses with another meaning.
  static let usedTypes: Set<String> = [
    "Any", "AnyValue", "BelongsTo", "Bool", "CaseIterable", "Codable", "Column", "ColumnCoding",
    "Columns", "ConversionError", "Data", "DatabaseValue", "DatabaseValueConvertible", "Date",
    "DateFormat", "DateTexts", "Decimal", "Decoder", "Double", "Encoder", "Equatable", "HasMany",
    "HasManyThrough", "Hashable", "Int", "Int64", "JSONValue", "Optional", "Protocol",
    "QueryFields", "QueryNullable", "QueryRow", "Record", "Self", "Sendable", "String", "Table",
    "Type", "UUID",
  ]

  /// Type names that usually have another meaning in a program.
  static let reservedTypes: Set<String> = usedTypes.union([
    // Types of Swift and Foundation.
    "Actor", "AnyObject", "Array", "Bundle", "Calendar", "Character", "Collection", "Comparable",
    "Decodable", "Dictionary", "Duration", "Encodable", "Error", "Float", "Foundation",
    "Identifiable", "Int16", "Int32", "Int8", "Iterator", "Locale", "Never", "Notification",
    "Operation", "Process", "Progress", "Range", "Regex", "Result", "Sequence", "Set",
    "Substring", "Swift", "Task", "Thread", "Timer", "UInt", "URL", "Unicode", "Void",
    // Types of Larder.
    "Association", "Blob", "Case", "Changeset", "Configuration", "Connections", "Database",
    "DatabaseQueue", "JSON", "Join", "Larder", "LarderMacros", "LarderSQLite", "Limit", "Mapped",
    "Migration", "Migrator", "NotStored", "Observation", "Page", "Query", "Row", "RowChange",
    "SQL", "Schema", "Selection", "Statement", "TableOptions",
  ])
}
