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
  /// How much of it there is of each table; nil before anybody wants to know.
  private var amounts: [Region.TableName: Amount]?
  private var amount = Amount()

  struct State {
    /// Whether something was changed of which nobody knows what.
    var isUnknown = false
    /// The tables of which more was changed than may be kept, and by what measure.
    var overflown: [Region.TableName: FeedOverflow.Unit] = [:]
  }

  /// So many changes of rows, and bytes of them.
  struct Amount {
    var changes = 0
    var bytes = 0

    mutating func add(_ change: RowChange) {
      changes += 1
      bytes += change.byteCount
    }

    /// By which measure it is more than a limit, if it is.
    func excess(over limit: Amount) -> FeedOverflow.Unit? {
      changes > limit.changes ? .changes : bytes > limit.bytes ? .bytes : nil
    }
  }

  /// A point to which the log can go back.
  struct Mark {
    var count = 0
    var state = State()
  }

  /// How much is kept of a table, and the least that is kept of any.
  struct Limits {
    var least = Amount(changes: .max, bytes: .max)
    var byTable: [Region.TableName: Amount] = [:]

    /// Lets a feed have so much of its tables.
    mutating func allow(_ limit: Amount, of tables: Set<Region.TableName>) {
      least.changes = min(least.changes, limit.changes)
      least.bytes = min(least.bytes, limit.bytes)
      for table in tables {
        let known = byTable[table] ?? Amount()
        byTable[table] = Amount(
          changes: max(known.changes, limit.changes), bytes: max(known.bytes, limit.bytes))
      }
    }
  }

  var isEmpty: Bool {
    changes.isEmpty && !state.isUnknown && state.overflown.isEmpty && savepoints.isEmpty
  }
  var mark: Mark { Mark(count: changes.count, state: state) }

  mutating func append(_ change: RowChange, of table: Region.TableName, _ limits: Limits) {
    var sum = amount
    sum.add(change)
    if sum.excess(over: limits.least) != nil {
      if state.overflown[table] != nil { return }
      var own = amount(of: table)
      own.add(change)
      if let unit = own.excess(over: limits.byTable[table] ?? Amount()) {
        state.overflown[table] = unit
        return
      }
      amounts?[table] = own
    }
    amount = sum
    changes.append(change)
  }

  private mutating func amount(of table: Region.TableName) -> Amount {
    if let amounts { return amounts[table] ?? Amount() }
    let counted = changes.reduce(into: [:]) { $0[$1.tableName, default: Amount()].add($1) }
    amounts = counted
    return counted[table] ?? Amount()
  }

  mutating func lose() { state.isUnknown = true }

  /// Forgets what came after a point.
  mutating func goBack(to mark: Mark) {
    state = mark.state
    guard mark.count < changes.count else { return }
    changes.removeLast(changes.count - mark.count)
    amounts = nil
    amount = changes.reduce(into: Amount()) { $0.add($1) }
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
  /// The table's name, as tables are told apart.
  var tableName: Region.TableName { .init(database: database, table: table) }
}
