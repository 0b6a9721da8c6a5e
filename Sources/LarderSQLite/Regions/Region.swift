/// The part of a database that is read or written: tables, with their columns and rows.
struct Region: Equatable, Sendable {
  /// Whether it covers everything, because it includes the schema, or can't be determined.
  var isEverything = false
  private(set) var tables: [TableName: Part] = [:]

  /// A table of one of a connection's databases. SQLite folds ASCII letters only, and compares bytes: Swift's
  /// strings would take two tables for one if their names look the same.
  struct TableName: Hashable, Sendable {
    let database: String
    let table: String

    init(database: String, table: String) {
      self.database = database.folded
      self.table = table.folded
    }

    static func == (first: Self, second: Self) -> Bool {
      first.table.isSame(as: second.table) && first.database.isSame(as: second.database)
    }

    func hash(into hasher: inout Hasher) {
      table.withBytes { $0.hash(into: &hasher) }
    }
  }

  struct Part: Equatable, Sendable {
    /// The columns' folded names; nil for all. Empty if only the number of rows matters.
    var columns: Set<String>?
    /// Row ids; nil for all.
    var rows: Set<Int64>?

    static let all = Part()

    func intersects(_ other: Part) -> Bool {
      if rows?.isEmpty == true || other.rows?.isEmpty == true { return false }
      return Self.meet(columns, other.columns) && Self.meet(rows, other.rows)
    }

    private static func meet<T>(_ first: Set<T>?, _ second: Set<T>?) -> Bool {
      guard let first, let second else { return true }
      return !first.isDisjoint(with: second)
    }

    mutating func formUnion(_ other: Part) {
      columns = Self.union(columns, other.columns)
      rows = Self.union(rows, other.rows)
      if let rows, rows.count > Self.maximumRows { self.rows = nil }
    }

    private static func union<T>(_ first: Set<T>?, _ second: Set<T>?) -> Set<T>? {
      guard let first, let second else { return nil }
      return first.union(second)
    }

    /// The number of rows beyond which a table counts as a whole, so that following transactions of any size
    /// takes constant memory.
    private static let maximumRows = 1000
  }

  static let everything: Region = {
    var region = Region()
    region.isEverything = true
    return region
  }()

  /// Whole tables of another engine, by the engine's numbers of them.
  init(tables numbers: some Sequence<UInt32>) {
    for number in numbers { insert(.all, of: TableName(database: "", table: String(number))) }
  }

  init() {}

  var isEmpty: Bool { !isEverything && tables.isEmpty }

  func intersects(_ other: Region) -> Bool {
    if isEmpty || other.isEmpty { return false }
    if isEverything || other.isEverything { return true }
    let (small, large) = tables.count < other.tables.count ? (self, other) : (other, self)
    return small.tables.contains { name, part in large.tables[name]?.intersects(part) ?? false }
  }

  mutating func formUnion(_ other: Region) {
    if isEmpty { return self = other }
    isEverything = isEverything || other.isEverything
    for (name, part) in other.tables { insert(part, of: name) }
  }

  mutating func insert(_ part: Part, of name: TableName) {
    guard tables[name]?.formUnion(part) == nil else { return }
    tables[name] = part
  }

  /// Adds a row to a table's rows, unless the table counts as a whole.
  mutating func insert(row: Int64, of name: TableName) {
    guard let part = tables[name], part.rows?.contains(row) == false else { return }
    tables[name]?.formUnion(Part(columns: part.columns, rows: [row]))
  }

  /// Empties the rows of tables, whose rows are then added one by one.
  mutating func expectRows(of names: Set<TableName>) {
    for name in tables.keys where names.contains(name) { tables[name]?.rows = [] }
  }

  mutating func limit(to rows: Set<Int64>) {
    for name in tables.keys { tables[name]?.rows = rows }
  }
}
