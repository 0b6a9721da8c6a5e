import CSQLite

/// The rows that the transaction which is under way has changed, for those who follow them.
///
/// What a statement that fails has changed is undone by SQLite, mostly; what is undone to a savepoint too. Both
/// leave the log as well.
struct RowLog {
  private(set) var changes: [RowChange] = []
  private(set) var state = State()
  /// Where each savepoint began.
  private var savepoints: [(name: String, start: Mark)] = []
  /// How many rows of each table there are; nil before anybody wants to know.
  private var counts: [Region.TableName: Int]?

  struct State {
    /// Whether something was changed of which nobody knows what.
    var isUnknown = false
    /// The tables of which more rows were changed than may be kept.
    var overflown: Set<Region.TableName> = []
  }

  /// A point to which the log can go back.
  struct Mark {
    var count = 0
    var state = State()
  }

  /// How many rows are kept of a table, and the least that is kept of any.
  struct Limits {
    var least = Int.max
    var byTable: [Region.TableName: Int] = [:]
  }

  var isEmpty: Bool {
    changes.isEmpty && !state.isUnknown && state.overflown.isEmpty && savepoints.isEmpty
  }
  var mark: Mark { Mark(count: changes.count, state: state) }

  mutating func append(_ change: RowChange, of table: Region.TableName, _ limits: Limits) {
    if changes.count >= limits.least {
      if state.overflown.contains(table) { return }
      if count(of: table) >= limits.byTable[table] ?? 0 {
        state.overflown.insert(table)
        return
      }
      counts?[table, default: 0] += 1
    }
    changes.append(change)
  }

  private mutating func count(of table: Region.TableName) -> Int {
    if let counts { return counts[table] ?? 0 }
    let counted = changes.reduce(into: [:]) { $0[$1.tableName, default: 0] += 1 }
    counts = counted
    return counted[table] ?? 0
  }

  mutating func lose() { state.isUnknown = true }

  /// Forgets what came after a point.
  mutating func goBack(to mark: Mark) {
    state = mark.state
    guard mark.count < changes.count else { return }
    changes.removeLast(changes.count - mark.count)
    counts = nil
  }

  mutating func follow(_ step: StatementRegion.SavepointStep) {
    switch step {
    case .begin(let name): savepoints.append((name, mark))
    case .release(let name):
      guard let place = place(of: name) else { return }
      savepoints.removeLast(savepoints.count - place)
    case .rollBack(let name):
      guard let place = place(of: name) else { return }
      goBack(to: savepoints[place].start)
      savepoints.removeLast(savepoints.count - place - 1)
    }
  }

  /// Of savepoints with the same name the innermost counts.
  private func place(of name: String) -> Int? { savepoints.lastIndex { $0.name == name } }

  mutating func removeAll() { if !isEmpty { self = RowLog() } }
}

extension RowChange {
  /// The table's name, in lower case.
  var tableName: Region.TableName { .init(database: database, table: table.lowercased()) }
}
