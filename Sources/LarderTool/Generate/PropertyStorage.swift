import Larder

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
}
