import LarderSQLite

/// What dialects ask of an operand.
extension SQLFragment {
  /// Whether it is an operator that all engines have, between names and values, which need no parentheses.
  package var isPlain: Bool {
    switch operation {
    case .assign: return true
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .add, .subtract,
      .multiply:
      let rightKind = right?.kind ?? .value
      return left?.kind == .text && (rightKind == .text || rightKind == .value)
    default: return false
    }
  }

  /// The value that is bound for it, as it is stored; nil where it isn't a value, or one that can't be.
  package var boundValue: DatabaseValue? { kind == .value ? try? value.databaseValue : nil }

  /// A value that is nil.
  package var isNull: Bool { boundValue == .null }

  /// Whether it may be NULL only once it is run.
  package var mayBeNull: Bool { isNullable && kind != .value && operation != .key }

  /// Whether it is the name of a column, or of something else.
  package var isName: Bool { kind == .text && words?.hasSuffix("\"") == true }

  /// The collation that it names, in capital letters and without quotes.
  package var collation: String? {
    if operation == .parentheses { return left?.collation }
    guard operation == .collate else { return nil }
    return right?.words?.uppercased().replacing("\"", with: "")
  }

  /// The same without the collation that it names.
  package var withoutCollation: SQLFragment {
    guard collation != nil, let left else { return self }
    return left.withoutCollation
  }

  /// What a term of ORDER BY is made of, behind which it says in which direction.
  package var orderedOperand: SQLFragment? {
    operation == .ascending || operation == .descending ? left : nil
  }

  /// What a decimal number is made of.
  package var decimalOperand: SQLFragment {
    switch content {
    case .form(.decimalKey, let operands, _), .form(.decimal, let operands, _):
      operands[0].decimalOperand
    default: self
    }
  }

  /// In parentheses, unless nothing of it could belong to an operator beside it.
  package var grouped: SQLFragment {
    switch kind {
    case .text, .table, .value: self
    case .unary where operation == .parentheses: self
    case .composite:
      switch content {
      case .call, .cast: self
      default: "(\(self))"
      }
    default: "(\(self))"
    }
  }
}
