import Larder
import LarderSQLite

// The properties of an operand.

extension SQLFragment {
  /// Whether it is a bound text, which takes the type of a column that it meets.
  var isText: Bool { kind == .value && Swift.type(of: value).columnType.kind == .text }

  /// The column whose type and collation `coalesce`, `lower` or `upper` returns; nil for any other fragment.
  var convertedColumn: SQLFragment? {
    guard case .call(let name, let arguments) = content,
      ["coalesce", "lower", "upper"].contains("\(name)"), let column = arguments.first,
      column.isName
    else { return nil }
    return column
  }

  /// The fragment as the pattern for a column's text, which has the column's collation.
  func pattern(beside text: SQLFragment) -> SQLFragment {
    isText && text.isName ? SQLFragment(.beside(value, text)) : grouped
  }

  /// The operand of a function that folds case, or of a pattern match. Its collation folds ASCII letters only, as in
  /// SQLite; a column has its own, which is the same unless another program has made it, and which its indexes have.
  var foldedAsDeclared: SQLFragment {
    let text = withoutCollation
    return text.isName ? text : "\(text.grouped) COLLATE \"C\""
  }

  /// Whether the fragment is an operator that SQLite has too, between names and values, which need no
  /// parentheses.
  var isPlain: Bool {
    switch operation {
    case .assign: return true
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .add, .subtract,
      .multiply:
      let rightKind = right?.kind ?? .value
      return left?.kind == .text && (rightKind == .text || rightKind == .value)
        && left?.columnCollation == nil && right?.columnCollation == nil
    default: return false
    }
  }

  /// Whether the fragment is a value that is nil.
  var isNull: Bool { boundValue == .null }

  /// Whether it is known only at run time that the fragment is NULL.
  var mayBeNull: Bool { isNullable && kind != .value && operation != .key }

  /// Whether the fragment is the name of a column, or of something else.
  var isName: Bool { kind == .text && words?.hasSuffix("\"") == true }

  /// The collation by which the fragment is compared, in capital letters and without quotes: the one that it
  /// names, or that its column declares. Nil also for a declared `BINARY`.
  var collation: String? { namedCollation ?? declaredCollation }

  /// The collation by which the fragment is compared with another. A name counts first, then the declaration of
  /// a column on the left, then that of one on the right.
  func collation(beside other: SQLFragment) -> String? {
    if let name = namedCollation ?? other.namedCollation { return name }
    return isColumn ? declaredCollation : declaredCollation ?? other.declaredCollation
  }

  private var isColumn: Bool {
    operation == .parentheses ? left?.isColumn ?? false : isName
  }

  private var declaredCollation: String? {
    operation == .parentheses ? left?.declaredCollation : isName ? columnCollation : nil
  }

  /// The collation that the fragment names, in capital letters and without quotes.
  var namedCollation: String? {
    if operation == .parentheses { return left?.namedCollation }
    guard operation == .collate else { return nil }
    return right?.words?.uppercased().replacing("\"", with: "")
  }

  /// The fragment without the collation that it names.
  var withoutCollation: SQLFragment {
    guard namedCollation != nil, let left else { return self }
    return left.withoutCollation
  }

  /// The expression of a term of ORDER BY that names its direction; nil for any other fragment.
  var orderedOperand: SQLFragment? {
    operation == .ascending || operation == .descending ? left : nil
  }

  /// The operand that a decimal number is made of; the fragment itself if it isn't one.
  var decimalOperand: SQLFragment {
    switch content {
    case .form(.decimalKey, let operands, _), .form(.decimal, let operands, _):
      operands[0].decimalOperand
    default: self
    }
  }

  /// The fragment in parentheses, unless it needs none beside any operator.
  var grouped: SQLFragment {
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
