import Larder

/// The uses of a table's columns in a statement, as SQLite's plans with an index on each of them show.
struct TrialTerms {
  let table: String
  /// The columns that are compared by equality, the most selective first.
  private(set) var equal: [String] = []
  /// The columns that are compared by order.
  private(set) var ranges: [String] = []
  /// The terms of the statement's ORDER BY or GROUP BY, each a list.
  private(set) var orders: [[Term]] = []
  /// All columns that the statement names, for covering indexes.
  private(set) var named: [String] = []

  struct Term: Hashable {
    let column: String
    var isDescending = false
    var sql: String { column.quotedIdentifier + (isDescending ? " DESC" : "") }
  }

  /// The most columns that are tried alone, and that a covering index may have.
  private static let (mostColumns, mostCovering) = (60, 8)

  /// The words before the star that stands for all columns.
  private static let beforeStar = ["select", "distinct", "all", "returning"]

  /// - Parameters:
  ///   - plans: returns the plan of the statement with an index on one column, in an empty copy of the schema.
  ///   - distinct: returns the number of different values of a column.
  init(
    _ table: TableSchema, _ tokens: [SQLPiece], plans: (String) throws -> [String],
    distinct: (String) throws -> Int
  ) throws {
    self.table = table.name
    let words = Set(tokens.compactMap { $0.identifier?.foldedName })
    // That of count(*) stands for no columns, and neither does a product's.
    let hasStar = zip(tokens, tokens.dropFirst()).contains { before, token in
      token.isSymbol("*")
        && (before.isSymbol(",") || before.isSymbol(".")
          || Self.beforeStar.contains { before.isWord($0) })
    }
    let rowID = table.rowIDColumn
    let columns = table.columns.filter { column in
      words.contains(column.name.foldedName) && column.name.foldedName != rowID?.foldedName
    }.map(\.name)
    named = hasStar ? [] : columns
    for column in columns.prefix(Self.mostColumns) {
      // Another index may hide a column's in the plan, so the text counts too.
      let detail = try plans(column).first { $0.contains("larder_trial") } ?? ""
      let (isEqual, isRange) = Self.comparisons(of: column, tokens)
      if isEqual || detail.contains("=?") {
        equal.append(column)
      } else if isRange || detail.contains(">?") || detail.contains("<?") {
        ranges.append(column)
      }
    }
    if equal.count > 1 {
      let counts = try equal.map { ($0, try distinct($0)) }
      equal = counts.sorted { $0.1 > $1.1 }.map(\.0)
    }
    for (place, token) in tokens.enumerated() where token.isWord("by") && place > 0 {
      let terms = Self.order(tokens[(place + 1)...], columns)
      if !terms.isEmpty, !orders.contains(terms) { orders.append(terms) }
    }
    if let place = tokens.firstIndex(where: { $0.isWord("distinct") }) {
      let terms = Self.order(tokens[(place + 1)...], columns)
      if !terms.isEmpty, !orders.contains(terms) { orders.append(terms) }
    }
  }

  /// Whether the text compares a column by equality, and by order, with anything beside it.
  private static func comparisons(
    of column: String, _ tokens: [SQLPiece]
  ) -> (isEqual: Bool, isRange: Bool) {
    var (isEqual, isRange) = (false, false)
    for place in tokens.indices where tokens[place].identifier?.foldedName == column.foldedName {
      let after = tokens[(place + 1)...].prefix(2).map { $0.text.lowercased() }
      let before = tokens[..<place].suffix(3).map { $0.text.lowercased() }
      switch (after.first ?? "", after.last ?? "") {
      case ("<", ">"), ("!", _): break
      case ("=", _), ("in", _): isEqual = true
      case ("is", let next): if next == "not" { isRange = true } else { isEqual = true }
      case ("<", _), (">", _), ("between", _), ("like", _), ("glob", _): isRange = true
      default: break
      }
      // The right side of a = b, or of a = t.b.
      if before.last == "=" || before.last == "." && before.first == "=" { isEqual = true }
    }
    return (isEqual, isRange)
  }

  /// The columns of this table at the beginning of an ORDER BY.
  private static func order(_ tokens: ArraySlice<SQLPiece>, _ columns: [String]) -> [Term] {
    var terms: [Term] = []
    var rest = tokens
    while let token = rest.popFirst() {
      var name = token.identifier
      if rest.first?.isSymbol(".") == true {
        rest.removeFirst()
        name = rest.popFirst()?.identifier
      }
      guard let column = columns.first(where: { $0.foldedName == name?.foldedName }) else { break }
      var term = Term(column: column)
      if rest.first?.isWord("desc") == true { term.isDescending = true }
      if let next = rest.first, next.isWord("desc") || next.isWord("asc") { rest.removeFirst() }
      terms.append(term)
      guard rest.popFirst()?.isSymbol(",") == true else { break }
    }
    // An index is read in both directions.
    if terms.allSatisfy(\.isDescending) { return terms.map { Term(column: $0.column) } }
    return terms
  }

  /// The columns of the indexes to try, the most promising ones first.
  var candidates: [[Term]] {
    var lists: [[Term]] = []
    func add(_ terms: [Term]) {
      var seen: Set<String> = []
      let list = terms.filter { seen.insert($0.column).inserted }
      if !list.isEmpty, list.count <= 8, !lists.contains(list) { lists.append(list) }
    }
    let most = equal.prefix(5).map { Term(column: $0) }
    // A join's column is only of use at the beginning, or not at all, as SQLite orders the tables.
    let starts =
      [most]
      + most.indices.map { first in
        [most[first]] + most.indices.filter { $0 != first }.map { most[$0] }
      }
    for start in starts {
      for order in orders { add(start + order) }
      for range in ranges.prefix(3) { add(start + [Term(column: range)]) }
      add(start)
    }
    for term in most {
      add([term])
      for order in orders { add([term] + order) }
      for range in ranges.prefix(3) { add([term, Term(column: range)]) }
    }
    for order in orders { add(order) }
    for range in ranges.prefix(3) {
      add([Term(column: range)])
      for order in orders { add(order + [Term(column: range)]) }
    }
    if !named.isEmpty, named.count <= Self.mostCovering {
      let all = named.map { Term(column: $0) }
      for start in starts.prefix(3) {
        for order in orders { add(start + order + all) }
        for range in ranges.prefix(2) { add(start + [Term(column: range)] + all) }
        add(start + all)
      }
    }
    return Array(lists.prefix(40))
  }
}
