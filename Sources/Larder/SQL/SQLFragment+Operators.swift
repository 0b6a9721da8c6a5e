import LarderSQLite

// Operators between fragments: parentheses by precedence, null-safe equality, and values that are stored
// as the column beside them is.

extension SQLFragment {
  /// This fragment as an operand of an operator with this precedence, in parentheses if it needs them.
  @inline(__always)
  final consuming func parenthesized(in outer: Precedence) -> SQLFragment {
    precedence > outer ? self : parenthesized
  }

  final var parenthesized: SQLFragment {
    SQLFragment(.parentheses, self, isNullable: isNullable, coding: coding)
  }

  /// This fragment as the left operand. Operators associate to the left, so that
  /// one of equal precedence needs no parentheses.
  @inline(__always)
  private consuming func leading(_ precedence: Precedence) -> SQLFragment {
    self.precedence >= precedence ? self : parenthesized
  }

  /// An operator between this fragment and another; a bare value is stored as the other side's values are.
  @usableFromInline
  final consuming func infix(
    _ operation: SQLOperator, _ other: consuming SQLFragment, isNullable: Bool = true
  ) -> SQLFragment {
    let precedence = operation.precedence
    // The fast path: mostly neither operand needs a change, and passing on a reference costs a count.
    if self.precedence >= precedence, other.precedence > precedence, coding == nil,
      other.coding == nil
    {
      return SQLFragment(self, operation, other, isNullable: isNullable)
    }
    if let decimal = decimal(operation, other, isNullable: isNullable) { return decimal }
    let right = operand(other, precedence)
    let left = coding == nil ? coded(beside: other) : self
    let coding = coding ?? other.coding
    if let coding, operation.isArithmetic, coding.isFloat || coding.form != .own {
      return left.computed(operation, right, coding, isNullable: isNullable)
    }
    return SQLFragment(left.leading(precedence), operation, right, isNullable: isNullable)
  }

  /// An operator between this fragment and another, which stands as it is.
  final consuming func infix(
    _ operation: SQLOperator, operand right: SQLFragment, isNullable: Bool = true
  ) -> SQLFragment {
    SQLFragment(leading(operation.precedence), operation, right, isNullable: isNullable)
  }

  /// An operator between this fragment and a value, which is bound.
  // Always inlined: otherwise an existential parameter turns this into a generic function, which makes
  // another existential of it.
  @inline(__always)
  @usableFromInline
  final consuming func infix(
    _ operation: SQLOperator, _ value: consuming any DatabaseValueConvertible
  ) -> SQLFragment {
    if coding == nil, precedence >= operation.precedence {
      return SQLFragment(self, operation, value: value)
    }
    return infixCoded(operation, value)
  }

  private func infixCoded(
    _ operation: SQLOperator, _ value: any DatabaseValueConvertible
  ) -> SQLFragment {
    let coded = coding?.code(value) ?? value
    if coding?.isDecimal == true,
      let decimal = decimal(operation, SQLFragment(value: coded), isNullable: true)
    {
      return decimal
    }
    if let coding, operation.isArithmetic, coding.isFloat || coding.form != .own {
      return computed(operation, SQLFragment(value: coded), coding, isNullable: true)
    }
    return SQLFragment(leading(operation.precedence), operation, value: coded)
  }

  /// An operator that computes with coded operands: with Floats, or with a form
  /// that can't be computed with, which throws.
  private func computed(
    _ operation: SQLOperator, _ right: SQLFragment, _ coding: ExpressionCoding, isNullable: Bool
  ) -> SQLFragment {
    guard coding.isFloat else { return SQLFragment(self, operation, .notComputed) }
    let result = SQLFragment(
      leading(operation.precedence), operation, right, isNullable: isNullable, coding: coding)
    return result.float
  }

  /// The quotient. NUMERIC columns hold real numbers without a fraction as integers, whose quotient SQLite
  /// truncates. So an operand that may be one is made real.
  @usableFromInline
  final consuming func divided(by other: SQLFragment, isReal: Bool) -> SQLFragment {
    guard isReal, other.kind != .value, other.coding == nil else { return infix(.divide, other) }
    return infix(.divide, SQLFragment(.cast(other, .real), isNullable: other.isNullable))
  }

  /// The fragment as a condition: a Bool with a coding of its own is compared with what it stores for true,
  /// since SQLite would take a text such as `Y` for false.
  @inline(__always)
  final consuming func asCondition() -> SQLFragment {
    coding == nil ? self : equals(true, negated: false)
  }

  /// AND or OR between this condition and another.
  @usableFromInline
  final consuming func logical(
    _ operation: SQLOperator, _ other: consuming SQLFragment
  ) -> SQLFragment {
    asCondition().infix(operation, other.asCondition())
  }

  /// Whether it equals a value, NULL being equal to nil.
  @usableFromInline
  final consuming func equals(
    _ value: consuming any DatabaseValueConvertible, negated: Bool
  ) -> SQLFragment {
    guard isNullable else { return infix(negated ? .notEqual : .equal, value) }
    if value.isNull { return nullTest(negated) }
    return infix(negated ? .notSame : .same, value)
  }

  /// A test for NULL. With a parameter instead, SQLite wouldn't use a partial index of rows that aren't NULL.
  private func nullTest(_ negated: Bool) -> SQLFragment {
    SQLFragment(negated ? .isNotNull : .isNull, parenthesized(in: .equality), isNullable: false)
  }

  /// Whether it equals another: null-safe where either can be NULL.
  @usableFromInline
  final consuming func equals(
    _ other: consuming SQLFragment, orNull: Bool = false, negated: Bool
  ) -> SQLFragment {
    let operation: SQLOperator =
      isNullable || other.isNullable || orNull
      ? (negated ? .notSame : .same) : (negated ? .notEqual : .equal)
    return infix(operation, other, isNullable: false)
  }

  /// Another fragment as the right operand; a bare value is stored as this fragment's values are.
  final func operand(_ other: SQLFragment, _ precedence: Precedence) -> SQLFragment {
    other.stored(as: self).parenthesized(in: precedence)
  }

  /// This fragment beside another one: a bare value is stored as the other's values are. Throws when it is bound if
  /// the two are stored in different ways.
  final func stored(as other: SQLFragment) -> SQLFragment {
    let coded = coded(beside: other)
    return coded === self ? matching(other) : coded
  }

  /// A bare value, or a choice of such, as another fragment's values are stored; anything else as it is.
  private func coded(beside other: SQLFragment) -> SQLFragment {
    guard coding == nil, let coding = other.coding else { return self }
    return coded(coding.code) ?? self
  }

  /// Whether a collation is named in it.
  final var namesCollation: Bool {
    var rest = [self]
    while let part = rest.popLast() {
      if part.kind == .binary, part.operation == .collate { return true }
      rest += part.innerParts
    }
    return false
  }

  /// A value, bound as this fragment's values are stored.
  final func bound(_ value: any DatabaseValueConvertible) -> SQLFragment {
    SQLFragment(value: coding?.code(value) ?? value)
  }
}

extension DatabaseValueConvertible {
  /// Whether it is nil.
  fileprivate var isNull: Bool {
    Self.columnType.isNullable && (try? databaseValue) == .null
  }
}
