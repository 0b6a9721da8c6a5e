import Larder
import LarderSQLite

/// Parameters with a type where the server would have to guess one.
enum PostgresValue {
  /// The placeholder of a value with its type; nil where the type doesn't say how it is stored.
  static func typed(_ fragment: SQLFragment) -> SQLFragment? {
    let value = fragment.value
    let type: String? =
      switch Swift.type(of: value).columnType.kind {
      case .integer: "bigint"
      case .bool: "boolean"
      case .real: "double precision"
      case .text: "text"
      case .blob: "bytea"
      case .uuid: "uuid"
      case .date: "timestamptz"
      case .decimal: "numeric"
      // What can't be stored says so once it is bound.
      case .any: (try? value.databaseValue) == nil ? "text" : nil
      }
    return type.map { SQLFragment(.typed(value, "::" + $0)) }
  }
}

/// Integers, numbers or texts as one parameter: an array in the server's own syntax.
///
/// See [Array Value Input](https://www.postgresql.org/docs/15/arrays.html#ARRAYS-INPUT).
struct PostgresArray: DatabaseValueConvertible {
  private let typeName: String
  private let text: String

  /// With its type: the same array is the same parameter wherever it stands.
  var fragment: SQLFragment { SQLFragment(.typed(self, "::" + typeName)) }
  static var columnType: ColumnType { .text }

  /// Nil where the values are of several classes, or of one that arrays aren't made of here.
  init?(_ values: [any DatabaseValueConvertible]) {
    var elements: [String] = []
    var classes: Set<StorageClass> = []
    for value in values {
      guard let stored = try? value.databaseValue,
        Self.kinds.contains(Swift.type(of: value).columnType.kind)
      else { return nil }
      classes.insert(stored.storageClass)
      switch stored {
      case .integer(let number): elements.append("\(number)")
      case .real(let number): elements.append("\(number)")
      case .text(let text):
        guard !text.utf8.contains(0) else { return nil }
        elements.append(Self.quoted(text))
      case .blob(let bytes): elements.append(#""\\x\#(bytes.hexadecimal)""#)
      case .null: return nil
      }
    }
    guard classes.count <= 1 else { return nil }
    typeName =
      switch classes.first {
      case .integer: "bigint[]"
      case .real: "double precision[]"
      case .blob: "bytea[]"
      default: "text[]"
      }
    text = "{" + elements.joined(separator: ",") + "}"
  }

  private static let kinds: Set<ColumnType.Kind> = [.integer, .real, .text, .blob]

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }

  var databaseValue: DatabaseValue { .text(text) }

  init(databaseValue: DatabaseValue) throws {
    throw ConversionError(.malformed, PostgresArray.self)
  }
}
