import CSQLite

/// The rows that the transaction which is under way has changed, for those who follow them.
///
/// What a statement that fails has changed is undone by SQLite, mostly; what is undone to a savepoint too. Both
/// leave the log as well.
struct RowLog {
  private(set) var changes: [RowChange] = []
  /// Whether there were more than may be kept.
  private(set) var hasOverflown = false
  /// Whether a table had other columns than were known, as another process has made it.
  private(set) var isUnknown = false
  /// Where each savepoint began, and whether something was unknown then.
  private var savepoints: [(name: String, count: Int, isUnknown: Bool)] = []

  var isEmpty: Bool { changes.isEmpty && !hasOverflown && !isUnknown && savepoints.isEmpty }
  var count: Int { changes.count }

  mutating func append(_ change: RowChange, limit: Int) {
    guard !hasOverflown else { return }
    guard changes.count < limit else {
      hasOverflown = true
      changes = []
      return
    }
    changes.append(change)
  }

  mutating func lose() { isUnknown = true }

  /// Forgets what came after a number of changes.
  mutating func truncate(to count: Int) {
    if count < changes.count { changes.removeLast(changes.count - count) }
  }

  mutating func follow(_ step: StatementRegion.SavepointStep) {
    switch step {
    case .begin(let name): savepoints.append((name, changes.count, isUnknown))
    case .release(let name):
      guard let place = place(of: name) else { return }
      savepoints.removeLast(savepoints.count - place)
    case .rollBack(let name):
      guard let place = place(of: name) else { return }
      truncate(to: savepoints[place].count)
      isUnknown = savepoints[place].isUnknown
      savepoints.removeLast(savepoints.count - place - 1)
    }
  }

  /// Of savepoints with the same name the innermost counts.
  private func place(of name: String) -> Int? { savepoints.lastIndex { $0.name == name } }

  mutating func removeAll() { if !isEmpty { self = RowLog() } }
}
