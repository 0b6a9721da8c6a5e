import Larder
import LarderSQLite

/// Functions, casts, lists and limits, as PostgreSQL has them.
///
/// See [Functions and Operators](https://www.postgresql.org/docs/15/functions.html).
enum PostgresForms {
  static func rewrite(_ fragment: SQLFragment, in dialect: PostgresDialect) -> SQLFragment? {
    switch fragment.content {
    case .change(let words, let table, let assignments, let others, let condition?):
      SQLFragment(
        .change(
          words, table, assigning: assignments, from: others,
          where: dialect.condition(condition)))
    case .choice(let conditions, let results):
      SQLFragment(.choice(conditions.map(dialect.condition), results))
    case .call(let name, let arguments): call("\(name)", arguments, fragment)
    case .form(let form, let operands, _): self.form(form, operands, fragment)
    case .cast(let operand, let type, let kind):
      PostgresCasts.cast(operand, from: kind, to: type.kind)
    case .members(let list):
      if let array = PostgresDialect.array(list.values) {
        "(SELECT unnest(\(array)))"
      } else {
        "(\(.list(list.values.map { SQLFragment(value: $0) })))"
      }
    case .rows(let list): rows(list.values)
    case .limit(let count, let offset): limit(count, offset)
    default: nil
    }
  }

  private static func limit(_ count: Int?, _ offset: Int) -> SQLFragment {
    let first = SQLFragment(" LIMIT \(count.map { SQLFragment(value: $0) } ?? "ALL")")
    return offset > 0 ? "\(first) OFFSET \(SQLFragment(value: offset))" : first
  }

  /// A row for each value: its index from 0, and the value.
  private static func rows(_ values: [any DatabaseValueConvertible]) -> SQLFragment {
    guard let array = PostgresDialect.array(values) else {
      return .list(
        values.enumerated().map { number, value in
          "\(text: number == 0 ? "VALUES " : "")(\(text: "\(number)"), \(SQLFragment(value: value)))"
        })
    }
    let isText = values.first.map { Swift.type(of: $0).columnType.kind == .text } ?? false
    return """
      SELECT ordinality - 1, value\(text: isText ? " COLLATE \"C\"" : "") FROM unnest(\(array)) WITH ORDINALITY AS list (value, ordinality)
      """
  }

  // MARK: Functions

  private static func call(
    _ name: String, _ arguments: [SQLFragment], _ fragment: SQLFragment
  ) -> SQLFragment? {
    if name == "instr", arguments.count == 2 {
      return "strpos(\(arguments[0].withoutCollation), \(arguments[1]))"
    }
    let isCompared = ["min", "max", "nullif"].contains(name)
    if arguments.contains(where: { argument in
      let text = argument.left ?? argument
      let isCompared = isCompared || argument.operation == .distinct
      return (isCompared ? text.collation : text.namedCollation) != nil
    }) {
      return .misplacedCollation
    }
    switch (name, arguments.count) {
    case ("coalesce", 2...), ("ifnull", 2), ("nullif", 2):
      let typed = besideColumn(arguments)
      return typed.map { "\(text: name)(\(.list($0)))" }
    case ("substr", 2...): return substring(arguments)
    case ("lower", 1), ("upper", 1):
      return "\(text: name)(\(arguments[0].foldedAsDeclared))"
    case ("trim", 1): return "btrim(\(arguments[0]), ' ')"
    case ("total", 1), ("avg", 1): return aggregate(fragment, nil)
    case ("sum", 1): return RealNumbers.isReal(arguments[0]) ? aggregate(fragment, nil) : nil
    case ("min", 2...), ("max", 2...):
      let operands = arguments.map(\.decimalOperand)
      if operands.contains(where: \.isNull) { return "NULL" }
      let least: SQLFragment =
        "\(text: name == "min" ? "least" : "greatest")(\(.list(arguments)))"
      let nullable = operands.filter(\.mayBeNull)
      if nullable.isEmpty { return least }
      let tests = nullable.map { SQLFragment("\($0.grouped) IS NULL") }
      return "CASE WHEN \(.list(tests, separator: " OR ")) THEN NULL ELSE \(least) END"
    case ("round", 1...2):
      let exact: SQLFragment = "CAST(CAST(\(arguments[0]) AS TEXT) AS NUMERIC)"
      guard arguments.count == 2 else { return "CAST(round(\(exact)) AS DOUBLE PRECISION)" }
      // SQLite takes 8.024999999999999, which is 3.0 * 2.675, for 8.025: it adds 3e-16 of the number before it
      // rounds to digits, unless the number has so many that this would change them.
      let digits: SQLFragment
      if case .integer(let number)? = arguments[1].boundValue {
        guard number > 0 else { return "CAST(round(\(exact)) AS DOUBLE PRECISION)" }
        digits = SQLFragment(text: "\(number)")
      } else {
        digits = "greatest(CAST(\(arguments[1]) AS INTEGER), 0)"
      }
      // A number that may be stored as text has no absolute value of its own.
      let size = RealNumbers.isReal(arguments[0]) ? arguments[0] : exact
      return """
        CAST(round(\(exact) * CASE WHEN \(digits) > 0 AND abs(\(size)) < power(8, 15 - \(digits)) \
        THEN 1.0000000000000003 ELSE 1 END, \(digits)) AS DOUBLE PRECISION)
        """
    case ("iif", 3):
      return "CASE WHEN \(arguments[0]) THEN \(arguments[1]) ELSE \(arguments[2]) END"
    case ("ntile", 1), ("lag", 2), ("lead", 2), ("nth_value", 2):
      // The last argument is an int, to which the server doesn't convert a bigint implicitly.
      let last: SQLFragment = "CAST(\(arguments[arguments.count - 1]) AS INTEGER)"
      return "\(text: name)(\(.list(arguments.dropLast() + [last])))"
    case ("strftime", _), ("julianday", _), ("date", _), ("time", _), ("datetime", _),
      ("typeof", _), ("likelihood", _), ("json_patch", _):
      return .unsupported("the function \(name)")
    default: return nil
    }
  }

  /// The arguments, with texts as values of the type of the column that stands before them, which may be an
  /// enumeration or case-insensitive; nil if there are none.
  private static func besideColumn(_ arguments: [SQLFragment]) -> [SQLFragment]? {
    guard let column = arguments.first, column.isName,
      arguments.contains(where: { $0.isText })
    else { return nil }
    return arguments.map { $0.isText ? SQLFragment(.beside($0.value, column)) : $0 }
  }

  /// An aggregate's call with its clauses, wrapped so that the result is SQLite's.
  private static func aggregate(_ call: SQLFragment, _ clauses: SQLFragment?) -> SQLFragment? {
    switch call.content {
    case .form(.clause, let operands, _):
      return aggregate(operands[0], "\(operands[1])\(clauses)")
    case .form(.integerSum, let operands, _):
      return "CAST(sum(\(operands[0]))\(clauses) AS BIGINT)"
    case .form(.jsonArray, let operands, _), .form(.jsonGroup, let operands, _):
      return JSONBForms.aggregate(operands, clauses)
    case .form(.decimalSum, let operands, _): return "sum(\(operands[0]))\(clauses)"
    case .form(.joinedText(let kind), let operands, _):
      return
        "string_agg(\(PostgresCasts.cast(operands[0], from: kind, to: .text)), \(operands[1]))\(clauses)"
    case .call(let name, let arguments):
      switch "\(name)" {
      case "total":
        return RealNumbers.withoutNaN(
          "coalesce(CAST(sum(\(arguments[0]))\(clauses) AS DOUBLE PRECISION), 0)", of: arguments[0])
      case "avg":
        return RealNumbers.withoutNaN(
          "CAST(avg(\(arguments[0]))\(clauses) AS DOUBLE PRECISION)", of: arguments[0])
      case "sum" where arguments.count == 1:
        return RealNumbers.withoutNaN("sum(\(arguments[0]))\(clauses)", of: arguments[0])
      default: return "\(call)\(clauses)"
      }
    default: return "\(call)\(clauses)"
    }
  }

  /// A substring. As in SQLite, a negative start counts from the end.
  private static func substring(_ arguments: [SQLFragment]) -> SQLFragment {
    let text = arguments[0]
    guard let start = integer(arguments[1]) else {
      return .unsupported("a substring whose start isn't a constant")
    }
    let count = arguments.count > 2 ? integer(arguments[2]) : Int64.max
    guard let count, count >= 0 else {
      return .unsupported("a substring whose length is negative or isn't a constant")
    }
    let length = SQLFragment(text: "\(min(count, Int64(Int32.max)))")
    if start > 0 { return "substr(\(text), \(SQLFragment(text: "\(clamped(start))")), \(length))" }
    if start == 0 {
      return "substr(\(text), 1, \(SQLFragment(text: "\(max(0, clamped(count) - 1))")))"
    }
    // A start before the beginning shortens the result.
    let end = SQLFragment(text: "\(clamped(start == .min ? .max : -start))")
    return "substr(\(text), length(\(text)) - \(end) + 1, \(length))"
  }

  private static func clamped(_ number: Int64) -> Int64 { min(number, Int64(Int32.max)) }

  private static func integer(_ fragment: SQLFragment) -> Int64? {
    if let words = fragment.words { return Int64(words) }
    return if case .integer(let number)? = fragment.boundValue { number } else { nil }
  }

  // MARK: Forms

  /// LIKE where the case of all letters matters, or of none. ICU's root collation knows Unicode's small letters
  /// on every server; Σ at the end of a word has another one.
  private static func like(
    _ text: SQLFragment, _ pattern: SQLFragment, _ caseSensitive: Bool
  ) -> SQLFragment {
    let text = text.withoutCollation.grouped
    // Only a pattern that matches nothing is NULL.
    if pattern.isNull { return "(\(text) <> \(text))" }
    if caseSensitive { return "\(text.foldedAsDeclared) LIKE \(pattern.pattern(beside: text))" }
    return
      "translate(lower(\(text) COLLATE \"und-x-icu\"), 'ς', 'σ') COLLATE \"C\" LIKE \(pattern)"
  }

  private static func form(
    _ form: SQLForm, _ operands: [SQLFragment], _ fragment: SQLFragment
  ) -> SQLFragment? {
    guard let first = operands.first else { return nil }
    switch form {
    case .decimal, .decimalKey: return "\(numeric(first))"
    case .withoutAffinity, .withAffinity: return "\(first)"
    case .float: return "CAST(CAST(\(first) AS REAL) AS DOUBLE PRECISION)"
    case .decimalAdd: return infix(operands, " + ")
    case .decimalSubtract:
      return operands.count == 1 ? "(- \(first.grouped))" : infix(operands, " - ")
    case .decimalMultiply: return infix(operands, " * ")
    case .decimalMagnitude: return "abs(\(first))"
    case .decimalSum, .integerSum, .joinedText, .clause, .jsonArray, .jsonGroup:
      return aggregate(fragment, nil)
    case .integer: return checked(first, Array(operands.dropFirst()))
    case .position: return "nullif(strpos(\(first), \(operands[1])), 0) - 1"
    case .hasSuffix:
      let end = SQLFragment("right(\(first.withoutCollation), length(\(operands[1])))")
      let collation = first.namedCollation
      return "\(end.folded(by: collation)) = \(operands[1].folded(by: collation))"
    case .hasPrefix:
      guard let collation = first.namedCollation else { return nil }
      let start = SQLFragment("left(\(first.withoutCollation), length(\(operands[1])))")
      return "\(start.folded(by: collation)) = \(operands[1].folded(by: collation))"
    case .like(let caseSensitive): return like(first, operands[1], caseSensitive)
    case .ownText: return "(\(first) COLLATE \"C\")"
    case .moment, .dateText:
      return .unsupported("comparing dates as text in several forms (use a timestamptz column)")
    case .strftime: return "(\(DateFormatting.text(first, operands[1])) COLLATE \"C\")"
    case .seconds: return "extract(epoch FROM \(DateFormatting.moment(operands[0])))"
    case .dateAdding(let months):
      return DateFormatting.adding(first, operands.dropFirst(), months: months)
    case .textSearch(let part):
      return (part as? FullTextSearch.Part).map { $0.search.vectors($0.kind, first) }
    case .boundRows(let values): return values() ?? .unsupported("tables of records in memory")
    case .arrayContains, .arrayOverlaps: return ArrayForms.test(fragment, isCondition: false)
    case .arrayLength: return ArrayForms.length(first)
    case .lateralRows: return "LATERAL (\(first))"
    case .lateralCondition: return first
    case .tableFunction: return .unsupported("table-valued functions in Swift")
    default: return JSONBForms.form(form, operands)
    }
  }

  /// An integer, or an error if it is out of range: the error is that of casting text that is no number.
  private static func checked(_ value: SQLFragment, _ bounds: [SQLFragment]) -> SQLFragment {
    let integer: SQLFragment = "CAST(\(value) AS BIGINT)"
    guard bounds.count == 2 else { return integer }
    return """
      CASE WHEN \(integer) BETWEEN \(bounds[0]) AND \(bounds[1]) OR \(value.grouped) IS NULL THEN \(integer) \
      ELSE CAST('out of range: ' || \(integer) AS BIGINT) END
      """
  }

  /// An operand as NUMERIC. A value is cast, since the server would take two values for text.
  private static func numeric(_ operand: SQLFragment) -> SQLFragment {
    operand.kind == .value ? "CAST(\(operand) AS NUMERIC)" : operand.grouped
  }

  private static func infix(_ operands: [SQLFragment], _ sign: String) -> SQLFragment {
    "(\(numeric(operands[0]))\(text: sign)\(numeric(operands[1])))"
  }
}
