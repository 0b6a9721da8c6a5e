import Larder

/// A property of a record that is to be generated: a column, and what Swift makes of it.
struct PropertyPlan {
  let column: ColumnSchema
  /// Without backticks.
  var name: String
  var storage: PropertyStorage
  /// Whether its type is Optional.
  var isOptional: Bool
  /// What is told of it in comments: a guess with its evidence, and what can't be said.
  var notes: [String] = []
  var options: [PlannedOption] = []
  /// The text of a literal that new records have.
  var value: String?
  let evidence: ColumnEvidence
  /// The column of a table that a view's shows.
  var origin: ColumnOrigin?

  /// The type as it is written.
  var type: String {
    storage.isAny
      ? storage.type : storage.type + (isOptional ? "?" : "")
  }

  /// A name in the text of the program.
  var writtenName: String { SwiftName.written(name) }
}

/// The type of a property, and how the column stores it.
struct PropertyStorage: Equatable {
  /// Without the mark of Optional.
  var type: String
  /// The coding's text; nil where the type says how it is stored.
  var coding: String?
  /// What the column is declared as.
  var columnType: ColumnType

  /// Values of all classes, and NULL.
  static let any = PropertyStorage(type: "DatabaseValue", columnType: .any)
  /// Values of all classes but NULL, by a type that is generated where it is needed.
  static let anyNotNull = PropertyStorage(type: "AnyValue", columnType: .any)
  static let integer = PropertyStorage(type: "Int", columnType: .integer)
  static let key = PropertyStorage(type: "Int64", columnType: .integer)
  static let real = PropertyStorage(type: "Double", columnType: .real)
  static let text = PropertyStorage(type: "String", columnType: .text)
  static let blob = PropertyStorage(type: "Data", columnType: .blob)
  static let bool = PropertyStorage(type: "Bool", columnType: .bool)

  /// Dates as text of a format.
  static func date(_ format: DateFormat) -> PropertyStorage {
    let coding = format == .iso8601 ? ".iso8601" : ".format(.\(format))"
    return PropertyStorage(type: "Date", coding: coding, columnType: .text)
  }

  var isAny: Bool { self == .any || self == .anyNotNull }

  /// Whether all values of a column can be read as this, as far as they were looked at.
  func fits(_ evidence: ColumnEvidence) -> Bool {
    guard evidence.values > 0 else { return true }
    switch type {
    case "Int", "Int64": return evidence.areAll(.integer)
    case "Double": return evidence.areAll(.integer, .real)
    case "Bool": return evidence.areAll(.integer) && evidence.areBits
    case "Data": return evidence.areAll(.blob)
    case "UUID":
      return coding == nil
        ? evidence.uuids.areBlobs(isNamed: true, values: evidence.values)
        : evidence.uuids.textCoding == coding
    case "Date":
      return evidence.dates.format.map { self == .date($0) } ?? false
    case "String": return evidence.areAll(.text)
    default: return isAny || evidence.json.type == type
    }
  }
}

/// What a property's column is declared as besides its name and type.
enum PlannedOption {
  case primaryKey, autoincrement, unique, indexed, readOnly
  case sqlType(String)
  case collate(String)
  case check(String)
  /// A value by its text in Swift.
  case defaultValue(DatabaseValue, text: String)
  case defaultSQL(String)
  case generated(String, isStored: Bool)
  /// Another record's type, and what else stands behind it.
  case references(String, actions: [String])

  /// As it stands in a declaration.
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

  /// The same for a table without a record; nil for what is compared elsewhere.
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
  /// The text as a string literal of Swift, on one line.
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
  /// Whether it doesn't show, or changes how what is beside it shows.
  private static let invisible: Set<Unicode.GeneralCategory> = [
    .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned,
  ]

  var isInvisible: Bool { Self.invisible.contains(properties.generalCategory) }
}
