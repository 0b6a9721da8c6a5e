import LarderSQLite
import LarderVirtualTables
import TestSupport

/// A table of random columns and rows, as a virtual table and as an ordinary one, and random queries of it.
struct RandomVirtualTable {
  struct Column {
    let name: String
    let type: StorageClass?
    let collation: String?
    let access: VirtualColumn.Access
  }

  /// How the virtual table answers a request.
  enum Manner: CaseIterable {
    /// Returns exactly the rows that are requested.
    case exact
    /// Does only the required work: returns all rows, in the requested order.
    case lazy
  }

  private var random: SeededGenerator
  let columns: [Column]
  let hasKey: Bool
  let manner: Manner
  private(set) var rows: [[DatabaseValue]] = []
  private var arguments: [DatabaseValue] = []
  private var isOrdered = false

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var columns: [Column] = []
    for name in ["a", "b", "c"] {
      let types: [StorageClass?] = [nil, nil, .integer, .real, .text, .text, .blob]
      let type = types.randomElement(using: &random) ?? nil
      var access = VirtualColumn.Access(rawValue: .random(in: 0...7, using: &random))
      if type == nil { access.remove(.range) }
      let collation =
        type == nil || type == .text
        ? [nil, nil, "NOCASE", "RTRIM", "BINARY"].randomElement(using: &random) ?? nil : nil
      columns.append(Column(name: name, type: type, collation: collation, access: access))
    }
    self.columns = columns
    hasKey = .random(using: &random)
    manner = Bool.random(using: &random) ? .exact : .lazy
    self.random = random
    makeRows()
  }

  private mutating func makeRows() {
    for _ in 0..<Int.random(in: 0...14, using: &random) {
      if let row = rows.randomElement(using: &random), Int.random(in: 0..<4, using: &random) == 0 {
        rows.append(row)
      } else {
        rows.append(columns.map { value(of: $0.type) })
      }
    }
    guard hasKey else { return }
    var known: [DatabaseValue] = [.null]
    rows = rows.filter { row in
      guard !known.contains(where: { columns[0].compare($0, row[0]) == 0 }) else { return false }
      known.append(row[0])
      return true
    }
  }

  // MARK: Values

  private mutating func value(of type: StorageClass?) -> DatabaseValue {
    if Int.random(in: 0..<8, using: &random) == 0 { return .null }
    switch type {
    case .integer: return .integer([-3, 0, 1, 2, 5, 7, .max].randomElement(using: &random) ?? 0)
    case .real: return .real([-0.5, 0, 1, 2.5, 5, 7, 1e300].randomElement(using: &random) ?? 0)
    case .text:
      let texts = [
        "", "5", "5.0", " 5", "07", "-3", "a", "A", "b", "B ", "b", "é", "e\u{301}", "北京",
      ]
      return .text(texts.randomElement(using: &random) ?? "")
    case .blob: return .blob([[], [0x35], [0x61], [0x62, 0]].randomElement(using: &random) ?? [])
    default:
      return value(of: [.integer, .real, .text, .text, .blob].randomElement(using: &random) ?? nil)
    }
  }

  // MARK: Tables

  /// Creates the tables `virtual`, `plain` with the same rows, and `other` to join with them.
  mutating func create(in db: Database) throws {
    let (columns, rows, hasKey, manner) = (columns, rows, hasKey, manner)
    try db.createModule("random") { _ in
      let declared = columns.map {
        VirtualColumn($0.name, $0.type, collation: $0.collation, by: $0.access)
      }
      return VirtualTable(
        declared[0], declared[1], declared[2], primaryKey: hasKey ? columns[0].name : nil
      ) { request in Self.find(request, columns, rows, manner) }
    }
    let list = columns.map { column in
      "\(column.name) \(column.typeName)" + (column.collation.map { " COLLATE \($0)" } ?? "")
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.virtual USING random")
    try db.executeUpdate(SQL(raw: "CREATE TABLE plain (\(list.joined(separator: ", ")))"))
    try db.executeUpdate(
      "CREATE TABLE other (i INTEGER, r REAL, t TEXT, n NUMERIC, u, s TEXT COLLATE NOCASE)")
    for row in rows {
      try db.executeUpdate("INSERT INTO plain VALUES (?, ?, ?)", row[0], row[1], row[2])
    }
    for _ in 0..<4 {
      let row = (0..<6).map { _ in value(of: nil) }
      try db.executeUpdate(
        "INSERT INTO other VALUES (?, ?, ?, ?, ?, ?)", row[0], row[1], row[2], row[3], row[4],
        row[5])
    }
  }

  private static func find(
    _ request: VirtualTableRequest, _ columns: [Column], _ rows: [[DatabaseValue]], _ manner: Manner
  ) -> [[DatabaseValue]] {
    var found = rows
    if manner == .exact {
      found = rows.filter { row in
        zip(columns, row).allSatisfy { column, value in
          if let wanted = request.value[column.name] {
            guard !value.isNull, column.compare(value, wanted) == 0 else { return false }
          }
          guard let range = request.range[column.name] else { return true }
          guard !value.isNull else { return false }
          if let lower = range.lower {
            let order = column.compare(value, lower.value)
            guard order > 0 || order == 0 && lower.isIncluded else { return false }
          }
          if let upper = range.upper {
            let order = column.compare(value, upper.value)
            guard order < 0 || order == 0 && upper.isIncluded else { return false }
          }
          return true
        }
      }
    }
    found.sort { first, second in
      for term in request.order {
        guard let index = columns.firstIndex(where: { $0.name == term.column }) else { continue }
        let order = columns[index].compare(first[index], second[index])
        if order != 0 { return (order < 0) != term.isDescending }
      }
      return false
    }
    return found
  }

  // MARK: Queries

  struct Query {
    /// The query, with `$T` in place of the table's name.
    var sql: String
    var arguments: [DatabaseValue]
    /// The collations of the leading columns that the query orders by.
    var order: [String?] = []
    var isLimited = false
  }

  mutating func query() -> Query {
    arguments = []
    isOrdered = false
    switch Int.random(in: 0..<10, using: &random) {
    case 0...2:
      return Query(sql: "SELECT t.* FROM $T AS t WHERE \(condition(["t"]))", arguments: arguments)
    case 3...5: return ordered()
    case 6:
      let kind = ["JOIN", "LEFT JOIN", "CROSS JOIN"].randomElement(using: &random) ?? ""
      let sides = ["other AS o \(kind) $T AS t", "$T AS t \(kind) other AS o"]
      let sql = """
        SELECT t.*, o.* FROM \(sides.randomElement(using: &random) ?? "") \
        ON \(condition(["t", "o"])) WHERE \(condition(["t", "o"]))
        """
      return Query(sql: sql, arguments: arguments)
    case 7:
      let sql = """
        SELECT t.*, q.* FROM $T AS t JOIN $T AS q ON \(condition(["t", "q"])) WHERE \(condition(["t"]))
        """
      return Query(sql: sql, arguments: arguments)
    case 8:
      let column = columns.randomElement(using: &random)?.name ?? ""
      let lists = [
        "count(*), count(\(column))", "count(DISTINCT \(column))", "min(\(column)), max(\(column))",
      ]
      if Bool.random(using: &random) {
        let list = lists.randomElement(using: &random) ?? ""
        return Query(
          sql: "SELECT \(list) FROM $T AS t WHERE \(condition(["t"]))", arguments: arguments)
      }
      let (list, key) = ("count(*)", [column, "\(column), a"].randomElement(using: &random) ?? "")
      return Query(
        sql: "SELECT \(list) FROM $T AS t WHERE \(condition(["t"])) GROUP BY \(key)",
        arguments: arguments)
    default:
      let column = columns.randomElement(using: &random)?.name ?? ""
      let sql =
        Bool.random(using: &random)
        ? "EXISTS (SELECT 1 FROM $T AS t WHERE \(condition(["t", "o"])))"
        : "o.i IN (SELECT \(column) FROM $T AS t WHERE \(condition(["t"])))"
      return Query(sql: "SELECT o.* FROM other AS o WHERE \(sql)", arguments: arguments)
    }
  }

  private mutating func ordered() -> Query {
    isOrdered = true
    let terms = columns.shuffled(using: &random).prefix(.random(in: 1...3, using: &random))
    var order: [String?] = []
    var texts: [String] = []
    for column in terms {
      var text = "t.\(column.name)"
      var collation = column.collation
      if Int.random(in: 0..<5, using: &random) == 0 {
        collation = ["NOCASE", "BINARY", "RTRIM"].randomElement(using: &random) ?? "BINARY"
        text += " COLLATE \(collation ?? "")"
      }
      if Bool.random(using: &random) { text += " DESC" }
      if Int.random(in: 0..<6, using: &random) == 0 {
        text += [" NULLS FIRST", " NULLS LAST"].randomElement(using: &random) ?? ""
      }
      order.append(collation)
      texts.append(text)
    }
    let names = terms.map { "t.\($0.name)" }.joined(separator: ", ")
    let list = Bool.random(using: &random) ? "\(names), t.*" : names
    var sql = "SELECT \(list) FROM $T AS t WHERE \(condition(["t"]))"
    var query = Query(sql: sql, arguments: [], order: order)
    if Int.random(in: 0..<6, using: &random) == 0 {
      query.order = []
    } else {
      sql += " ORDER BY \(texts.joined(separator: ", "))"
    }
    if Bool.random(using: &random) {
      query.isLimited = true
      sql += " LIMIT \(constant([.integer(.random(in: -1...6, using: &random))]))"
      if Bool.random(using: &random) {
        sql += " OFFSET \(constant([.integer(.random(in: -1...4, using: &random))]))"
      }
    }
    query.sql = sql
    query.arguments = arguments
    return query
  }

  private mutating func condition(_ sources: [String], depth: Int = 2) -> String {
    if depth > 0, Int.random(in: 0..<3, using: &random) != 0 {
      let sides = (0..<Int.random(in: 2...3, using: &random)).map { _ in
        condition(sources, depth: depth - 1)
      }
      let word = Int.random(in: 0..<3, using: &random) == 0 ? " AND " : " OR "
      return "(\(sides.joined(separator: word)))"
    }
    let column = columns.randomElement(using: &random)
    let left = "\(sources[0]).\(column?.name ?? "a")"
    let collated = left + collate()
    switch Int.random(in: 0..<14, using: &random) {
    case 0...3: return "\(collated) = \(operand(sources, column?.type))\(collate())"
    case 4: return "\(operand(sources, column?.type)) = \(collated)"
    case 5...7:
      let word = ["<", "<=", ">", ">=", "<>"].randomElement(using: &random) ?? ""
      return "\(collated) \(word) \(operand(sources, column?.type))\(collate())"
    case 8:
      return "\(collated) BETWEEN \(operand(sources, column?.type)) AND \(operand(sources, nil))"
    case 9:
      let list = (0..<3).map { _ in operand(sources, column?.type) }.joined(separator: ", ")
      return "\(collated) IN (\(list))"
    case 10:
      let names = ["i", "r", "t", "n", "u", "s"]
      return "\(left) IN (SELECT \(names.randomElement(using: &random) ?? "") FROM other)"
    case 11:
      let word = ["IS", "IS NOT"].randomElement(using: &random) ?? ""
      return "\(left) \(word) \(operand(sources, column?.type))"
    case 12:
      let second = columns.randomElement(using: &random)
      let word = ["=", "<", ">", "<=", ">="].randomElement(using: &random) ?? ""
      return """
        (\(left), \(sources[0]).\(second?.name ?? "")) \(word) \
        (\(operand(sources, column?.type)), \(operand(sources, second?.type)))
        """
    default:
      return [
        "\(left) IS NULL", "\(left) NOT NULL", "\(left) LIKE 'a%'", "\(left) GLOB 'b*'",
        "NOT \(left)",
      ]
      .randomElement(using: &random) ?? ""
    }
  }

  private mutating func collate() -> String {
    guard Int.random(in: 0..<5, using: &random) == 0 else { return "" }
    return [" COLLATE NOCASE", " COLLATE BINARY", " COLLATE RTRIM"].randomElement(using: &random)
      ?? ""
  }

  private mutating func operand(_ sources: [String], _ type: StorageClass?) -> String {
    let source = sources.last ?? ""
    switch Int.random(in: 0..<12, using: &random) {
    case 0...3 where source == "o":
      let names = ["i", "r", "t", "n", "u", "s"]
      return "o.\(names.randomElement(using: &random) ?? "")"
    case 0...3 where source == "q", 4:
      return "\(source == "o" ? "t" : source).\(columns.randomElement(using: &random)?.name ?? "")"
    case 5:
      let names = ["TEXT", "BLOB"]
      return "CAST(\(constant([value(of: nil)])) AS \(names.randomElement(using: &random) ?? ""))"
    case 6:
      // If a text column equals a number, SQLite treats the ordinary table's column as constant and doesn't sort by it.
      let names = isOrdered ? ["t", "u"] : ["i", "t", "u"]
      return "(SELECT \(names.randomElement(using: &random) ?? "") FROM other LIMIT 1)"
    case 7: return constant([value(of: nil)])
    default:
      if Int.random(in: 0..<4, using: &random) == 0, type == .integer || type == .real {
        return constant([2.5, -0.5, 1e19, -1e19, 9_007_199_254_740_993])
      }
      return constant([value(of: type)])
    }
  }

  /// A random one of the values, as a literal or a parameter.
  private mutating func constant(_ values: [DatabaseValue]) -> String {
    let value = values.randomElement(using: &random) ?? .null
    if Bool.random(using: &random) {
      arguments.append(value)
      return "?\(arguments.count)"
    }
    return (try? value.literal) ?? "NULL"
  }

  // MARK: Comparison

  /// A query's rows from the ordinary and the virtual table as texts, sorted so that equal results have equal arrays.
  static func results(_ query: Query, _ db: Database) throws -> (plain: [String], virtual: [String])
  {
    let both = try ["plain", "virtual"].map { table in
      let sql = query.sql.split(separator: "$T", omittingEmptySubsequences: false)
        .joined(separator: table)
      let rows = try db.executeQuery(SQL(raw: sql), arguments: Arguments(query.arguments))
      var texts: [String] = []
      var count = 0
      while try rows.next() {
        count += 1
        let width = rows.columnNames.count
        let values = try (0..<width).map { try rows.get(at: $0, as: DatabaseValue.self) }
        // Rows with equal ORDER BY columns, or cut off by a limit, may come in any order.
        let isWhole = !query.isLimited && query.order.isEmpty
        let shown = isWhole ? values : Array(values.prefix(query.order.count))
        texts.append(
          shown.enumerated().map {
            $0.element.comparable(isWhole ? "BINARY" : query.order[$0.offset])
          }.joined(separator: "|"))
      }
      return query.order.isEmpty
        ? texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } : texts
    }
    return (both[0], both[1])
  }
}
