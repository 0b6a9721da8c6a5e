/// The registry of ``Observers``, guarded by their lock: observers of values by the tables that they have read,
/// and feeds.
struct ObserverRegistry {
  var lastID = 0
  var values: [Int: ValueObserver] = [:]
  /// Those that are to be told when a table is touched, or rows of it, and of anything.
  private var byTable: [Region.TableName: TableReaders] = [:]
  private var ofAnything: Set<Int> = []
  /// How many have read rows of a table by their ids, whether or not they wait for a commit just now.
  private var rowReaders: [Region.TableName: Int] = [:]
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

  /// Those who are woken together a moment later, as others were just woken.
  private var late: [Observers.Waiter] = []
  /// When somebody was last woken, in nanoseconds of the ``MonotonicClock``.
  private var lastWake = 0
  /// For how long those who are to be woken are collected, in nanoseconds.
  private static let interval = 250_000

  var isUnused: Bool { values.isEmpty && feeds.isEmpty }

  // MARK: Values

  /// The tables whose rows were read by their ids.
  var tablesOfRows: Set<Region.TableName> { Set(rowReaders.keys) }

  mutating func addObserver() -> Int {
    lastID += 1
    values[lastID] = ValueObserver()
    ofAnything.insert(lastID)
    return lastID
  }

  /// Removes an observer, or a feed; returns who waits for it.
  mutating func remove(_ id: Int) -> Observers.Waiter? {
    forget(id)
    if let observer = values.removeValue(forKey: id) {
      _ = count(rowsOf: observer.region, by: -1)
      return observer.waiter
    }
    return feeds.removeValue(forKey: id)?.waiter
  }

  /// Has an observer that is about to read be told of anything.
  mutating func begin(_ id: Int) {
    forget(id)
    guard let observer = values[id] else { return }
    ofAnything.insert(id)
    observer.begin()
  }

  /// Has an observer be told of what it has read. Returns whether rows of other tables are wanted than before.
  mutating func end(_ id: Int, _ region: Region) -> Bool {
    guard let observer = values[id] else { return false }
    let (came, went) = (count(rowsOf: region, by: 1), count(rowsOf: observer.region, by: -1))
    observer.end(region)
    if !region.isEverything { ofAnything.remove(id) }
    if !observer.isDirty {
      for (name, part) in region.tables {
        byTable[name, default: TableReaders()].insert(id, part)
      }
    }
    return came || went
  }

  /// Has an observer read again, since something may have been committed that it wasn't told of.
  mutating func makeDirty(_ id: Int) {
    forget(id)
    values[id]?.makeDirty()
  }

  /// Counts who has read rows of tables; returns whether a table came or went.
  private mutating func count(rowsOf region: Region, by step: Int) -> Bool {
    var isAnother = false
    for (name, part) in region.tables where part.rows != nil {
      let count = rowReaders[name, default: 0] + step
      rowReaders[name] = count > 0 ? count : nil
      if count == max(step, 0) { isAnother = true }
    }
    return isAnother
  }

  private mutating func forget(_ id: Int) {
    ofAnything.remove(id)
    for (name, part) in values[id]?.region.tables ?? [:] {
      byTable[name]?.remove(id, part)
      if byTable[name]?.isEmpty == true { byTable[name] = nil }
    }
  }

  /// Tells observers what was touched, and returns those to wake. Of those that have read single rows only those of
  /// touched ones are looked at, however many there are.
  mutating func tell(_ touched: Region) -> [Observers.Waiter] {
    var told = Array(ofAnything)
    if touched.isEverything {
      for readers in byTable.values { readers.forEach(of: .all) { told.append($0) } }
    } else {
      for (name, part) in touched.tables {
        byTable[name]?.forEach(of: part) { told.append($0) }
      }
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

  /// Whom to wake now of those that a commit has told, and at which moment to wake the others, if nobody does that yet.
  ///
  /// While commits follow one another closely they are woken together: to wake one costs those who write more than to
  /// commit a row.
  mutating func collect(_ told: [Observers.Waiter]) -> (now: [Observers.Waiter], later: Int?) {
    if told.isEmpty { return ([], nil) }
    let now = MonotonicClock.nanoseconds
    let next = lastWake &+ Self.interval
    guard now < next || !late.isEmpty else {
      lastWake = now
      return (told, nil)
    }
    late += told
    return ([], late.count == told.count ? next : nil)
  }

  /// Those who were collected.
  mutating func takeLate() -> [Observers.Waiter] {
    lastWake = MonotonicClock.nanoseconds
    defer { late = [] }
    return late
  }

  // MARK: Feeds

  mutating func feed(_ log: RowLog, _ position: Int) -> [Observers.Waiter] {
    let number = number
    return feeds.values.compactMap { $0.append(log, number, position) }
  }

  mutating func feedUnknown() -> [Observers.Waiter] {
    let number = number
    return feeds.values.compactMap { $0.appendUnknown(number) }
  }
}

/// Who has read a table: as a whole, or single rows.
private struct TableReaders {
  private var ofAll: Set<Int> = []
  private var byRow: [Int64: Set<Int>] = [:]

  var isEmpty: Bool { ofAll.isEmpty && byRow.isEmpty }

  mutating func insert(_ id: Int, _ part: Region.Part) {
    guard let rows = part.rows else {
      ofAll.insert(id)
      return
    }
    for row in rows { byRow[row, default: []].insert(id) }
  }

  mutating func remove(_ id: Int, _ part: Region.Part) {
    guard let rows = part.rows else {
      ofAll.remove(id)
      return
    }
    for row in rows {
      byRow[row]?.remove(id)
      if byRow[row]?.isEmpty == true { byRow[row] = nil }
    }
  }

  /// Calls a closure with those who may have read a part of the table.
  func forEach(of part: Region.Part, _ body: (Int) -> Void) {
    guard let rows = part.rows else {
      ofAll.forEach(body)
      for ids in byRow.values { ids.forEach(body) }
      return
    }
    if rows.isEmpty { return }
    ofAll.forEach(body)
    for row in rows { byRow[row]?.forEach(body) }
  }
}
