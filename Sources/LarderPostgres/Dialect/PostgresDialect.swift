import Larder
import LarderSQLite

/// PostgreSQL's SQL, where it says otherwise what SQLite's says.
///
/// The aim is the same answer: NULL stands first in an order, text is compared byte by byte (`COLLATE "C"`),
/// null-safe equality keeps the index, division by zero is NULL. What PostgreSQL has nothing for is refused when
/// the statement is run, with an error that says so.
///
/// See [SQL Syntax](https://www.postgresql.org/docs/15/sql-syntax.html).
struct PostgresDialect: Dialect {
  /// The same value in SELECT and in GROUP BY has to be the same parameter.
  var reusesPlaceholders: Bool { true }

  func typeName(of type: ColumnType) -> String {
    switch type.kind {
    case .integer: "BIGINT"
    case .bool: "BOOLEAN"
    case .real: "DOUBLE PRECISION"
    case .text: "TEXT COLLATE \"C\""
    case .blob: "BYTEA"
    case .uuid: "UUID"
    case .date: "TIMESTAMPTZ"
    case .decimal: "NUMERIC"
    // Refused where a table is declared.
    case .any: "TEXT"
    }
  }

  func rewrite(_ fragment: SQLFragment) -> SQLFragment? {
    switch fragment.kind {
    case .text, .table, .value: nil
    case .unary: fragment.left.flatMap { unary(fragment, $0) }
    case .binary, .comparison:
      if let number = RealNumbers.withoutNaN(fragment) {
        number
      } else if fragment.isPlain {
        fragment.besideColumn
      } else {
        fragment.left.flatMap { binary(fragment, $0, fragment.rightOperand) }
      }
    case .composite: PostgresForms.rewrite(fragment, in: self)
    }
  }

  /// Of a condition it doesn't matter whether it is NULL or false, so that equality needs no test for NULL, which
  /// would be one more guess for the planner.
  func condition(_ fragment: SQLFragment) -> SQLFragment {
    condition(fragment, neverNull: fragment.testedNames)
  }

  /// - Parameter names: the columns of which it is tested beside it that they aren't NULL.
  private func condition(_ fragment: SQLFragment, neverNull names: Set<String>) -> SQLFragment {
    if case .form(.jsonContains(let kind, let path), let operands, _) = fragment.content {
      return JSONBForms.contains(
        operands[1], of: kind, in: operands[0], at: path, isCondition: true) ?? fragment
    }
    guard !fragment.isDeep, let left = fragment.left else { return fragment }
    switch fragment.operation {
    case .and, .or:
      guard let right = fragment.right else { return fragment }
      if fragment.operation == .and {
        // Its rows would be guessed to be fewer than they are.
        if left.isTest(of: right.equalNames) { return condition(right, neverNull: names) }
        if right.isTest(of: left.equalNames) { return condition(left, neverNull: names) }
      }
      return SQLFragment(
        condition(left, neverNull: names), fragment.operation, condition(right, neverNull: names))
    case .parentheses: return SQLFragment(.parentheses, condition(left, neverNull: names))
    case .same:
      let right = fragment.rightOperand
      if left.isNull || right.isNull { return fragment }
      if left.mayBeNull, right.mayBeNull,
        names.isDisjoint(with: [left.words, right.words].compactMap(\.self))
      {
        return fragment
      }
      let equal = SQLFragment(left, .equal, right)
      // An index of the place serves the equality, and one of the document what it follows from.
      return JSONBForms.holds(left, right).map { "(\($0) AND \(equal))" } ?? equal
    default: return fragment
    }
  }

  /// A join's condition: of two that may both be NULL the equality stands alone, too, so that it finds an index.
  private func joining(_ fragment: SQLFragment) -> SQLFragment {
    let condition = condition(fragment)
    guard !condition.isDeep, let left = condition.left else { return condition }
    switch condition.operation {
    case .and:
      guard let right = condition.right else { return condition }
      return SQLFragment(joining(left), .and, joining(right))
    case .parentheses: return SQLFragment(.parentheses, joining(left))
    case .same where left.isName && (condition.right?.isName ?? false):
      let right = condition.rightOperand
      let equal = SQLFragment(left, .equal, right)
      return "(\(equal) OR \(left) IS NULL AND \(right) IS NULL)"
    default: return condition
    }
  }

  // MARK: Operators

  private func unary(_ fragment: SQLFragment, _ operand: SQLFragment) -> SQLFragment? {
    switch fragment.operation {
    case .grouping: "\(operand.collated)"
    // For SQLite NULL is the smallest value.
    case .ascending: "\(operand.collated)\(text: operand.mayBeNull ? " NULLS FIRST" : "")"
    case .descending:
      "\(operand.collated)\(text: operand.mayBeNull ? " DESC NULLS LAST" : " DESC")"
    case .condition: "\(condition(operand))"
    case .nullsFirst, .nullsLast:
      """
      \((operand.orderedOperand ?? operand).collated)\
      \(text: operand.operation == .descending ? " DESC" : "")\
      \(text: fragment.operation == .nullsFirst ? " NULLS FIRST" : " NULLS LAST")
      """
    case .not: "NOT \(operand.grouped)"
    case .negate: "- \(operand.grouped)"
    case .isNull, .isNotNull: operand.isNull(fragment.operation == .isNull)
    default: nil
    }
  }

  /// Each operand in parentheses unless it is a name, a value or a call: the operators bind in another order
  /// than SQLite's.
  private func binary(
    _ fragment: SQLFragment, _ left: SQLFragment, _ right: SQLFragment
  ) -> SQLFragment? {
    switch fragment.operation {
    case .on where left.operation == .fullJoin: "\(left) ON \(hashed(right))"
    case .on: "\(left) ON \(joining(right))"
    case .join, .leftJoin, .rightJoin, .fullJoin, .or, .and: nil
    case .crossJoin: "\(left) JOIN \(right)"
    case .equal, .notEqual, .same, .notSame, .less, .lessOrEqual, .greater, .greaterOrEqual:
      comparison(fragment.operation, left, right)
    case .in: membership(left, right)
    case .like: "\(text(left)) ILIKE \(right.grouped) ESCAPE ''"
    case .escape: escaped(left, right)
    case .glob: glob(left, right)
    case .divide, .remainder:
      SQLFragment(left.grouped, fragment.operation, "NULLIF(\(right), 0)")
    case .shiftLeft, .shiftRight: shift(fragment.operation, left, right)
    case .collate: fragment.collation == "BINARY" ? fragment.collated : .misplacedCollation
    case .between: range(left, right)
    default: SQLFragment(left.grouped, fragment.operation, right.grouped)
    }
  }

  private func comparison(
    _ operation: SQLOperator, _ left: SQLFragment, _ right: SQLFragment
  ) -> SQLFragment {
    let collation = left.collation ?? right.collation
    let (left, right) = (left.folded(by: collation), right.folded(by: collation))
    switch operation {
    case .same: return same(left, right)
    case .notSame:
      if left.isNull { return right.isNull(false) }
      if right.isNull { return left.isNull(false) }
      return "\(left.grouped) IS DISTINCT FROM \(right.grouped)"
    default: return compared(left, operation, right)
    }
  }

  /// The same with a value of the type of the column beside it.
  private func compared(
    _ left: SQLFragment, _ operation: SQLOperator, _ right: SQLFragment
  ) -> SQLFragment {
    guard left.isName, right.kind == .value else {
      return SQLFragment(left.grouped, operation, right.grouped)
    }
    return SQLFragment(left, operation, value: right.value)
  }

  /// Null-safe equality. `IS NOT DISTINCT FROM` uses no index, so that it stands only where both can be
  /// NULL.
  private func same(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment {
    if left.isNull { return right.isNull(true) }
    if right.isNull { return left.isNull(true) }
    let equal: SQLFragment = "\(compared(left, .equal, right))"
    switch (left.mayBeNull, right.mayBeNull) {
    case (true, true): return "\(left.grouped) IS NOT DISTINCT FROM \(right.grouped)"
    case (true, false): return "(\(equal) AND \(left.grouped) IS NOT NULL)"
    case (false, true): return "(\(equal) AND \(right.grouped) IS NOT NULL)"
    case (false, false): return equal
    }
  }

  /// A full join's condition, which has to have an equality that the server can hash: arrays have one, in which
  /// NULL equals NULL.
  private func hashed(_ condition: SQLFragment) -> SQLFragment {
    guard let left = condition.left, let right = condition.right else { return condition.grouped }
    switch condition.operation {
    case .and: return "\(hashed(left)) AND \(hashed(right))"
    case .same where left.mayBeNull && right.mayBeNull:
      let collation = left.collation ?? right.collation
      return "ARRAY[\(left.folded(by: collation))] = ARRAY[\(right.folded(by: collation))]"
    default: return condition.grouped
    }
  }

  private func range(_ operand: SQLFragment, _ bounds: SQLFragment) -> SQLFragment? {
    guard case .list(let bounds, _) = bounds.content, let collation = operand.collation else {
      return nil
    }
    let ends = SQLFragment.list(bounds.map { $0.folded(by: collation) }, separator: " AND ")
    return "\(operand.collated) BETWEEN \(ends)"
  }

  private func membership(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment? {
    guard case .members(let list) = right.content else {
      return left.collation == nil ? nil : .misplacedCollation
    }
    if left.collation == nil, let array = PostgresDialect.array(list.values, beside: left) {
      // Of no values there is no type.
      if list.values.isEmpty { return "(1 = 0)" }
      return "\(left.grouped) = ANY(\(array))"
    }
    let values = list.values.map { SQLFragment(value: $0).folded(by: left.collation) }
    return "\(left.collated.grouped) IN (\(.list(values)))"
  }

  /// Only ASCII letters are the same in both cases, as in SQLite.
  private func text(_ operand: SQLFragment) -> SQLFragment {
    "\(operand.withoutCollation.grouped) COLLATE \"C\""
  }

  private func escaped(_ match: SQLFragment, _ character: SQLFragment) -> SQLFragment? {
    guard match.operation == .like, let left = match.left else { return nil }
    // For SQLite such a pattern matches nothing.
    if let pattern = match.rightOperand.boundValue, let escape = character.boundValue,
      Self.endsInEscape(pattern, escape)
    {
      return "(\(left.withoutCollation.grouped) <> \(left.withoutCollation.grouped))"
    }
    return "\(text(left)) ILIKE \(match.rightOperand) ESCAPE \(character)"
  }

  /// Whether the last character of a pattern is an escape that nothing follows.
  private static func endsInEscape(_ pattern: DatabaseValue, _ escape: DatabaseValue) -> Bool {
    guard case .text(let pattern) = pattern, case .text(let escape) = escape else { return false }
    var rest = pattern.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if escape.unicodeScalars.elementsEqual([scalar]), rest.popFirst() == nil { return true }
    }
    return false
  }

  private func glob(_ left: SQLFragment, _ pattern: SQLFragment) -> SQLFragment {
    guard case .text(let glob)? = pattern.boundValue else {
      return .unsupported("GLOB with a pattern that isn't a value")
    }
    return "\(text(left)) ~ \(SQLFragment(value: GlobPattern.regularExpression(glob)))"
  }

  /// Shifted by 64 bits or more nothing is left.
  private func shift(
    _ operation: SQLOperator, _ left: SQLFragment, _ right: SQLFragment
  ) -> SQLFragment {
    guard case .integer(let count)? = right.boundValue else {
      return .unsupported("shift by what isn't a value")
    }
    // Columns may have fewer bits than SQLite's integers, and are shifted by a remainder then.
    let left: SQLFragment = "CAST(\(left) AS BIGINT)"
    let goesLeft = (operation == .shiftLeft) == (count >= 0)
    guard count.magnitude < 64 else {
      return goesLeft ? "(\(left) * 0)" : "(\(left) >> 63)"
    }
    let bits = SQLFragment(text: "\(count.magnitude)")
    return goesLeft ? "(\(left) << \(bits))" : "(\(left) >> \(bits))"
  }
}

// MARK: Collations

/// What SQLite compares by a collation is made a text here that is compared byte by byte.
extension SQLFragment {
  /// What stands behind an operator between two.
  var rightOperand: SQLFragment { right ?? SQLFragment(value: value) }

  /// An operator between a column and an expression that is a value, as one between a column and a value.
  fileprivate var besideColumn: SQLFragment? {
    guard kind == .binary, let left, left.isName, let right, right.kind == .value else {
      return nil
    }
    return SQLFragment(left, operation, value: right.value)
  }

  /// The names that a conjunction tests not to be NULL.
  fileprivate var testedNames: Set<String> {
    guard !isDeep, let left else { return [] }
    switch operation {
    case .and: return left.testedNames.union(right?.testedNames ?? [])
    case .parentheses: return left.testedNames
    case .isNotNull: return left.isName ? Set([left.words].compactMap(\.self)) : []
    default: return []
    }
  }

  /// The names in equalities of a conjunction, which are never true where these are NULL, as long as something says that
  /// they aren't.
  fileprivate var equalNames: Set<String> {
    guard !isDeep, let left else { return [] }
    switch operation {
    case .and: return left.equalNames.union(right?.equalNames ?? [])
    case .parentheses: return left.equalNames
    case .same:
      let sides = [left, rightOperand]
      if sides.contains(where: \.isNull) { return [] }
      return Set(sides.filter(\.isName).compactMap(\.words))
    default: return []
    }
  }

  /// Whether it is a test that one of these names isn't NULL.
  fileprivate func isTest(of names: Set<String>) -> Bool {
    guard operation == .isNotNull, let left, left.isName else { return false }
    return left.words.map(names.contains) ?? false
  }

  /// As it is compared by its own collation.
  var collated: SQLFragment { folded(by: collation) }

  func folded(by collation: String?) -> SQLFragment {
    guard let collation, collation != "BINARY" || self.collation != nil else { return self }
    let text = withoutCollation
    let folded: SQLFragment.Composite.Content =
      switch collation {
      case "BINARY": "\(text.grouped) COLLATE \"C\""
      case "NOCASE": "lower(\(text.grouped) COLLATE \"C\")"
      case "RTRIM": "rtrim(\(text.grouped) COLLATE \"C\", ' ')"
      default: "\(.unsupported("collation \(collation)"))"
      }
    return SQLFragment(folded, isNullable: text.isNullable)
  }

  static let misplacedCollation = unsupported(
    "collation here: only where text is compared or put in order")

  /// Whether it is NULL, or isn't. Of a value, of which the server might not know the type, it is known here.
  fileprivate func isNull(_ toBeNull: Bool) -> SQLFragment {
    if let boundValue { return (boundValue == .null) == toBeNull ? "(1 = 1)" : "(1 = 0)" }
    return "\(grouped)\(text: toBeNull ? " IS NULL" : " IS NOT NULL")"
  }

  /// What has no counterpart: a statement with it throws when it is run.
  static func unsupported(_ feature: String) -> SQLFragment {
    .refused(PostgresDefinitions.unsupported(feature))
  }
}
