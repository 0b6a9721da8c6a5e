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

/// A property's type, and its coding in the column.
struct PropertyStorage: Equatable {
  /// The type, without Optional's question mark.
  var type: String
  /// The coding's source text; nil for the type's own coding.
  var coding: String?
  /// The column type in the declaration.
  var columnType: ColumnType
  /// The form of dates that the coding has, if it is generated.
  var dateText: DateTextForm?
  /// The enumeration that is generated for the type; nil for other types.
  var words: PlannedEnum?

  /// Values of all classes, and NULL.
  static let any = PropertyStorage(type: "DatabaseValue", columnType: .any)
  /// Values of all classes but NULL. The type is generated if it is needed.
  static let anyNotNull = PropertyStorage(type: "AnyValue", columnType: .any)
  static let integer = PropertyStorage(type: "Int", columnType: .integer)
  static let key = PropertyStorage(type: "Int64", columnType: .integer)
  static let real = PropertyStorage(type: "Double", columnType: .real)
  static let text = PropertyStorage(type: "String", columnType: .text)
  static let blob = PropertyStorage(type: "Data", columnType: .blob)
  static let bool = PropertyStorage(type: "Bool", columnType: .bool)

  /// Dates as text in a format.
  static func date(_ format: DateFormat) -> PropertyStorage {
    let coding = format == .iso8601 ? ".iso8601" : ".format(.\(format))"
    return PropertyStorage(type: "Date", coding: coding, columnType: .text)
  }

  /// Dates as text in a form for which a coding is generated.
  static func date(_ form: DateTextForm) -> PropertyStorage {
    PropertyStorage(type: "Date", coding: form.coding, columnType: .text, dateText: form)
  }

  static let decimal = PropertyStorage(type: "Decimal", columnType: ColumnType(.decimal))

  var isAny: Bool { self == .any || self == .anyNotNull }

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
    case "Date": return evidence.dates.fit(self)
    case "Decimal": return evidence.areAll(.integer, .real) && evidence.decimals.areExact
    case "String": return evidence.areAll(.text)
    default: return isAny || evidence.json.type == type
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
