import LarderSQLite

/// The properties of an operand that dialects ask for.
extension SQLFragment {
  /// Whether the fragment is an operator that all engines have, between names
  /// and values, which need no parentheses.
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

  /// The stored form of the bound value; nil if the fragment isn't a value, or one that can't be stored.
  package var boundValue: DatabaseValue? { kind == .value ? try? value.databaseValue : nil }

  /// Whether the fragment is a value that is nil.
  package var isNull: Bool { boundValue == .null }

  /// Whether it is known only at run time that the fragment is NULL.
  package var mayBeNull: Bool { isNullable && kind != .value && operation != .key }

  /// Whether the fragment is the name of a column, or of something else.
  package var isName: Bool { kind == .text && words?.hasSuffix("\"") == true }

  /// The collation that the fragment names, in capital letters and without quotes.
  package var collation: String? {
    if operation == .parentheses { return left?.collation }
    guard operation == .collate else { return nil }
    return right?.words?.uppercased().replacing("\"", with: "")
  }

  /// The fragment without the collation that it names.
  package var withoutCollation: SQLFragment {
    guard collation != nil, let left else { return self }
    return left.withoutCollation
  }

  /// The expression of a term of ORDER BY that names its direction; nil for any other fragment.
  package var orderedOperand: SQLFragment? {
    operation == .ascending || operation == .descending ? left : nil
  }

  /// The operand that a decimal number is made of; the fragment itself if it isn't one.
  package var decimalOperand: SQLFragment {
    switch content {
    case .form(.decimalKey, let operands, _), .form(.decimal, let operands, _):
      operands[0].decimalOperand
    default: self
    }
  }

  /// The fragment in parentheses, unless it needs none beside any operator.
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
