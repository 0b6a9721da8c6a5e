import Larder
import LarderSQLite

/// Functions, casts, lists and limits, as PostgreSQL has them.
///
/// See [Functions and Operators](https://www.postgresql.org/docs/15/functions.html).
enum PostgresForms {
  static func rewrite(_ fragment: SQLFragment) -> SQLFragment? {
    switch fragment.content {
    case .call(let name, let arguments): call("\(name)", arguments, fragment)
    case .form(let form, let operands, _): self.form(form, operands)
    case .cast(let operand, let type):
      "CAST(\(operand) AS \(SQLFragment(text: castName(of: type))))"
    case .members(let list):
      if let array = PostgresArray(list.values) {
        "(SELECT unnest(\(SQLFragment(value: array))::\(text: array.typeName)))"
      } else {
        "(\(.list(list.values.map { SQLFragment(value: $0) })))"
      }
    case .rows(let list): rows(list.values)
    case .limit(let count, let offset): limit(count, offset)
    default: nil
    }
  }

  /// Without a collation, which isn't part of a type.
  private static func castName(of type: ColumnType) -> String {
    type.kind == .text ? "TEXT" : PostgresDialect().typeName(of: type)
  }

  private static func limit(_ count: Int?, _ offset: Int) -> SQLFragment {
    let first = SQLFragment(" LIMIT \(count.map { SQLFragment(value: $0) } ?? "ALL")")
    return offset > 0 ? "\(first) OFFSET \(SQLFragment(value: offset))" : first
  }

  /// The number of each value from 0, and the value.
  private static func rows(_ values: [any DatabaseValueConvertible]) -> SQLFragment {
    guard let array = PostgresArray(values) else {
      return .list(
        values.enumerated().map { number, value in
          "\(text: number == 0 ? "VALUES " : "")(\(text: "\(number)"), \(SQLFragment(value: value)))"
        })
    }
    return """
      SELECT ordinality - 1, value FROM unnest(\(SQLFragment(value: array))::\(text: array.typeName)) \
      WITH ORDINALITY AS list (value, ordinality)
      """
  }

  // MARK: Functions

  private static func call(
    _ name: String, _ arguments: [SQLFragment], _ fragment: SQLFragment
  ) -> SQLFragment? {
    switch (name, arguments.count) {
    case ("instr", 2): "strpos(\(arguments[0]), \(arguments[1]))"
    case ("substr", 2...): substring(arguments)
    case ("length", 1): nil
    case ("lower", 1), ("upper", 1):
      "\(text: name)(\(arguments[0].grouped) COLLATE \"C\")"
    case ("trim", 1): "btrim(\(arguments[0]), ' ')"
    case ("group_concat", 2): "string_agg(CAST(\(arguments[0]) AS TEXT), \(arguments[1]))"
    case ("total", 1): "coalesce(CAST(sum(\(arguments[0])) AS DOUBLE PRECISION), 0)"
    case ("avg", 1): "CAST(avg(\(arguments[0])) AS DOUBLE PRECISION)"
    case ("min", 2...), ("max", 2...):
      """
      CASE WHEN \(anyIsNull(arguments)) THEN NULL \
      ELSE \(text: name == "min" ? "least" : "greatest")(\(.list(arguments))) END
      """
    case ("round", 1): "CAST(round(CAST(\(arguments[0]) AS NUMERIC)) AS DOUBLE PRECISION)"
    case ("round", 2):
      """
      CAST(round(CAST(\(arguments[0]) AS NUMERIC), CAST(\(arguments[1]) AS INTEGER)) \
      AS DOUBLE PRECISION)
      """
    case ("iif", 3): "CASE WHEN \(arguments[0]) THEN \(arguments[1]) ELSE \(arguments[2]) END"
    case ("ntile", 1), ("lag", 2), ("lead", 2), ("nth_value", 2): withInteger(name, arguments)
    case ("strftime", _), ("julianday", _), ("date", _), ("time", _), ("datetime", _),
      ("json_extract", _), ("json_array_length", _), ("typeof", _), ("likelihood", _):
      .unsupported("function \(name)")
    default: nil
    }
  }

  private static func anyIsNull(_ arguments: [SQLFragment]) -> SQLFragment {
    .list(arguments.map { "\($0.grouped) IS NULL" }, separator: " OR ")
  }

  /// The last argument is an int, to which nothing converts a bigint unasked.
  private static func withInteger(_ name: String, _ arguments: [SQLFragment]) -> SQLFragment? {
    guard let last = arguments.last else { return nil }
    return """
      \(text: name)(\(.list(arguments.dropLast() + ["CAST(\(last) AS INTEGER)"])))
      """
  }

  /// For SQLite a negative start counts from the end.
  private static func substring(_ arguments: [SQLFragment]) -> SQLFragment {
    let text = arguments[0]
    guard arguments[1].kind == .value || arguments[1].words != nil,
      let start = integer(arguments[1])
    else { return .unsupported("substring from what isn't a value") }
    let count = arguments.count > 2 ? integer(arguments[2]) : Int64.max
    guard let count, count >= 0 else { return .unsupported("substring of a length like that") }
    let length = SQLFragment(text: "\(min(count, Int64(Int32.max)))")
    if start > 0 { return "substr(\(text), \(SQLFragment(text: "\(clamped(start))")), \(length))" }
    if start == 0 {
      return "substr(\(text), 1, \(SQLFragment(text: "\(max(0, clamped(count) - 1))")))"
    }
    // Before the beginning: what is missing there is missing in the result.
    let end = SQLFragment(text: "\(clamped(start.magnitude == .max ? .max : -start))")
    return "substr(\(text), length(\(text)) - \(end) + 1, \(length))"
  }

  private static func clamped(_ number: Int64) -> Int64 { min(number, Int64(Int32.max)) }

  private static func integer(_ fragment: SQLFragment) -> Int64? {
    if let words = fragment.words { return Int64(words) }
    guard case .integer(let number)? = try? fragment.value.databaseValue else { return nil }
    return number
  }

  // MARK: Forms

  private static func form(_ form: SQLForm, _ operands: [SQLFragment]) -> SQLFragment? {
    switch form {
    case .decimal, .decimalKey, .float, .withoutAffinity, .withAffinity: operands.first
    case .decimalAdd: infix(operands, " + ")
    case .decimalSubtract:
      operands.count == 1 ? "(- \(operands[0].grouped))" : infix(operands, " - ")
    case .decimalMultiply: infix(operands, " * ")
    case .decimalMagnitude: operands.first.map { "abs(\($0))" }
    case .decimalSum: operands.first.map { "sum(\($0))" }
    case .integer: operands.first.map { checked($0, operands.dropFirst().map { $0 }) }
    case .position: "nullif(strpos(\(operands[0]), \(operands[1])), 0) - 1"
    case .hasSuffix:
      "right(\(operands[0]), length(\(operands[1]))) = \(operands[1])"
    case .strftime: operands.count == 2 ? DateFormatting.text(operands[0], operands[1]) : nil
    case .dateAddingMonths: .unsupported("months and years to add as SQLite does")
    case .dateAdding: DateFormatting.adding(operands)
    case .hasPrefix: nil
    }
  }

  /// An integer, or an error where it is out of a range: the cast of a text that is no number.
  private static func checked(_ value: SQLFragment, _ bounds: [SQLFragment]) -> SQLFragment {
    let integer: SQLFragment = "CAST(\(value) AS BIGINT)"
    guard bounds.count == 2 else { return integer }
    return """
      CASE WHEN \(integer) BETWEEN \(bounds[0]) AND \(bounds[1]) OR \(value.grouped) IS NULL THEN \(integer) \
      ELSE CAST('out of range: ' || \(integer) AS BIGINT) END
      """
  }

  private static func infix(_ operands: [SQLFragment], _ sign: String) -> SQLFragment? {
    guard operands.count == 2 else { return nil }
    return "(\(operands[0].grouped)\(text: sign)\(operands[1].grouped))"
  }
}
