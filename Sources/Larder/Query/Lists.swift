import LarderSQLite

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether it is one of these values; false for an empty list. NULL is one if nil is.
  ///
  /// Integers and texts go to the statement as one argument, so that it is the same for lists of any
  /// length.
  public func `in`(_ values: some Sequence<Value>) -> SQLExpression<Bool> {
    let values = Array(values)
    let present = Value.columnType.isNullable ? values.filter { !$0.isStoredAsNull } : values
    let condition: SQLExpression<Bool> = infix(" IN ", list(present), .equality)
    return present.count == values.count ? condition : condition || isNull
  }

  /// Whether it is one of the values that another query selects.
  public func `in`(_ selection: Selection<Value>) -> SQLExpression<Bool> {
    infix(" IN ", SQL("(", selection.sql, ")"), .equality)
  }

  /// Whether it is one of the values that another query selects; NULLs don't count.
  public func `in`(_ selection: Selection<Value?>) -> SQLExpression<Bool> {
    infix(" IN ", SQL("(", selection.sql, ")"), .equality)
  }

  private func list(_ values: [Value]) -> SQL {
    if coding == nil, let json = JSONList(values) {
      return SQL("(SELECT value FROM json_each(", SQL(bound: json), "))")
    }
    // Lists of few different lengths make few different statements: the last value stands again
    // for those that are missing.
    var padded = values.map(bound)
    var count = 1
    while count < padded.count { count *= 2 }
    if let last = padded.last { padded += repeatElement(last, count: count - padded.count) }
    var list = SQL("(", SQL(padded, separator: ", "), ")")
    if padded.count > 16 { list.isCacheable = false }
    return list
  }
}

extension DatabaseValueConvertible {
  fileprivate var isStoredAsNull: Bool { (try? databaseValue)?.isNull ?? false }
}

/// Integers or texts as a list in JSON, which SQLite takes apart without a change to any.
private struct JSONList: DatabaseValueConvertible {
  private let text: String

  /// Nil for values of other kinds, or such that would be changed.
  init?<Value: DatabaseValueConvertible>(_ values: [Value]) {
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
