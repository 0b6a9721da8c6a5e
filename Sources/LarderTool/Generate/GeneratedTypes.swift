/// Types that generated records may need besides Larder's. They are written to the same file if a record uses
/// them.
enum GeneratedTypes {
  /// The texts of the types that these properties need.
  static func texts(for properties: [PropertyPlan]) -> [String] {
    let types = properties.map(\.elementType)
    let forms = Set(properties.compactMap(\.storage.dateText)).sorted { $0.coding < $1.coding }
    var enums: [PlannedEnum] = []
    for planned in properties.compactMap(\.storage.words) where !enums.contains(planned) {
      enums.append(planned)
    }
    return enums.map(\.source)
      + [(PropertyStorage.anyNotNull.type, anyValue), (JSONForms.anyType, json)]
      .filter { types.contains($0.0) }.map(\.1)
      + (forms.isEmpty ? [] : [DateTextForm.source(forms)])
  }

  private static let anyValue = """
    /// A value of any kind but NULL.
    struct AnyValue: DatabaseValueConvertible, Hashable {
      let databaseValue: DatabaseValue

      init(databaseValue: DatabaseValue) { self.databaseValue = databaseValue }
    }
    """

  private static let json = """
    /// Any value of JSON. A type of your own says more: of a structure that is Codable, name it in its place.
    enum JSONValue: Codable, Hashable, Sendable {
      case null
      case bool(Bool)
      case integer(Int)
      case number(Double)
      case string(String)
      case array([JSONValue])
      case object([String: JSONValue])

      init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
          self = .null
        } else if let bool = try? value.decode(Bool.self) {
          self = .bool(bool)
        } else if let integer = try? value.decode(Int.self) {
          self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
          self = .number(number)
        } else if let string = try? value.decode(String.self) {
          self = .string(string)
        } else if let array = try? value.decode([JSONValue].self) {
          self = .array(array)
        } else {
          self = .object(try value.decode([String: JSONValue].self))
        }
      }

      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
      }
    }
    """
}
