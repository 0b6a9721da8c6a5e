import CSQLite

/// The rows that the current transaction has changed, for the feeds that follow them.
///
/// Changes that SQLite undoes are removed from the log too: mostly those of a failed statement, and those
/// that are rolled back to a savepoint.
struct RowLog {
  private(set) var changes: [RowChange] = []
  private(set) var state = State()
  /// The open savepoints, and where in the log each began.
  private var savepoints: [(name: String, start: Mark)] = []
  /// The amounts logged by table; nil until they are first needed.
  private var amounts: [Region.TableName: Amount]?
  private var amount = Amount()

  struct State {
    /// Whether unknown changes were made.
    var isUnknown = false
    /// The tables with more changes than may be kept, and the limit that they exceed.
    var overflown: [Region.TableName: FeedOverflow.Kind] = [:]
  }

  /// A number of changed rows, and their size in bytes.
  struct Amount {
    var changes = 0
    var bytes = 0

    mutating func add(_ change: RowChange) {
      changes += 1
      bytes += change.byteCount
    }

    /// The unit in which this amount exceeds a limit; nil if it doesn't.
    func excess(over limit: Amount) -> FeedOverflow.Kind? {
      changes > limit.changes ? .changes : bytes > limit.bytes ? .bytes : nil
    }
  }

  /// A point to which the log can return.
  struct Mark {
    var count = 0
    var state = State()
  }

  /// The limits by table, and the smallest limit of any feed.
  struct Limits {
    var least = Amount(changes: .max, bytes: .max)
    var byTable: [Region.TableName: Amount] = [:]

    /// Raises the limits of a feed's tables to that of the feed.
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

  /// Drops the changes after a mark.
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

  /// The innermost of the savepoints with this name.
  private func place(of name: String) -> Int? { savepoints.lastIndex { $0.name == name } }

  mutating func removeAll() { if !isEmpty { self = RowLog() } }
}

extension RowChange {
  /// The table's folded name, by which tables are told apart.
  var tableName: Region.TableName { .init(database: database, table: table) }
}
