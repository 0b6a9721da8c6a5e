/// The registry of ``Observers``, guarded by their lock: observers of values by the tables that they have read,
/// and feeds.
struct ObserverRegistry {
  var lastID = 0
  var values: [Int: ValueObserver] = [:]
  /// Those that are to be told when a table is touched, and of anything.
  var byTable: [Region.TableName: Set<Int>] = [:]
  var ofAnything: Set<Int> = []
  var feeds: [Int: Feed] = [:]
  var number = 0
  var isInstalled = false
  var isClosed = false
  /// Why all observations have ended, if that is an error.
  var failure: DatabaseError?
  /// The file's; nil where there is none.
  var path: String?
  var dateFormat = DateFormat.iso8601
  var watcher: FileWatcher?

  var isUnused: Bool { values.isEmpty && feeds.isEmpty }

  mutating func forget(_ id: Int) {
    ofAnything.remove(id)
    for name in values[id]?.region.tables.keys ?? [:].keys {
      byTable[name]?.remove(id)
      if byTable[name]?.isEmpty == true { byTable[name] = nil }
    }
  }

  /// Tells observers what was touched, and returns those to wake.
  mutating func tell(_ touched: Region) -> [Observers.Waiter] {
    var told = ofAnything
    if touched.isEverything {
      for ids in byTable.values { told.formUnion(ids) }
    } else {
      for name in touched.tables.keys { told.formUnion(byTable[name] ?? []) }
    }
    var waiters: [Observers.Waiter] = []
    for id in told {
      guard let observer = values[id], observer.note(touched) else { continue }
      // It isn't told again before it has read again.
      if observer.isDirty { forget(id) }
      if let waiter = observer.waiter.take() { waiters.append(waiter) }
    }
    return waiters
  }

  mutating func feed(_ log: RowLog, _ position: Int) -> [Observers.Waiter] {
    let number = number
    return feeds.values.compactMap { $0.append(log, number, position) }
  }

  mutating func feedUnknown() -> [Observers.Waiter] {
    let number = number
    return feeds.values.compactMap { $0.appendUnknown(number) }
  }
}
