// Candidates for new indexes.

/// A candidate: an index that is tried.
struct IndexCandidate: Hashable {
  let name: String
  let table: Region.TableName
  let terms: [Term]

  /// A column or expression with its collation and order.
  struct Term: Hashable {
    /// Nil for an expression.
    let column: String?
    let base: String
    private(set) var collation: String?
    private var isDescending = false

    init(column: String?, base: String) {
      self.column = column
      self.base = base
    }

    var sql: String {
      base + (collation.map { " COLLATE \($0.quotedIdentifier)" } ?? "")
        + (isDescending ? " DESC" : "")
    }

    var descending: Self { with(\.isDescending, true) }
    var ascending: Self { with(\.isDescending, false) }

    func collated(_ collation: String) -> Self { with(\.collation, collation) }

    private func with<Value>(_ part: WritableKeyPath<Self, Value>, _ value: Value) -> Self {
      var copy = self
      copy[keyPath: part] = value
      return copy
    }
  }

  /// The CREATE INDEX statement.
  func sql(as name: String, in database: String?) -> String {
    let database = database.map { $0.quotedIdentifier + "." } ?? ""
    return "CREATE INDEX \(database)\(name.quotedIdentifier)"
      + " ON \(table.table.quotedIdentifier) (\(terms.map(\.sql).joined(separator: ", ")))"
  }
}

extension [SQLPiece] {
  /// The names behind ORDER BY, GROUP BY and PARTITION BY, as ``Swift/String/foldedName``.
  var namesInOrders: Set<[UInt8]> {
    var names: Set<[UInt8]> = []
    var isInside = false
    for token in self {
      if token.isWord("by") { isInside = true }
      if token.isSymbol(")") || token.isWord("limit") || token.isWord("having") { isInside = false }
      if isInside, let name = token.identifier { names.insert(name.foldedName) }
    }
    return names
  }

  /// The calls of functions, as expressions of one table's columns.
  var functionCalls: [String] {
    var calls: [String] = []
    for index in indices.dropLast() where self[index].kind == .word && self[index + 1].isSymbol("(")
    {
      guard let (arguments, _) = group(from: index + 1), !arguments.isEmpty else { continue }
      let call = "\(self[index].text)(\(arguments.withoutQualifiers.text))"
      if !calls.contains(call) { calls.append(call) }
    }
    return calls
  }

  /// The tokens without the names of tables before columns, which indexes mustn't have.
  private var withoutQualifiers: [SQLPiece] {
    indices.filter { index in
      let isDot = self[index].isSymbol(".")
      let isBeforeDot = index + 1 < count && self[index + 1].isSymbol(".")
      return !(isDot || isBeforeDot && self[index].identifier != nil)
    }.map { self[$0] }
  }
}
