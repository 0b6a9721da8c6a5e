import LarderSQLite

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether it is one of these values; false for an empty list. NULL is one if nil is.
  ///
  /// If nil isn't, it isn't known whether NULL is one of the values: the condition as well as its
  /// opposite, `!$0.level.in(…)`, leave rows with NULL out.
  /// See [IN](https://www.sqlite.org/lang_expr.html#in_op).
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

  /// Whether it is one of the values that another query selects; NULL isn't known to be.
  public func `in`<Wrapped>(
    _ selection: Selection<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    infix(" IN ", SQL("(", selection.sql, ")"), .equality)
  }

  /// Whether it is one of the values of a compound query; NULL isn't known to be.
  public func `in`(_ compound: Compound<Value>) -> SQLExpression<Bool> {
    infix(" IN ", SQL("(", compound.sql, ")"), .equality)
  }

  /// Whether it is one of the values of a compound query; NULLs don't count.
  public func `in`(_ compound: Compound<Value?>) -> SQLExpression<Bool> {
    infix(" IN ", SQL("(", compound.sql, ")"), .equality)
  }

  private func list(_ values: [Value]) -> SQL {
    if coding == nil, let json = JSONList(values) {
      return SQL("(SELECT value FROM json_each(", SQL(bound: json), "))")
    }
    if coding == nil, let literals = literals(values) { return literals }
    // Lists of few different lengths make few different statements: the last value stands again
    // for those that are missing.
    var bound = values.map(bound)
    let isLong = bound.count > 16
    var count = 1
    while count < bound.count { count *= 2 }
    if let last = bound.last, !isLong {
      bound += repeatElement(last, count: count - bound.count)
    }
    var list = SQL("(", SQL(bound, separator: ", "), ")")
    list.isCacheable = !isLong
    return list
  }

  /// The values as text, for lists that may have more of them than a statement may have arguments,
  /// of which the default is 32,766. Nil for a short list, and for dates, whose text depends on the
  /// connection.
  private func literals(_ values: [Value]) -> SQL? {
    guard values.count > 1_000, Value.columnType.kind != .date,
      let texts = try? values.map({ try $0.databaseValue.literal })
    else { return nil }
    var list = SQL(raw: "(" + texts.joined(separator: ", ") + ")")
    list.isCacheable = false
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
