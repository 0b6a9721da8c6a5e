import Larder
import LarderSQLite

/// Casts with SQLite's results: whole numbers without their fraction, Bools as 0 and 1, and a text as the
/// number with which it begins.
///
/// See [CAST](https://www.sqlite.org/lang_expr.html#castexpr).
enum PostgresCasts {
  static func cast(
    _ operand: SQLFragment, from kind: ColumnType.Kind?, to target: ColumnType.Kind
  ) -> SQLFragment {
    let number = kind == .bool ? "CAST(\(operand) AS INTEGER)" : operand
    switch (kind, target) {
    case (.real, .text): return .unsupported("converting real numbers to text as SQLite does")
    case (.date, _), (.uuid, .text), (.text, .blob): return .unsupported("this cast")
    case (.blob, .text): return "(convert_from(\(operand), 'UTF8') COLLATE \"C\")"
    // Trailing zeros, which sums and products keep, are trimmed.
    case (.decimal, .text): return "(CAST(trim_scale(\(operand)) AS TEXT) COLLATE \"C\")"
    case (_, .text): return "(CAST(\(number) AS TEXT) COLLATE \"C\")"
    // The number is cast by its text, which has the shortest digits that identify it: a direct cast has only
    // fifteen.
    case (.real, .decimal): return "CAST(CAST(\(operand) AS TEXT) AS NUMERIC)"
    case (.real, .integer), (.decimal, .integer): return "CAST(trunc(\(operand)) AS BIGINT)"
    case (.text, .integer): return "CAST(\(integer(of: operand)) AS BIGINT)"
    case (.text, .real): return "CAST(\(real(of: operand)) AS DOUBLE PRECISION)"
    case (.integer, .bool): return "(\(operand.grouped) <> 0)"
    case (.real, .bool), (.decimal, .bool): return "(trunc(\(operand)) <> 0)"
    case (.text, .bool): return "((\(integer(of: operand))) <> 0)"
    default:
      let type = PostgresDialect().typeName(of: ColumnType(target))
      return "CAST(\(number) AS \(text: type))"
    }
  }

  /// The integer with which a text begins, clamped to 64 bits; 0 if it begins with none.
  private static func integer(of text: SQLFragment) -> SQLFragment {
    """
    CASE WHEN \(text.grouped) IS NOT NULL THEN \
    least(greatest(CAST(\(beginning(of: text, #"[+-]?[0-9]+"#)) AS NUMERIC), \
    -9223372036854775808), 9223372036854775807) END
    """
  }

  /// The number with which a text begins; 0 if it begins with none.
  private static func real(of text: SQLFragment) -> SQLFragment {
    beginning(of: text, #"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"#)
  }

  /// The part of a text that matches a pattern at its beginning, after white space; 0 if nothing does.
  private static func beginning(of text: SQLFragment, _ pattern: String) -> SQLFragment {
    let pattern = SQLFragment(text: "^[ \\t\\n\\v\\f\\r]*(\(pattern))".quotedText)
    // NULL stays NULL. The whole text is replaced: by the match, or by 0.
    return """
      regexp_replace(\(text), '^.*$', coalesce(substring(\(text) FROM \(pattern)), '0'))
      """
  }
}
