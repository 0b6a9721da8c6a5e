import Larder
import LarderSQLite

/// PostgreSQL's SQL, where it differs from SQLite's.
///
/// The aim is the same answer: NULL sorts first, text is compared byte by byte (`COLLATE "C"`), null-safe
/// equality still uses an index, division by zero is NULL. Constructs without a counterpart are refused when
/// the statement is run, with an error that says so.
///
/// See [SQL Syntax](https://www.postgresql.org/docs/15/sql-syntax.html).
struct PostgresDialect: Dialect {
  /// The same value in SELECT and in GROUP BY has to be the same parameter.
  var reusesPlaceholders: Bool { true }

  func typeName(of type: ColumnType, storedAs form: StoredForm) -> String {
    switch form {
    case .json: return "JSONB"
    case .array(let kind):
      let type = ArrayForms.typeName(of: kind)
      return kind == .text ? type + " COLLATE \"C\"" : type
    case .range(.integer): return "INT8RANGE"
    case .range(.real), .range(.decimal): return "NUMRANGE"
    case .range(.date): return "TSTZRANGE"
    default: return typeName(of: type)
    }
  }

  func typeName(of type: ColumnType) -> String {
    let name = "\(type.kind.cast)".dropFirst(2).uppercased()
    return type.kind == .text ? name + " COLLATE \"C\"" : name
  }

  func rewrite(_ fragment: SQLFragment) -> SQLFragment? {
    switch fragment.kind {
    case .text, .table, .value: nil
    case .unary: fragment.left.flatMap { unary(fragment, $0) }
    case .binary, .comparison:
      if let number = RealNumbers.withoutNaN(fragment) {
        number
      } else if fragment.isPlain {
        fragment.right.flatMap { right in
          fragment.left.flatMap { beside($0, fragment.operation, right) }
        }
      } else {
        fragment.left.flatMap { binary(fragment, $0, fragment.rightOperand) }
      }
    case .composite: PostgresForms.rewrite(fragment, in: self)
    }
  }

  /// Rewrites a condition, in which NULL counts as false. Equality thus needs no test for NULL, which would
  /// give the planner one more selectivity to guess.
  func condition(_ fragment: SQLFragment) -> SQLFragment {
    condition(fragment, neverNull: fragment.testedNames)
  }

  /// - Parameter names: the columns that other parts of the condition test not to be NULL.
  private func condition(_ fragment: SQLFragment, neverNull names: Set<String>) -> SQLFragment {
    if case .form(.jsonContains(let kind, let path), let operands, _) = fragment.content {
      return JSONBForms.contains(
        operands[1], of: kind, in: operands[0], at: path, isCondition: true) ?? fragment
    }
    if let test = ArrayForms.test(fragment, isCondition: true) { return test }
    guard !fragment.isDeep, let left = fragment.left else { return fragment }
    switch fragment.operation {
    case .and, .or:
      guard let right = fragment.right else { return fragment }
      if fragment.operation == .and {
        // The test for NULL is dropped if an equality implies it: with both, the planner would underestimate
        // the rows.
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
      // An index on the path serves the equality, and one on the document the containment that follows from
      // it.
      return JSONBForms.holds(left, right).map { "(\($0) AND \(equal))" } ?? equal
    default: return fragment
    }
  }

  /// Rewrites a join's condition. If both sides may be NULL, the equality also stands alone, so that it finds
  /// an index.
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
    // In SQLite, NULL is the smallest value.
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

  /// Writes an operator. Its operands are in parentheses unless they are names, values or calls, since the
  /// precedence of operators isn't SQLite's.
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
    case .like: "\(left.foldedAsDeclared) ILIKE \(right.pattern(beside: left)) ESCAPE ''"
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
    let collation = left.collation(beside: right)
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

  private func compared(
    _ left: SQLFragment, _ operation: SQLOperator, _ right: SQLFragment
  ) -> SQLFragment {
    if let same = beside(left, operation, right) { return same }
    if right.isText, let column = left.convertedColumn {
      return SQLFragment(left.grouped, operation, SQLFragment(.beside(right.value, column)))
    }
    return SQLFragment(left.grouped, operation, right.grouped)
  }

  /// An operator between a column and a value, written such that the value can take the column's type; nil for
  /// other operands.
  private func beside(
    _ left: SQLFragment, _ operation: SQLOperator, _ right: SQLFragment
  ) -> SQLFragment? {
    guard left.isName, right.kind == .value else { return nil }
    return SQLFragment(left, operation, value: right.value)
  }

  /// Null-safe equality. `IS NOT DISTINCT FROM` uses no index, so it is written only if both sides can be
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

  /// Rewrites a full join's condition, which needs an equality that the server can hash. The equality of
  /// arrays is one, and NULL equals NULL in it.
  private func hashed(_ condition: SQLFragment) -> SQLFragment {
    guard let left = condition.left, let right = condition.right else { return condition.grouped }
    switch condition.operation {
    case .and: return "\(hashed(left)) AND \(hashed(right))"
    case .same where left.mayBeNull && right.mayBeNull:
      let collation = left.collation(beside: right)
      return "ARRAY[\(left.folded(by: collation))] = ARRAY[\(right.folded(by: collation))]"
    default: return condition.grouped
    }
  }

  private func range(_ operand: SQLFragment, _ bounds: SQLFragment) -> SQLFragment? {
    guard case .list(let bounds, _) = bounds.content else { return nil }
    guard let collation = operand.collation else {
      guard operand.isName, bounds.contains(where: \.isText) else { return nil }
      let ends = bounds.map { $0.isText ? SQLFragment(.beside($0.value, operand)) : $0 }
      return "\(operand) BETWEEN \(.list(ends, separator: " AND "))"
    }
    let ends = SQLFragment.list(bounds.map { $0.folded(by: collation) }, separator: " AND ")
    return "\(operand.collated) BETWEEN \(ends)"
  }

  private func membership(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment? {
    guard case .members(let list) = right.content else {
      return left.collation == nil ? nil : .misplacedCollation
    }
    if left.collation == nil, let array = PostgresDialect.array(list.values, beside: left) {
      // Without values the array has no type.
      if list.values.isEmpty { return "(1 = 0)" }
      return "\(left.grouped) = ANY(\(array))"
    }
    let values = list.values.map { SQLFragment(value: $0).folded(by: left.collation) }
    return "\(left.collated.grouped) IN (\(.list(values)))"
  }

  private func escaped(_ match: SQLFragment, _ character: SQLFragment) -> SQLFragment? {
    guard match.operation == .like, let left = match.left else { return nil }
    // In SQLite, a pattern that ends in an escape matches nothing.
    if let pattern = match.rightOperand.boundValue, let escape = character.boundValue,
      Self.endsInEscape(pattern, escape)
    {
      return "(\(left.withoutCollation.grouped) <> \(left.withoutCollation.grouped))"
    }
    return
      "\(left.foldedAsDeclared) ILIKE \(match.rightOperand.pattern(beside: left)) ESCAPE \(character)"
  }

  /// Whether a pattern ends in an escape character that nothing follows.
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
      return .unsupported("GLOB with a pattern that isn't a constant")
    }
    return "\(left.foldedAsDeclared) ~ \(SQLFragment(value: GlobPattern.regularExpression(glob)))"
  }

  /// A bit shift. As in SQLite, 64 bits or more leave 0 to the left, and only the sign to the right.
  private func shift(
    _ operation: SQLOperator, _ left: SQLFragment, _ right: SQLFragment
  ) -> SQLFragment {
    guard case .integer(let count)? = right.boundValue else {
      return .unsupported("a bit shift whose count isn't a constant")
    }
    // A column may have fewer than 64 bits, and the server would shift it by the remainder of its width.
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

/// Collations: text that SQLite compares by a collation becomes text here that is compared byte by byte.
extension SQLFragment {
  /// The right operand of a binary operator.
  var rightOperand: SQLFragment { right ?? SQLFragment(value: value) }

  /// The columns that a conjunction tests not to be NULL.
  fileprivate var testedNames: Set<String> {
    guard !isDeep, let left else { return [] }
    switch operation {
    case .and: return left.testedNames.union(right?.testedNames ?? [])
    case .parentheses: return left.testedNames
    case .isNotNull: return left.isName ? Set([left.words].compactMap(\.self)) : []
    default: return []
    }
  }

  /// The columns in a conjunction's equalities. An equality is never true for a NULL column, once a test
  /// rules out that both sides are NULL.
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

  /// Whether the fragment tests that one of these columns isn't NULL.
  fileprivate func isTest(of names: Set<String>) -> Bool {
    guard operation == .isNotNull, let left, left.isName else { return false }
    return left.words.map(names.contains) ?? false
  }

  /// The fragment, folded by its own collation.
  var collated: SQLFragment { folded(by: collation) }

  func folded(by collation: String?) -> SQLFragment {
    guard let collation, collation != "BINARY" || namedCollation != nil else { return self }
    let text = withoutCollation
    let folded: SQLFragment.Composite.Content =
      switch collation {
      case "BINARY": "\(text.grouped) COLLATE \"C\""
      case "NOCASE": "lower(\(text.grouped) COLLATE \"C\")"
      case "RTRIM": "rtrim(\(text.grouped) COLLATE \"C\", ' ')"
      default: "\(.unsupported("the collation \(collation)"))"
      }
    return SQLFragment(folded, isNullable: text.isNullable)
  }

  static let misplacedCollation = unsupported(
    "a collation here: only in a comparison or an order of text")

  /// A test for NULL, or for its absence. For a bound value the test is decided here, since the server might
  /// not know the value's type.
  fileprivate func isNull(_ toBeNull: Bool) -> SQLFragment {
    if let boundValue { return (boundValue == .null) == toBeNull ? "(1 = 1)" : "(1 = 0)" }
    return "\(grouped)\(text: toBeNull ? " IS NULL" : " IS NOT NULL")"
  }

  /// A construct without a counterpart: a statement that contains it throws when it is run.
  static func unsupported(_ feature: String) -> SQLFragment {
    .refused(PostgresDefinitions.unsupported(feature))
  }
}
