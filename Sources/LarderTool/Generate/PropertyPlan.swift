import Larder

/// A property to be generated for a column: its name, type and options.
struct PropertyPlan {
  let column: ColumnSchema
  /// The name, without backticks.
  var name: String
  var storage: PropertyStorage
  var isOptional: Bool
  /// The property's comments: a guess with its evidence, and everything that a declaration can't express.
  var notes: [String] = []
  var options: [PlannedOption] = []
  /// The Swift literal of the property's default value.
  var value: String?
  let evidence: ColumnEvidence
  /// The column's comment in a server's catalog.
  var documentation: String?
  /// The table column that a view's column shows.
  var origin: ColumnOrigin?

  /// The type in Swift, with a question mark if it is Optional.
  var type: String {
    storage.isAny
      ? storage.type : storage.type + (isOptional ? "?" : "")
  }

  /// The type without brackets: for an array, that of its elements.
  var elementType: String { storage.type.filter { !"[]".contains($0) } }

  /// The name in Swift, with backticks if it needs them.
  var writtenName: String { SwiftName.written(name) }
}

extension PropertyStorage {
  /// Whether all values of a column that were read can be decoded this way.
  func fits(_ evidence: ColumnEvidence) -> Bool {
    guard evidence.values > 0 else { return true }
    if let words { return evidence.words.words.map(words.values.isSuperset) ?? false }
    switch type {
    case "Int", "Int64": return evidence.areAll(.integer)
    case "Double": return evidence.areAll(.integer, .real)
    case "Bool": return evidence.areAll(.integer) && evidence.areBits
    case "Data": return evidence.areAll(.blob)
    case "UUID":
      return coding == nil
        ? evidence.uuids.areBlobs(isNamed: true, values: evidence.values)
        : evidence.uuids.textCoding == coding
    case "Date": return coding == nil ? evidence.areRecentSeconds : evidence.dates.fit(self)
    case "Decimal": return evidence.areAll(.integer, .real) && evidence.decimals.areExact
    case "String": return evidence.areAll(.text)
    default: return isAny || evidence.json.fit(type)
    }
  }
}

/// An option in a column's declaration.
enum PlannedOption {
  case primaryKey, autoincrement, unique, indexed, readOnly
  case sqlType(String)
  case collate(String)
  case check(String)
  /// A default value, with its Swift literal.
  case defaultValue(DatabaseValue, text: String)
  case defaultSQL(String)
  case generated(String, isStored: Bool)
  /// The referenced record's type, and the further arguments.
  case references(String, actions: [String])

  var text: String {
    switch self {
    case .primaryKey: ".primaryKey"
    case .autoincrement: ".autoincrement"
    case .unique: ".unique"
    case .indexed: ".indexed"
    case .readOnly: ".readOnly"
    case .sqlType(let type): ".sqlType(\(type.swiftLiteral))"
    case .collate(let name): ".collate(\(name.swiftLiteral))"
    case .check(let condition): ".check(\(condition.swiftLiteral))"
    case .defaultValue(_, let text): ".default(\(text))"
    case .defaultSQL(let sql): ".default(sql: \(sql.swiftLiteral))"
    case .generated(let expression, let isStored):
      ".generated(\(expression.swiftLiteral)\(isStored ? ", stored: true" : ""))"
    case .references(let type, let actions):
      ".references(\((["\(type).self"] + actions).joined(separator: ", ")))"
    }
  }

  /// The option for a column without a record type; nil for options that are compared elsewhere.
  var option: ColumnOption<DatabaseValue>? {
    switch self {
    case .primaryKey: .primaryKey
    case .autoincrement: .autoincrement
    case .sqlType(let type): .sqlType(type)
    case .collate(let name): .collate(name)
    case .check(let condition): .check(SQL(raw: condition))
    case .defaultValue(let value, _): .default(value)
    case .defaultSQL(let sql): .default(sql: SQL(raw: sql))
    case .generated(let expression, let isStored):
      .generated(SQL(raw: expression), stored: isStored)
    case .unique, .indexed, .readOnly, .references: nil
    }
  }
}

extension String {
  /// The text as a Swift string literal, on one line.
  var swiftLiteral: String {
    var literal = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\" + String(scalar)
      case "\n": literal += "\\n"
      case "\t": literal += "\\t"
      case "\r": literal += "\\r"
      case _ where scalar.isInvisible: literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }
}

extension Unicode.Scalar {
  /// The categories of characters that don't show, or that change how adjacent ones show.
  private static let invisible: Set<Unicode.GeneralCategory> = [
    .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned,
  ]

  var isInvisible: Bool { Self.invisible.contains(properties.generalCategory) }
}
