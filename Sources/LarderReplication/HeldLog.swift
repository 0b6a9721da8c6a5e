import CSQLite
import Glibc
import LarderSQLite

/// The write-ahead log of a database, held by a read mark, and the pages that have changed since they were last
/// taken.
///
/// **Why no frame is lost.** Two connections take turns: the next one begins its read transaction, all frames
/// up to the end are noted, and only then does the other one end its own. So at every moment one of them
/// holds a mark.
///
/// - While a **mark above 0** is held, no writer of any process begins the log anew.
/// - **Mark 0** is what a transaction gets that begins when all of the log is in the database file. Writers
///   may then begin the log anew. But checkpoints move frames only while nobody holds mark 0. So if frames
///   are appended meanwhile, they aren't moved, and the log that has them can't begin anew.
///
/// So the log begins anew only at a point up to which everything was noted, also if it begins anew several
/// times (as `TRUNCATE` does with an empty log). Tried with SQLite 3.40.1 beside a process that writes and one
/// that makes checkpoints of all kinds, VACUUMs and closes: no frame was lost in 262 logs.
///
/// **Why others don't wait for long.** FULL, RESTART and TRUNCATE hold the writer lock while they wait for a lock of
/// one of the five read marks, also if that mark has got to the end of the log meanwhile. Two connections that take
/// turns would never let go of it. So when there is nothing new, both let go, and a third connection holds a lock
/// of a mark that isn't in use (``UnusedMark``): for that, no checkpoint waits before it moves everything; but no log
/// begins anew.
///
/// **The pages at the mark.** A page is that of its last frame up to the mark's end, or that of the file if it
/// has none there: nobody moves later frames into the file as long as the mark is held.
///
/// Sendable because all variables are guarded by the lock.
final class HeldLog: @unchecked Sendable {
  private let lock = Lock(0)
  private var marks: [Database]
  private var held = 0
  /// What holds the log in place of a mark while there is nothing new.
  private var unused: UnusedMark
  private let file: LogFile
  private let path: String
  private let fallbackPageSize: Int
  /// The last frame of each page in the current log.
  private var frames: [UInt32: UInt32] = [:]
  private var noted: LogIndexHeader
  /// The time of the last look, in milliseconds: no commit that was noted is later.
  private var time = 0
  /// The pages whose current content wasn't taken yet.
  private var changed: Set<UInt32> = []
  /// When the first of them was noted.
  private var changedSince: Duration?
  /// The error after which the marks mean nothing any more.
  private var failure: DatabaseError?

  /// The changed pages at a moment.
  struct Pages {
    var numbers: [UInt32] = []
    /// The pages, one after the other.
    var bytes: [UInt8] = []
    /// Whether these are all pages that have changed, so that together they are a commit.
    var isCommit = true
    var place: LogPlace
    /// The number of pages of the database.
    var pageCount: UInt32
    var pageSize: Int
    /// In milliseconds since 1970.
    var time: Int
    /// When the oldest change was noted.
    var since: Duration?
  }

  private static let begin = "BEGIN; PRAGMA schema_version"

  /// Takes a mark. Throws `ResultCode.misuse` if the database has no write-ahead log.
  init(of location: FileLocation, _ configuration: Configuration) throws {
    var configuration = configuration.forCopying
    configuration.readOnly = true
    configuration.prepareDatabase = nil
    configuration.extensions = []
    configuration.trace = nil
    configuration.log = nil
    configuration.cacheSize = 64 << 10
    configuration.busyTimeout = .milliseconds(100)
    marks = try (0..<2).map { _ in try Database(at: location, configuration: configuration) }
    unused = try UnusedMark(location, configuration)
    path = location.path
    guard let handle = marks[0].connection.handle else {
      throw DatabaseError(.internal, "there is no connection")
    }
    guard try marks[0].value("PRAGMA journal_mode", as: String.self) == "wal" else {
      throw DatabaseError(
        .misuse, "only a database with a write-ahead log can be replicated: \(location.path)")
    }
    let code = sqlite3_exec(handle, Self.begin, nil, nil, nil)
    guard code == SQLITE_OK else { throw Self.error(code, "a read mark can't be taken") }
    noted = try Self.header(handle)
    // A new file's index doesn't know the size of pages.
    fallbackPageSize = try marks[0].value("PRAGMA page_size", as: Int.self) ?? 4096
    let pageSize = noted.pageSize > 0 ? noted.pageSize : fallbackPageSize
    file = try LogFile(of: handle, pageSize: pageSize)
    time = Self.milliseconds
    let end = noted
    noted = LogIndexHeader(beginningOf: end)
    try note(upTo: end)
    changed = []
    changedSince = nil
  }

  deinit { closeAll() }

  /// Releases the mark, and closes the connections.
  func close() {
    lock.withLock { _ in
      failure = failure ?? DatabaseError(.misuse, "the log isn't held any more")
      closeAll()
    }
  }

  private func closeAll() {
    unused.close()
    for mark in marks { mark.closeEverything() }
    marks = []
  }

  // MARK: Marks

  private static func header(_ handle: OpaquePointer) throws -> LogIndexHeader {
    var words = [UInt32](repeating: 0, count: 12)
    guard larder_log_header(handle, &words) != 0 else {
      throw DatabaseError(.ioError, "the index of the write-ahead log can't be read")
    }
    return LogIndexHeader(words)
  }

  /// Whether anything was committed since the last look.
  var hasNews: Bool {
    get throws {
      try lock.withLock { _ in
        if let failure { throw failure }
        guard let handle = marks[held].connection.handle else { return true }
        return try Self.header(handle) != noted
      }
    }
  }

  /// Whether the marks mean nothing any more, so that all has to begin anew.
  var hasFailed: Bool { lock.withLock { _ in failure != nil } }

  /// Takes a mark at the end of the log, notes what was committed since the last one, and releases that.
  func advance() throws { try lock.withLock { _ in try advanceLocked() } }

  private func advanceLocked() throws {
    if let failure { throw failure }
    let next = 1 - held
    guard let handle = marks[next].connection.handle, let former = marks[held].connection.handle
    else { throw DatabaseError(.internal, "there is no connection") }
    let code = sqlite3_exec(handle, Self.begin, nil, nil, nil)
    guard code == SQLITE_OK else {
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      throw Self.error(code, "a read mark can't be taken")
    }
    do {
      let end = try Self.header(handle)
      time = max(time, Self.milliseconds)
      if end.place.salts != noted.place.salts {
        // Everything that was noted is in the file now.
        frames.removeAll(keepingCapacity: true)
        noted = LogIndexHeader(beginningOf: end)
      }
      try note(upTo: end)
    } catch {
      sqlite3_exec(handle, "COMMIT", nil, nil, nil)
      throw error
    }
    if unused.isHeld {
      unused.release()
    } else {
      sqlite3_exec(former, "COMMIT", nil, nil, nil)
    }
    held = next
  }

  /// Moves the mark to the end of the log, or lets go of it if there is nothing new.
  private func moveLocked() throws {
    guard failure == nil, let handle = marks[held].connection.handle,
      try Self.header(handle) == noted, !unused.isMoved(noted.place.frame)
    else { return try advanceLocked() }
    if unused.isHeld { return }
    guard unused.hold() else { return try advanceLocked() }
    sqlite3_exec(handle, "COMMIT", nil, nil, nil)
  }

  /// Notes the pages of the frames that follow.
  private func note(upTo end: LogIndexHeader) throws {
    let (first, last) = (noted.place.frame, end.place.frame)
    if noted.pageSize > 0, end.pageSize != noted.pageSize {
      throw fail("the size of pages has changed")
    }
    guard last >= first else { throw fail("the log has lost frames") }
    if last > first {
      var checksum: UInt64 = 0
      for number in (first + 1)...last {
        let frame = try file.frame(number)
        guard frame.salts == end.place.salts, frame.page > 0 else {
          throw fail("a frame belongs to another log")
        }
        frames[frame.page] = number
        changed.insert(frame.page)
        checksum = frame.checksum
      }
      guard checksum == end.place.checksum else { throw fail("the log's checksums don't run on") }
      if changedSince == nil { changedSince = MonotonicClock.now }
    }
    noted = end
  }

  private func fail(_ text: String) -> DatabaseError {
    let error = DatabaseError(.corrupt, "\(text): \(path)-wal")
    failure = error
    return error
  }

  private static func error(_ code: Int32, _ text: String) -> DatabaseError {
    DatabaseError(ResultCode(rawValue: code), text + ": " + String(cString: sqlite3_errstr(code)))
  }

  static var milliseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  // MARK: Pages

  var place: LogPlace { lock.withLock { _ in noted.place } }

  var pageSize: Int {
    lock.withLock { _ in noted.pageSize > 0 ? noted.pageSize : fallbackPageSize }
  }

  /// How many pages have changed and weren't taken, and since when.
  var backlog: (pages: Int, since: Duration?) {
    lock.withLock { _ in (changed.count, changed.isEmpty ? nil : changedSince) }
  }

  /// The number of frames in the log.
  var length: Int { lock.withLock { _ in Int(noted.place.frame) } }

  /// Whether the log has a place: it can be continued from there. Then the pages that have changed since are
  /// noted as such.
  func resume(at place: LogPlace) throws -> Bool {
    try lock.withLock { _ in
      let end = noted.place
      // A new log has no salts before its first frame, so that all of them would be the same.
      guard place.salts != 0, end.salts == place.salts, place.frame <= end.frame else {
        return false
      }
      if place.frame > 0 {
        let frame = try file.frame(place.frame)
        guard frame.checksum == place.checksum, frame.salts == place.salts else { return false }
      }
      for (page, frame) in frames where frame > place.frame { changed.insert(page) }
      if !changed.isEmpty { changedSince = MonotonicClock.now }
      return true
    }
  }

  /// Notes pages as changed.
  func note(changed pages: some Sequence<UInt32>) {
    lock.withLock { _ in
      changed.formUnion(pages)
      if !changed.isEmpty, changedSince == nil { changedSince = MonotonicClock.now }
    }
  }

  /// Takes changed pages: all of them, or the first ones if there are more than that.
  func take(atMost limit: Int) throws -> Pages {
    try lock.withLock { _ in
      if let failure { throw failure }
      if unused.isHeld { try advanceLocked() }
      var pages = try emptyPages()
      changed = changed.filter { $0 <= pages.pageCount }
      var numbers = changed.sorted()
      if numbers.count > limit {
        numbers.removeSubrange(limit...)
        pages.isCommit = false
      }
      pages.numbers = numbers
      pages.bytes = try read(numbers, pages.pageSize)
      pages.since = changedSince
      if pages.isCommit {
        changed.removeAll(keepingCapacity: changed.count < 100_000)
        changedSince = nil
      } else {
        changed.subtract(numbers)
      }
      return pages
    }
  }

  /// Reads pages as they are at the mark, whether they have changed or not.
  func pages(from first: UInt32, count: Int) throws -> (Pages, isChanged: (UInt32) -> Bool) {
    try lock.withLock { _ in
      if let failure { throw failure }
      if unused.isHeld { try advanceLocked() }
      var pages = try emptyPages()
      if first <= pages.pageCount {
        pages.numbers = Array(first...min(pages.pageCount, first + UInt32(count) - 1))
      }
      pages.bytes = try read(pages.numbers, pages.pageSize)
      let changed = changed
      return (pages, { changed.contains($0) })
    }
  }

  private func emptyPages() throws -> Pages {
    guard let handle = marks[held].connection.handle else {
      throw DatabaseError(.internal, "there is no connection")
    }
    let pageSize = noted.pageSize > 0 ? noted.pageSize : fallbackPageSize
    var count = noted.pages
    if noted.place.frame == 0 {
      // The index of an empty log may not know the size. Nobody writes to the file meanwhile.
      count = UInt32(clamping: max(0, larder_file_size(handle)) / Int64(pageSize))
    }
    return Pages(place: noted.place, pageCount: count, pageSize: pageSize, time: time)
  }

  private func read(_ numbers: [UInt32], _ pageSize: Int) throws -> [UInt8] {
    guard let handle = marks[held].connection.handle else {
      throw DatabaseError(.internal, "there is no connection")
    }
    let size = numbers.count * pageSize
    return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let all = UnsafeMutableRawBufferPointer(buffer)
      for (index, number) in numbers.enumerated() {
        let page = UnsafeMutableRawBufferPointer(
          rebasing: all[(index * pageSize)..<((index + 1) * pageSize)])
        try read(number, into: page, handle)
      }
      count = size
    }
  }

  private func read(
    _ number: UInt32, into bytes: UnsafeMutableRawBufferPointer, _ handle: OpaquePointer
  ) throws {
    if let frame = frames[number] {
      if try file.readPage(
        number, of: frame, salts: noted.place.salts, isBigEndian: noted.isBigEndian, into: bytes)
      {
        return
      }
      // The log has begun anew under mark 0. So all of it is in the file.
      guard try Self.header(handle).place.salts != noted.place.salts else {
        throw fail("a frame's checksum is wrong")
      }
    }
    let code = larder_read_file(
      handle, bytes.baseAddress, Int32(bytes.count), Int64(number - 1) * Int64(bytes.count))
    guard code == SQLITE_OK else {
      throw Self.error(code, "the database file can't be read")
    }
  }

  /// Calls a closure with a connection that sees at least what was noted last.
  func withReader<T>(_ body: (Database) throws -> T) throws -> T {
    try lock.withLock { _ in
      if let failure { throw failure }
      return try body(marks[1 - held])
    }
  }
}

extension HeldLog: LogHolder {
  /// A failure is told by the next call of ``advance()``.
  func moveMark() { try? lock.withLock { _ in try moveLocked() } }
}

extension LogIndexHeader {
  /// The header of the same log without frames.
  init(beginningOf other: LogIndexHeader) {
    self = other
    place.frame = 0
    place.checksum = 0
  }
}
