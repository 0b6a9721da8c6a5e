import Larder
import LarderSQLite

/// Real arithmetic with NULL in place of NaN, as in SQLite: infinity minus infinity is NULL. The server has a
/// NaN, which is greater than all numbers.
enum RealNumbers {
  /// An operation on real numbers, with NULL in place of NaN; nil for other fragments.
  static func withoutNaN(_ fragment: SQLFragment) -> SQLFragment? {
    guard let sign = sign(of: fragment.operation), isReal(fragment), let left = fragment.left else {
      return nil
    }
    let right = fragment.rightOperand
    let divisor: SQLFragment = fragment.operation == .divide ? "NULLIF(\(right), 0)" : right.grouped
    // The operation is text: as a fragment it would be rewritten here again.
    return "NULLIF(\(left.grouped)\(text: sign)\(divisor), 'NaN')"
  }

  /// An aggregate's result, with NULL in place of NaN if its operand is a real number.
  static func withoutNaN(_ result: SQLFragment, of operand: SQLFragment) -> SQLFragment {
    isReal(operand) ? "NULLIF(\(result), 'NaN')" : result
  }

  private static func sign(of operation: SQLOperator) -> String? {
    switch operation {
    case .add: " + "
    case .subtract: " - "
    case .multiply: " * "
    case .divide: " / "
    default: nil
    }
  }

  /// Whether the fragment is known to be a real number.
  static func isReal(_ fragment: SQLFragment) -> Bool {
    guard !fragment.isDeep else { return false }
    switch fragment.kind {
    case .text: return fragment.operation == .real
    case .table: return false
    case .value: return type(of: fragment.value).columnType.kind == .real
    case .unary, .binary, .comparison:
      switch fragment.operation {
      case .parentheses, .negate: return fragment.left.map(isReal) ?? false
      case let operation where sign(of: operation) != nil:
        return fragment.left.map(isReal) ?? false || isReal(fragment.rightOperand)
      default: return false
      }
    case .composite:
      switch fragment.content {
      case .cast(_, let type, _): return type.kind == .real
      case .form(.float, _, _): return true
      case .choice(_, let results): return results.contains(where: isReal)
      case .call(let name, let arguments):
        switch "\(name)" {
        case "avg", "total", "round": return true
        case "sum", "abs", "min", "max", "coalesce": return arguments.contains(where: isReal)
        default: return false
        }
      default: return false
      }
    }
  }
}
