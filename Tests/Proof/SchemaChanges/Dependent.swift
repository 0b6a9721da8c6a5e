import Larder
import TestSupport

/// What depends on the table `t`, and has to go on meaning the same.
enum Dependent: CaseIterable {
  /// A view of all columns, and a temporary one of one column.
  case star, temporaryView
  /// Triggers that insert without the names of columns: of another table, and of the table itself.
  case trigger, temporaryTrigger, ownTrigger
  case ownTemporaryTrigger
  /// One that updates of a column fire.
  case updateOf
  /// Full-text search in the table's rows.
  case search
  case index
  /// A table that refers to it, and one that it may refer to.
  case child, parent

  static func some(of table: RandomTable, _ random: inout SeededGenerator) -> Set<Dependent> {
    var dependents: Set<Dependent> = []
    if random.chance(30) { dependents.insert(.star) }
    if random.chance(30) {
      dependents.insert(random.pick([.trigger, .temporaryTrigger, .ownTrigger]))
    }
    if random.chance(10) { dependents.insert(random.pick([.updateOf, .ownTemporaryTrigger])) }
    if table.hasRowID, table.columns[1].expression == nil, random.chance(40) {
      dependents.insert(.search)
    }
    if random.chance(35) { dependents.formUnion([.index, .temporaryView]) }
    if ![.none, .textKey].contains(table.key), random.chance(15) { dependents.insert(.child) }
    return dependents
  }

  /// What a trigger writes into a column: of no row that there is.
  static func written(_ index: Int) -> DatabaseValue { .integer(Int64(1000 + index)) }

  func sql(for table: RandomTable) -> String {
    let values = table.written.indices.map { "\(1000 + $0)" }.joined(separator: ", ")
    let insert = "BEGIN INSERT INTO t VALUES (\(values)); END"
    let last = table.columns.last?.name ?? ""
    return switch self {
    case .star:
      "CREATE VIEW star (\(table.columns.indices.map { "x\($0)" }.joined(separator: ", "))) "
        + "AS SELECT * FROM t"
    case .temporaryView: "CREATE TEMP VIEW temporary AS SELECT a FROM t"
    case .trigger: "CREATE TRIGGER copied AFTER INSERT ON source \(insert)"
    case .temporaryTrigger: "CREATE TEMP TRIGGER copied AFTER INSERT ON source \(insert)"
    case .ownTrigger: "CREATE TRIGGER own AFTER DELETE ON t WHEN old.id IN (999, '999') \(insert)"
    case .ownTemporaryTrigger:
      "CREATE TEMP TRIGGER watched AFTER INSERT ON main.t BEGIN SELECT new.id; END"
    case .updateOf: "CREATE TRIGGER updated AFTER UPDATE OF \(last) ON t BEGIN SELECT new.id; END"
    case .search:
      """
      CREATE VIRTUAL TABLE search USING fts5(a, content='t');
      INSERT INTO search(search) VALUES ('rebuild')
      """
    case .index: "CREATE INDEX kept ON t (a, id)"
    case .child:
      """
      CREATE TABLE child (ref REFERENCES t (id) ON DELETE CASCADE);
      INSERT INTO child SELECT id FROM t WHERE id NOT NULL
      """
    case .parent:
      "CREATE TABLE parent (k PRIMARY KEY); INSERT INTO parent VALUES (7), ('Oslo')"
    }
  }

  /// Statements that compile for as long as it works.
  var uses: [String] {
    switch self {
    case .star: ["SELECT * FROM star"]
    case .temporaryView: ["SELECT * FROM temporary"]
    case .trigger, .temporaryTrigger: ["INSERT INTO source VALUES (1)"]
    case .ownTrigger: ["DELETE FROM t"]
    case .updateOf, .ownTemporaryTrigger: ["UPDATE t SET id = id", "INSERT INTO t DEFAULT VALUES"]
    case .child: ["INSERT INTO child VALUES (1)"]
    case .search, .index, .parent: []
    }
  }

  /// Whether what the dependent has written should be there: it has run, and no constraint of the
  /// table's has left its row out.
  func fire(_ db: Database) throws -> Bool {
    do {
      switch self {
      case .trigger, .temporaryTrigger: try db.executeUpdate("INSERT INTO source VALUES (1)")
      case .ownTrigger:
        try db.executeUpdate("INSERT INTO t (id) VALUES (999)")
        guard try db.executeUpdate("DELETE FROM t WHERE id = 999") == 1 else { return false }
      default: return false
      }
      return true
    } catch is DatabaseError {
      return false
    }
  }
}
