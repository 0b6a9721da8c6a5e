/// The registered observers and feeds, guarded by the lock of ``Observers``. Observers of values are indexed
/// by the tables that they have read.
struct ObserverRegistry {
  var lastID = 0
  var values: [Int: ValueObserver] = [:]
  /// The observers to tell when a table, or rows of it, is touched.
  private var byTable: [Region.TableName: TableReaders] = [:]
  /// The observers to tell of any commit.
  private var ofAnything: Set<Int> = []
  /// The number of observers that have read rows of a table by id, whether or not they wait for a commit now.
  private var rowReaders: [Region.TableName: Int] = [:]
  var feeds: [Int: Feed] = [:]
  var number = 0
  var isInstalled = false
  var isClosed = false
  /// The error that has ended all observations, if one has.
  var failure: DatabaseError?
  /// The path of the database file; nil if there is none.
  var path: String?
  var dateFormat = DateFormat.iso8601
  var watcher: FileWatcher?

  /// The waiters that are woken together a moment later, because others were woken just before.
  private var late: [Observers.Waiter] = []
  /// When the collected waiters may be woken, in nanoseconds of the ``MonotonicClock``.
  private var nextWake = 0
  /// How long waiters are collected at least before they are woken, in nanoseconds.
  private static let shortestInterval = 250_000
  /// How much longer than the reads of one wake-up the pause after them is.
  private static let pauseFactor = 4

  var isUnused: Bool { values.isEmpty && feeds.isEmpty }

  // MARK: Values

  /// The tables whose rows were read by id.
  var tablesOfRows: Set<Region.TableName> { Set(rowReaders.keys) }

  mutating func addObserver() -> Int {
    lastID += 1
    values[lastID] = ValueObserver()
    ofAnything.insert(lastID)
    return lastID
  }

  /// Removes an observer or feed. Returns its waiter, if any.
  mutating func remove(_ id: Int) -> Observers.Waiter? {
    forget(id)
    if let observer = values.removeValue(forKey: id) {
      _ = count(rowsOf: observer.region, by: -1)
      return observer.waiter
    }
    return feeds.removeValue(forKey: id)?.waiter
  }

  /// Has an observer that is about to read be told of every commit.
  mutating func begin(_ id: Int) {
    forget(id)
    guard let observer = values[id] else { return }
    ofAnything.insert(id)
    observer.begin()
  }

  /// Has an observer be told of commits to the region that it has read. Returns whether the set of tables
  /// whose rows are wanted has changed.
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

  /// Has an observer read again, since it may have missed a commit.
  mutating func makeDirty(_ id: Int) {
    forget(id)
    values[id]?.makeDirty()
  }

  /// Adjusts the counts of row readers for a region's tables. Returns whether a table was added or removed.
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

  /// Marks the observers of a touched region, and returns the waiters to wake. Of the observers of single
  /// rows, only those of touched rows are visited, however many there are.
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
      // A dirty observer needn't be told again before it has read again.
      if observer.isDirty { forget(id) }
      if let waiter = observer.waiter.take() { waiters.append(waiter) }
    }
    return waiters
  }

  /// Decides which waiters to wake now, and when to wake the rest (nil if that is scheduled already, or there
  /// are none).
  ///
  /// While commits follow one another closely, waiters are woken together: waking one and its read take more
  /// time than committing a row, on a core that the writer may need. So the pauses between wake-ups last longer
  /// than the reads, at least a quarter of a millisecond.
  mutating func collect(_ told: [Observers.Waiter]) -> (now: [Observers.Waiter], later: Int?) {
    if told.isEmpty { return ([], nil) }
    let now = MonotonicClock.nanoseconds
    guard now < nextWake || !late.isEmpty else {
      nextWake = now &+ Self.shortestInterval
      return (told, nil)
    }
    late += told
    return ([], late.count == told.count ? nextWake : nil)
  }

  /// Takes out the collected waiters, or returns the time to wait for instead.
  mutating func takeLate() -> (waiters: [Observers.Waiter], later: Int?) {
    let now = MonotonicClock.nanoseconds
    if now < nextWake { return ([], nextWake) }
    nextWake = now &+ Self.shortestInterval
    defer { late = [] }
    return (late, nil)
  }

  /// Plans the pause after the reads that a wake-up has caused.
  mutating func haveRead(since begin: Int) {
    let now = MonotonicClock.nanoseconds
    nextWake = max(nextWake, now &+ (now &- begin) &* Self.pauseFactor)
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

/// The observers that have read a table, as a whole or by single rows.
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

  /// Calls a closure for each observer that may have read a part of the table.
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
