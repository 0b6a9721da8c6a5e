import Larder
import LarderSQLite

/// Casts that give what SQLite's give: whole numbers without their fraction, Bools as 0 and 1, and of a text the number
/// that it begins with.
///
/// See [CAST](https://www.sqlite.org/lang_expr.html#castexpr).
enum PostgresCasts {
  static func cast(
    _ operand: SQLFragment, from kind: ColumnType.Kind?, to target: ColumnType.Kind
  ) -> SQLFragment {
    let number = kind == .bool ? "CAST(\(operand) AS INTEGER)" : operand
    switch (kind, target) {
    case (.real, .text): return .unsupported("text of real numbers as SQLite writes it")
    case (.date, _), (.uuid, .text), (.text, .blob): return .unsupported("cast like that")
    case (.blob, .text): return "(convert_from(\(operand), 'UTF8') COLLATE \"C\")"
    // Sums and products keep zeros at their end.
    case (.decimal, .text): return "(CAST(trim_scale(\(operand)) AS TEXT) COLLATE \"C\")"
    case (_, .text): return "(CAST(\(number) AS TEXT) COLLATE \"C\")"
    // The shortest digits that are the number: those of a cast alone are fifteen.
    case (.real, .decimal): return "CAST(CAST(\(operand) AS TEXT) AS NUMERIC)"
    case (.real, .integer), (.decimal, .integer): return "CAST(trunc(\(operand)) AS BIGINT)"
    case (.text, .integer): return "CAST(\(integer(of: operand)) AS BIGINT)"
    case (.text, .real): return "CAST(\(real(of: operand)) AS DOUBLE PRECISION)"
    case (.integer, .bool): return "\(operand.grouped) <> 0"
    case (.real, .bool), (.decimal, .bool): return "trunc(\(operand)) <> 0"
    case (.text, .bool): return "(\(integer(of: operand))) <> 0"
    default:
      let type = PostgresDialect().typeName(of: ColumnType(target))
      return "CAST(\(number) AS \(text: type))"
    }
  }

  /// The integer that a text begins with, within the range of one; 0 where it begins with none.
  private static func integer(of text: SQLFragment) -> SQLFragment {
    """
    CASE WHEN \(text.grouped) IS NOT NULL THEN \
    least(greatest(CAST(\(beginning(of: text, #"[+-]?[0-9]+"#)) AS NUMERIC), \
    -9223372036854775808), 9223372036854775807) END
    """
  }

  /// The number that a text begins with.
  private static func real(of text: SQLFragment) -> SQLFragment {
    beginning(of: text, #"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"#)
  }

  /// What of a text matches a pattern behind white space at its beginning; 0 where nothing does.
  private static func beginning(of text: SQLFragment, _ pattern: String) -> SQLFragment {
    let pattern = SQLFragment(text: "^[ \\t\\n\\v\\f\\r]*(\(pattern))".quotedText)
    // NULL stays NULL. A text is replaced as a whole where there is no such beginning.
    return """
      regexp_replace(\(text), '^.*$', coalesce(substring(\(text) FROM \(pattern)), '0'))
      """
  }
}
