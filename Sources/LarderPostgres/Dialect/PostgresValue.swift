import Larder
import LarderSQLite

/// Parameters with a type where the server would have to guess one.
enum PostgresValue {
  /// The placeholder of a value with its type; nil where the type doesn't say how it is stored.
  static func typed(_ fragment: SQLFragment) -> SQLFragment? {
    let type: String? =
      switch Swift.type(of: fragment.value).columnType.kind {
      case .integer: "bigint"
      case .bool: "boolean"
      case .real: "double precision"
      case .text: "text"
      case .blob: "bytea"
      case .uuid: "uuid"
      case .date: "timestamptz"
      case .decimal: "numeric"
      case .any: nil
      }
    return type.map { "\(bare(fragment.value))::\(text: $0)" }
  }

  private static func bare<Value: DatabaseValueConvertible>(_ value: Value) -> SQLFragment {
    SQLFragment(value: Bare(value: value))
  }
}

/// A value's placeholder alone, which isn't looked at again.
private struct Bare<Value: DatabaseValueConvertible>: DatabaseValueConvertible {
  let value: Value

  init(value: Value) { self.value = value }

  var databaseValue: DatabaseValue { get throws { try value.databaseValue } }

  init(databaseValue: DatabaseValue) throws {
    value = try Value(databaseValue: databaseValue)
  }

  func bind(to parameter: ParameterBinder) throws { try value.bind(to: parameter) }
}

/// Integers, numbers or texts as one parameter: an array in the server's own syntax.
///
/// See [Array Value Input](https://www.postgresql.org/docs/15/arrays.html#ARRAYS-INPUT).
struct PostgresArray: DatabaseValueConvertible {
  let typeName: String
  private let text: String

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
      case .null, .blob: return nil
      }
    }
    guard classes.count <= 1 else { return nil }
    typeName =
      switch classes.first {
      case .integer: "bigint[]"
      case .real: "double precision[]"
      default: "text[]"
      }
    text = "{" + elements.joined(separator: ",") + "}"
  }

  private static let kinds: Set<ColumnType.Kind> = [.integer, .real, .text]

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

/// GLOB's patterns as regular expressions.
enum GlobPattern {
  static func regularExpression(_ glob: String) -> String {
    var result = "^"
    var rest = Substring(glob)
    while let character = rest.popFirst() {
      switch character {
      case "*": result += ".*"
      case "?": result += "."
      case "[": result += set(&rest)
      default: result += escaped(character)
      }
    }
    return result + "$"
  }

  /// A set, in which `^` excludes, and a `]` that comes first stands for itself.
  private static func set(_ rest: inout Substring) -> String {
    var members = "["
    if rest.first == "^" {
      rest.removeFirst()
      members += "^"
    }
    var isFirst = true
    while let member = rest.popFirst() {
      if member == "]", !isFirst { return members + "]" }
      members += member == "\\" || member == "[" || member == "]" ? "\\\(member)" : "\(member)"
      isFirst = false
    }
    // Without an end nothing matches.
    return "(?!)"
  }

  private static func escaped(_ character: Character) -> String {
    character.isLetter || character.isNumber || !character.isASCII
      ? "\(character)" : "\\\(character)"
  }
}
