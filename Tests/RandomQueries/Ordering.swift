import Larder

/// What a query has to be refused for.
struct Refused: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

/// Whether the query is refused depends on what the engine looks at first.
struct Undecided: Error {}

/// A term of an order, in SQL and in Swift.
struct Ordering {
  let term: OrderingTerm
  private let value: @Sendable (TreeRows) throws -> DatabaseValue
  private let compare: @Sendable (DatabaseValue, DatabaseValue) throws -> Int
  private let sign: Int
  /// Where NULLs are said to be: first if less than 0.
  private let nulls: Int?

  init<V>(
    _ tree: Tree<V>, isDescending: Bool, nulls: Int? = nil,
    _ compare: @escaping @Sendable (DatabaseValue, DatabaseValue) throws -> Int = {
      try $0.compared(to: $1)
    }
  ) {
    let term = isDescending ? tree.sql.desc : tree.sql.asc
    self.term = nulls.map { $0 < 0 ? term.nullsFirst : term.nullsLast } ?? term
    (value, self.compare, sign, self.nulls) = (tree.value, compare, isDescending ? -1 : 1, nulls)
  }

  /// Less than 0 where the first rows come before the others.
  func compare(_ left: TreeRows, _ right: TreeRows) throws -> Int {
    let (one, two) = (try value(left), try value(right))
    if one.isNull != two.isNull, let nulls { return one.isNull == (nulls < 0) ? -1 : 1 }
    return try compare(one, two) * sign
  }
}

extension [Ordering] {
  func compare(_ left: TreeRows, _ right: TreeRows) throws -> Int {
    for term in self {
      let order = try term.compare(left, right)
      if order != 0 { return order }
    }
    return 0
  }

  /// The rows in order; equal ones stay as they are.
  func sorted(_ rows: [TreeRows]) throws -> [TreeRows] {
    try rows.enumerated().sorted {
      let order = try compare($0.element, $1.element)
      return order == 0 ? $0.offset < $1.offset : order < 0
    }.map(\.element)
  }

  func sorted(_ rows: [[DatabaseValue]]) throws -> [[DatabaseValue]] {
    try sorted(rows.map { [$0] }).compactMap { $0[0] }
  }
}

extension TreeGenerator {
  /// A term in either direction, with NULLs at either end or where they are by themselves.
  func ordering<V>(
    _ tree: Tree<V>,
    _ compare: @escaping @Sendable (DatabaseValue, DatabaseValue) throws -> Int = {
      try $0.compared(to: $1)
    }
  ) -> Ordering {
    Ordering(tree, isDescending: !chance(2), nulls: pick([nil, -1, 1]), compare)
  }
}

extension Tree where Value == Bool {
  /// Whether it is true. Conditions that would be refused needn't be evaluated at all.
  func holds(_ rows: TreeRows) throws -> Bool {
    do {
      return try value(rows).truth == true
    } catch is Refused {
      throw Undecided()
    }
  }
}

extension DatabaseValue {
  /// The value if an integer of this type can be it; else it is refused where it is read.
  func asInteger<I: FixedWidthInteger>(_ type: I.Type) throws -> DatabaseValue {
    switch self {
    case .null: return self
    case .integer(let number) where I(exactly: number) != nil: return self
    case .integer: throw Refused("an integer of more bits than its type")
    case .real: throw Refused("a sum of integers of more than 64 bits")
    default: throw UnknownValue()
    }
  }
}
