import LarderSQLite

// Fragments with parts: lists, calls, CASE, CAST, members, limits, and literals with fragments in
// them.

extension SQLFragment {
  /// The content of fragments that are rarer than operators, names and values.
  package final class Composite: Sendable {
    package enum Content: Sendable {
      /// SQL of the program's own, with values.
      case sql(SQL)
      /// Texts and fragments, one after the other.
      case sequence([Piece])
      /// An UPDATE or DELETE that begins with these words: its table, assignments, further tables and
      /// condition.
      case change(
        StaticString, SQLFragment, assigning: [SQLFragment], from: SQLFragment? = nil,
        where: SQLFragment?)
      /// Fragments with a text between them.
      case list([SQLFragment], separator: StaticString)
      /// A call of a function, by its name in SQLite.
      case call(StaticString, [SQLFragment])
      /// CASE: conditions, each with a result, and perhaps another result for all other rows.
      case choice([SQLFragment], [SQLFragment])
      /// A conversion to the type of a column, from a kind if that is known.
      case cast(SQLFragment, ColumnType, from: ColumnType.Kind? = nil)
      /// A value, and the text behind its placeholder that tells the engine its type.
      case typed(any DatabaseValueConvertible, String)
      /// A value that has the type of a column beside it.
      case beside(any DatabaseValueConvertible, SQLFragment)
      /// The list of values behind IN.
      case members(MemberList)
      /// A statement whose rows are the values of a list, each with its number.
      case rows(MemberList)
      /// LIMIT and OFFSET; a limit that is nil is none.
      case limit(Int?, offset: Int)
      /// A construct that dialects know as one thing, its operands, and the way SQLite writes it.
      case form(SQLForm, [SQLFragment], SQLFragment)
      /// A parameter of a record's statement: its name, or nil for an unnamed one, and the position of
      /// its column.
      case parameter(String?, Int)
    }

    package let content: Content

    init(_ content: Content) { self.content = content }

    /// The fragments inside of it.
    var parts: [SQLFragment] {
      var parts: [SQLFragment] = []
      forEachPart { parts.append($0) }
      return parts
    }

    /// Calls a closure with the fragments inside of it.
    func forEachPart(_ body: (SQLFragment) -> Void) {
      switch content {
      case .sequence(let pieces): for case .part(let part) in pieces { body(part) }
      case .change(_, let table, let assignments, let others, let condition):
        body(table)
        assignments.forEach(body)
        others.map(body)
        condition.map(body)
      case .list(let parts, _), .call(_, let parts): parts.forEach(body)
      case .choice(let conditions, let results):
        conditions.forEach(body)
        results.forEach(body)
      case .cast(let part, _, _), .form(_, _, let part): body(part)
      case .sql, .members, .rows, .limit, .parameter, .typed, .beside: break
      }
    }

    /// The steps of writing it, in order.
    var steps: [WritingStep] {
      var steps: [WritingStep] = []
      forEachStep { steps.append($0) }
      return steps
    }

    /// Calls a closure with the steps of writing it, in order. Collecting them
    /// in an array first took a third of the time.
    func forEachStep<E>(_ body: (WritingStep) throws(E) -> Void) throws(E) {
      switch content {
      case .sql(let sql): try body(.sql(sql))
      case .sequence(let pieces): for piece in pieces { try body(piece.step) }
      case .change(let words, let table, let assignments, let others, let condition):
        try body(.word(words))
        try body(.part(table))
        if !assignments.isEmpty { try body(.word(" SET ")) }
        try Self.forEachStep(assignments, ", ", body)
        if let others {
          try body(.word(" FROM "))
          try body(.part(others))
        }
        if let condition {
          try body(.word(" WHERE "))
          try body(.part(condition))
        }
      case .list(let parts, let separator): try Self.forEachStep(parts, separator, body)
      case .call(let name, let arguments):
        try body(.word(name))
        try body(.word("("))
        try Self.forEachStep(arguments, ", ", body)
        try body(.word(")"))
      case .choice(let conditions, let results):
        try body(.word("CASE"))
        for (condition, result) in zip(conditions, results) {
          try body(.word(" WHEN "))
          try body(.part(condition))
          try body(.word(" THEN "))
          try body(.part(result))
        }
        if results.count > conditions.count, let last = results.last {
          try body(.word(" ELSE "))
          try body(.part(last))
        }
        try body(.word(" END"))
      case .cast(let part, let type, let kind):
        // A Bool is 0 or 1, whatever the number is.
        let isTest = type.kind == .bool && kind != .bool
        try body(.word(isTest ? "(CAST(" : "CAST("))
        try body(.part(part))
        try body(.word(" AS "))
        try body(.type(type))
        try body(.word(isTest ? ") <> 0)" : ")"))
      case .typed(let value, let type): try body(.typed(value, type))
      case .beside(let value, let column): try body(.beside(value, column))
      case .members(let list): for step in list.steps { try body(step) }
      case .rows(let list): for step in list.rows { try body(step) }
      case .limit(let count, let offset): try body(.limit(count, offset: offset))
      case .form(_, _, let part): try body(.part(part))
      case .parameter(let name, let column): try body(.parameter(name, column))
      }
    }

    private static func forEachStep<E>(
      _ parts: [SQLFragment], _ separator: StaticString, _ body: (WritingStep) throws(E) -> Void
    ) throws(E) {
      var isFirst = true
      for part in parts {
        if !isFirst { try body(.word(separator)) }
        isFirst = false
        try body(.part(part))
      }
    }
  }

  /// A text or a fragment in a sequence.
  package enum Piece: Sendable {
    case text(String)
    case part(SQLFragment)

    fileprivate var step: WritingStep {
      switch self {
      case .text(let text): .string(text)
      case .part(let part): .part(part)
      }
    }
  }
}

/// Texts and fragments from a literal, with the fragments interpolated into it:
/// `"date(\(column), 'start of day')"`.
extension SQLFragment.Composite.Content: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) { self = .sequence([.text(text)]) }

  package init(stringInterpolation: SQLFragment.Interpolation) {
    self = .sequence(stringInterpolation.pieces)
  }
}

extension SQLFragment: ExpressibleByStringInterpolation {
  @usableFromInline
  package convenience init(stringLiteral text: String) { self.init(text: text) }

  @usableFromInline
  package convenience init(stringInterpolation: Interpolation) {
    self.init(.sequence(stringInterpolation.pieces))
  }

  @usableFromInline
  package struct Interpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    @usableFromInline
    package init(literalCapacity: Int, interpolationCount: Int) {
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    @usableFromInline
    package mutating func appendLiteral(_ literal: String) {
      if !literal.isEmpty { pieces.append(.text(literal)) }
    }

    /// A fragment, or nothing.
    @usableFromInline
    package mutating func appendInterpolation(_ part: SQLFragment?) {
      if let part { pieces.append(.part(part)) }
    }

    /// Text of this library's own.
    @usableFromInline
    package mutating func appendInterpolation(text: String) { appendLiteral(text) }

    /// A name in double quotes.
    @usableFromInline
    package mutating func appendInterpolation(name: String) {
      appendLiteral(name.quotedIdentifier)
    }
  }
}
