import LarderSQLite

// Decimals, which SQLite stores as text. Functions compare, compute with and order them (see
// `DecimalFunctions`). To another dialect these are forms of their own: see `SQLForm`.

extension SQLFragment {
  /// A decimal number as its canonical text: equal numbers have the same text.
  ///
  /// - Parameter kind: the kind that the number is converted from, if it isn't a decimal number.
  final func decimal(
    as coding: ExpressionCoding?, from kind: ColumnType.Kind? = nil
  ) -> SQLFragment {
    if self.coding?.isDecimal == true, insideDecimal != nil { return self }
    let operand =
      kind == nil || kind == .decimal
      ? self : SQLFragment(.cast(self, ColumnType(.decimal), from: kind))
    return SQLFragment(
      .form(.decimal, [operand], .call("larder_decimal", parenthesized(in: .lowest))),
      isNullable: isNullable, coding: coding)
  }

  /// The canonical text of a fragment that has a Decimal's coding already.
  final var decimal: SQLFragment { coding.map { decimal(as: $0) } ?? self }

  /// The operand of a decimal number's canonical text; nil for any other fragment.
  final var insideDecimal: SQLFragment? {
    guard coding?.isDecimal == true, case .form(.decimal, let operands, _) = content else {
      return nil
    }
    return operands.first
  }

  /// The number's sort key: bytes that sort as decimal numbers do.
  final var decimalKey: SQLFragment {
    let operand = insideDecimal ?? self
    return SQLFragment(
      .form(
        .decimalKey, [operand], .call("larder_decimal_key", operand.parenthesized(in: .lowest))),
      isNullable: isNullable)
  }

  /// The fragment as it is sorted, and as it is compared for less or greater.
  final var ordered: SQLFragment { coding?.isDecimal == true ? decimalKey : orderedJSON }

  /// The fragment as a term of ORDER BY or GROUP BY.
  @usableFromInline
  final consuming func term() -> SQLFragment {
    coding == nil && precedence > .lowest && kind != .composite
      ? self : ordered.parenthesized(in: .lowest)
  }

  /// A value as this fragment's values are stored, for a comparison with ``ordered``.
  final func boundInOrder(_ value: any DatabaseValueConvertible) -> SQLFragment {
    let bound = bound(value)
    return coding?.isDecimal == true ? bound.decimalKey : bound
  }

  /// An operator between this fragment and another, if they are decimal numbers; else nil.
  final func decimal(
    _ operation: SQLOperator, _ other: SQLFragment, isNullable: Bool
  ) -> SQLFragment? {
    guard let coding = coding ?? other.coding, coding.isDecimal else { return nil }
    let left = coded(coding.code) ?? self
    let right = other.coded(coding.code) ?? other
    switch operation {
    case .add: return left.decimalCall(.decimalAdd, "larder_decimal_add", right, coding)
    case .subtract:
      return left.decimalCall(.decimalSubtract, "larder_decimal_subtract", right, coding)
    case .multiply:
      return left.decimalCall(.decimalMultiply, "larder_decimal_multiply", right, coding)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      return SQLFragment(left.decimalKey, operation, right.decimalKey, isNullable: isNullable)
    case .equal, .notEqual, .same, .notSame:
      return SQLFragment(
        left.plainDecimal(as: coding), operation, right.plainDecimal(as: coding),
        isNullable: isNullable)
    default:
      return SQLFragment(self, operation, .misuse("decimal numbers can't be divided exactly"))
    }
  }

  /// The number's canonical text, in which values are bound already.
  private func plainDecimal(as coding: ExpressionCoding) -> SQLFragment {
    kind == .value ? self : decimal(as: coding)
  }

  private func decimalCall(
    _ form: SQLForm, _ function: StaticString, _ right: SQLFragment,
    _ coding: ExpressionCoding
  ) -> SQLFragment {
    let operands = [insideDecimal ?? self, right.insideDecimal ?? right]
    return SQLFragment(
      .form(
        form, operands, SQLFragment(.call(function, operands.map { $0.parenthesized(in: .lowest) }))
      ),
      isNullable: isNullable || right.isNullable, coding: coding)
  }

  /// The number with the other sign.
  final var negated: SQLFragment {
    guard let coding, coding.isDecimal else {
      return SQLFragment(
        .negate, computed.parenthesized(in: .sign), isNullable: isNullable, coding: coding)
    }
    return SQLFragment(text: "0", isNullable: false)
      .decimalCall(.decimalSubtract, "larder_decimal_subtract", self, coding)
  }

  /// The number without its sign.
  final var magnitude: SQLFragment {
    guard let coding, coding.isDecimal else {
      return .call("abs", computed, isNullable: isNullable, coding: coding)
    }
    let text = decimal
    return SQLFragment(
      .form(.decimalMagnitude, [insideDecimal ?? self], .call("ltrim", text, "'-'")),
      isNullable: isNullable, coding: coding)
  }

  /// The smallest or largest value, of all rows or of this and another in each.
  final func extreme(
    _ function: StaticString, _ other: SQLFragment? = nil, isNullable: Bool = true
  ) -> SQLFragment {
    guard let coding, coding.isDecimal else {
      let others = other.map { [operand($0, .lowest)] } ?? []
      return SQLFragment(
        .call(function, [self] + others), isNullable: isNullable, coding: coding)
    }
    let keys = [decimalKey] + (other.map { [$0.decimalKey] } ?? [])
    return SQLFragment(.call(function, keys), isNullable: isNullable).decimal(as: coding)
  }

  /// The sum of all rows, or of each value once.
  final func sum(_ isDistinct: Bool, isInteger: Bool) -> SQLFragment {
    guard let coding, coding.isDecimal else {
      let operand = isDistinct ? SQLFragment(.distinct, computed) : computed
      let sum = SQLFragment.call("sum", operand)
      return isInteger
        ? SQLFragment(.form(.integerSum, [operand], sum)) : sum.owned(as: coding)
    }
    let operand = isDistinct ? SQLFragment(.distinct, decimal) : insideDecimal ?? self
    let call = SQLFragment.call("larder_decimal_sum", operand)
    return SQLFragment(.form(.decimalSum, [operand], call), coding: coding)
  }
}
