import Larder
import LarderSQLite

extension ColumnType.Kind {
  /// The cast to the server's type. Columns for any type are refused when a table is declared.
  var cast: StaticString {
    switch self {
    case .integer: "::bigint"
    case .bool: "::boolean"
    case .real: "::double precision"
    case .text, .any: "::text"
    case .blob: "::bytea"
    case .uuid: "::uuid"
    case .date: "::timestamptz"
    case .decimal: "::numeric"
    }
  }
}

/// Values as parameters: their types, and lists that are a single parameter.
extension PostgresDialect {
  /// The cast that gives a value's parameter its type, which the server would have to guess; nil if the value
  /// doesn't say how it is stored.
  func type(of value: any DatabaseValueConvertible) -> StaticString? {
    switch Swift.type(of: value).columnType.kind {
    // Text is compared byte by byte, whatever the database's own order is. ``opening(of:)`` opens the
    // parenthesis.
    case .text: "::text COLLATE \"C\")"
    // A value that can't be stored throws once it is bound.
    case .any: (try? value.databaseValue) == nil ? "::text" : nil
    case let kind: kind.cast
    }
  }

  func opening(of value: any DatabaseValueConvertible) -> StaticString? {
    Swift.type(of: value).columnType.kind == .text ? "(" : nil
  }

  /// Whether a value takes the type of the column beside it. Text does, since the column may be
  /// case-insensitive, of a fixed length, or an enumeration.
  func takesType(
    of column: SQLFragment, _ operation: SQLOperator, _ value: any DatabaseValueConvertible
  ) -> Bool {
    guard column.isName else { return false }
    switch Swift.type(of: value).columnType.kind {
    case .text: return operation != .concatenate
    case .date: return operation == .assign
    default: return false
    }
  }

  /// Integers, real numbers, texts or blobs as one parameter: an array in the server's own syntax. Nil if the
  /// values have several storage classes, or one that isn't made into arrays here.
  ///
  /// See [Array Value Input](https://www.postgresql.org/docs/15/arrays.html#ARRAYS-INPUT).
  ///
  /// - Parameter column: the column whose type texts take.
  static func array(
    _ values: [any DatabaseValueConvertible], beside column: SQLFragment? = nil
  ) -> SQLFragment? {
    var elements: [String] = []
    var classes: Set<StorageClass> = []
    for value in values {
      guard let stored = try? value.databaseValue,
        [.integer, .real, .text, .blob].contains(Swift.type(of: value).columnType.kind)
      else { return nil }
      classes.insert(stored.storageClass)
      switch stored {
      case .integer(let number): elements.append("\(number)")
      case .real(let number): elements.append("\(number)")
      case .text(let text):
        guard !text.utf8.contains(0) else { return nil }
        elements.append("\"" + text.escaping("\\\"") + "\"")
      case .blob(let bytes): elements.append(#""\\x\#(bytes.hexadecimal)""#)
      case .null: return nil
      }
    }
    guard classes.count <= 1 else { return nil }
    let type =
      switch classes.first {
      case .integer: "::bigint[]"
      case .real: "::double precision[]"
      case .blob: "::bytea[]"
      default: "::text[]"
      }
    if let column, column.isName, classes.first == .text {
      return SQLFragment(.beside("{" + elements.joined(separator: ",") + "}", column))
    }
    // With an explicit type, the same array is the same parameter wherever it stands.
    return SQLFragment(.typed("{" + elements.joined(separator: ",") + "}", type))
  }
}
