import LarderSQLite

/// The list of values behind IN, which are stored as the column beside them stores its own.
///
/// Integers and texts go to a SQLite statement as one argument, which holds them as JSON, so that the
/// statement is the same for lists of any length.
package struct MemberList: Sendable {
  private let made: @Sendable () -> [any DatabaseValueConvertible]
  private let form: Form

  /// The values.
  package var values: [any DatabaseValueConvertible] { made() }
  /// The most values that are bound as JSON. Longer lists are bound as tables,
  /// since JSON takes longer to encode and decode.
  static let longestText = 1_000

  private enum Form {
    case json(JSONList)
    case table(BoundRows)
    /// Literals in the statement's text: a list may have more values than a
    /// statement may have arguments, by default 32,766.
    case literals([String])
    case placeholders
  }

  /// - Parameter isCoded: whether a coding, rather than the type, says how the values are stored.
  init<Value: DatabaseValueConvertible>(
    _ type: Value.Type, _ values: [any DatabaseValueConvertible], isCoded: Bool
  ) {
    made = { values }
    if !isCoded, let json = JSONList(values) {
      form = .json(json)
    } else if !isCoded, values.count > 1_000, Value.columnType.kind != .date,
      // The text of dates depends on the connection.
      let texts = try? values.map({ try $0.databaseValue.literal })
    {
      form = .literals(texts)
    } else {
      form = .placeholders
    }
  }

  /// A long list of values that are stored as their type says.
  init<Value: DatabaseValueConvertible>(table values: [Value]) {
    made = { values }
    form = .table(BoundRows { TableRows(values) })
  }

  /// Whether SQLite takes the list as one argument, however long it is.
  var isOneArgument: Bool {
    switch form {
    case .json, .table: true
    case .literals, .placeholders: false
    }
  }

  /// A statement whose rows are the values of the list, each behind its number, which is counted from 0.
  var rows: [WritingStep] {
    if case .json(let json) = form {
      return [.word("SELECT key, value FROM json_each("), .value(json), .word(")")]
    }
    var steps: [WritingStep] = values.count > 16 ? [.unlikely] : []
    for (number, value) in values.enumerated() {
      steps += [
        .string(number == 0 ? "VALUES (0, " : ", (\(number), "), .value(value), .word(")"),
      ]
    }
    return steps
  }

  /// The list as SQLite's IN takes it.
  var steps: [WritingStep] {
    switch form {
    case .json(let json):
      return [.word("(SELECT value FROM json_each("), .value(json), .word("))")]
    case .table(let rows):
      return [.word("(SELECT c1 FROM larder_table("), .value(rows), .word("))")]
    case .literals(let texts):
      return [.unlikely, .string("(" + texts.joined(separator: ", ") + ")")]
    case .placeholders:
      // Short lists are padded to a power of two with their last value: a few
      // different lengths make few different statements.
      let isLong = values.count > 16
      var bound = values
      var count = 1
      while count < bound.count { count *= 2 }
      if let last = bound.last, !isLong {
        bound += repeatElement(last, count: count - bound.count)
      }
      var steps: [WritingStep] = isLong ? [.unlikely, .word("(")] : [.word("(")]
      for (index, value) in bound.enumerated() {
        if index > 0 { steps.append(.word(", ")) }
        steps.append(.value(value))
      }
      return steps + [.word(")")]
    }
  }
}

/// Integers or texts as a JSON array, which SQLite decodes without changing any.
private struct JSONList: DatabaseValueConvertible {
  private let text: String

  /// Nil if a value is of another kind, or would be changed.
  init?(_ values: [any DatabaseValueConvertible]) {
    var text = "["
    for value in values {
      if text.utf8.count > 1 { text += "," }
      switch try? value.databaseValue {
      case .integer(let number): text += String(number)
      case .text(let string):
        guard let quoted = Self.quoted(string) else { return nil }
        text += quoted
      default: return nil
      }
    }
    self.text = text + "]"
  }

  private static func quoted(_ string: String) -> String? {
    var quoted = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        quoted += "\\"
        quoted.unicodeScalars.append(scalar)
      case "\u{0}"..."\u{1F}": return nil
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  var databaseValue: DatabaseValue { .text(text) }

  init(databaseValue: DatabaseValue) throws { text = try String(databaseValue: databaseValue) }
}
