import Glibc

/// Checks, before each scope that may write, whether the database's path still leads to the open file, its
/// write-ahead log and the log's index.
///
/// Once it doesn't, writes go to a file that nobody finds again, and other programs at the path know nothing
/// of its log. SQLite itself checks before it writes a rollback journal, not before it writes a log.
///
/// **One `stat` per look**, that of the folder: as long as its change time stays the same, no name in it was
/// added, removed or replaced, so that the three files needn't be checked. (A path with symbolic links is
/// checked, too.) Folders' times are exact to some milliseconds, so that a folder that has changed just now
/// isn't trusted.
///
/// **No look for a scope that begins within a microsecond of the end of the last one**, if the last look was
/// less than 200 µs ago. A look takes 1.2 µs, a transaction of one row 14. Moving a file takes longer than
/// the microsecond, so that a thread that moves a file and then writes is refused.
///
/// Not Sendable: the writer uses it with the writer lock held.
final class FileIdentityCheck {
  private let location: FileLocation
  /// Whether the path contains symbolic links.
  private let hasLink: Bool
  private let identity: FileLocation.Identity
  private let folder: String
  /// The folder as a C string.
  private let folderPath: UnsafeMutablePointer<CChar>
  /// The identities of the log and its index; nil for one that doesn't exist.
  private var beside: (log: FileLocation.Identity?, index: FileLocation.Identity?)
  /// The log's count of transactions when everything was last found in its place, and the writer's own
  /// transactions since then.
  private var logChanges: UInt32?
  private var ownChanges: UInt32 = 0
  /// The folder's stamp when everything was last found in its place; nil if it can't be trusted.
  private var trusted: FolderStamp?
  /// The times of the last look and of the end of the last scope, in nanoseconds.
  private var lastLook = 0
  private var lastEnd = 0
  private var lastFullLook = 0
  private var lastCount = 0
  /// Whether the running scope changes the journal mode. After that there may be another log, or none.
  var isLogChanging = false

  private struct FolderStamp: Equatable {
    let identity: FileLocation.Identity
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
      identity = FileLocation.Identity(status)
      (seconds, nanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    }

    /// Whether the change time is so long ago that a later change would have another one.
    var isOld: Bool {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      let age = (now.tv_sec - seconds) * 1_000_000_000 + now.tv_nsec - nanoseconds
      return age > 50_000_000
    }
  }

  typealias PathState = FileLocation.PathState

  private static let microsecond = 1_000
  private static let longestTrust = 200_000
  private static let millisecond = 1_000_000
  private static let second = 1_000_000_000

  /// Nil if the file has no known identity.
  init?(_ location: FileLocation) {
    guard let identity = location.identity else { return nil }
    self.location = location
    hasLink = location.link != nil
    self.identity = identity
    let slash = location.path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? location.path.startIndex
    folder = slash == location.path.startIndex ? "/" : String(location.path[..<slash])
    guard let folderPath = strdup(folder) else { return nil }
    self.folderPath = folderPath
    beside = (nil, nil)
    forgetLog()
  }

  deinit { free(folderPath) }

  /// Takes the current log and index as those in use, after the journal mode was changed.
  func forgetLog() {
    beside = (
      FileLocation.Identity(ofFileAt: location.path + "-wal"),
      FileLocation.Identity(ofFileAt: location.path + "-shm")
    )
    trusted = nil
    lastLook = 0
    isLogChanging = false
  }

  /// Whether there is a log, and an index of it that other connections share.
  var hasLog: Bool { beside.log != nil && beside.index != nil }

  /// Notes the log's count of transactions. Called when everything is in its place.
  func noteLog(changes: UInt32?) {
    (logChanges, ownChanges) = (changes, 0)
    lastCount = lastLook
  }

  /// Whether the log's count has to be read again, which takes as long as the rest of a look. Commits of
  /// others in the last millisecond before the file was moved aren't noted, so the log counts as theirs too.
  var isCountDue: Bool { lastLook &- lastCount > Self.millisecond }

  /// Notes that the writer has committed to the log.
  @inline(__always)
  func noteCommit() { ownChanges &+= 1 }

  /// Whether only the writer has committed to the log since everything was in its place, and the index is the
  /// one that others would find.
  func isLogOwn(_ finding: PathState, changes: UInt32?) -> Bool {
    guard case .replaced(let path) = finding, path != location.link, !path.hasSuffix("-shm"),
      let logChanges, let changes
    else { return false }
    return changes == logChanges &+ ownChanges
  }

  /// Notes the end of a scope.
  @inline(__always)
  func noteEnd() {
    if isLogChanging { forgetLog() }
    lastEnd = MonotonicClock.nanoseconds
  }

  /// Whether a look is due.
  @inline(__always)
  var isDue: Bool {
    let now = MonotonicClock.nanoseconds
    return now &- lastEnd > Self.microsecond || now &- lastLook > Self.longestTrust
  }

  /// Whether the folder is unchanged since everything was found in its place. Most looks check nothing else.
  func isUnchanged() -> Bool {
    lastLook = MonotonicClock.nanoseconds
    guard let trusted, !hasLink, lastLook &- lastFullLook < Self.second else { return false }
    var status = stat()
    return stat(folderPath, &status) == 0 && FolderStamp(status) == trusted
  }

  /// Looks at the folder and the files.
  func look() -> PathState {
    lastLook = MonotonicClock.nanoseconds
    var status = stat()
    guard stat(folderPath, &status) == 0 else {
      return FileLocation.isAbsence(errno) ? .gone(folder) : .inPlace
    }
    let stamp = FolderStamp(status)
    if let link = location.link, stamp == trusted, lastLook &- lastFullLook < Self.second {
      return FileLocation.find(identity, at: link)
    }
    trusted = nil
    let finding = lookAtAll()
    if finding == .inPlace, stamp.isOld {
      trusted = stamp
      lastFullLook = lastLook
    }
    return finding
  }

  private func lookAtAll() -> PathState {
    let path = location.path
    var findings = [FileLocation.find(identity, at: path)]
    if let link = location.link { findings.append(FileLocation.find(identity, at: link)) }
    if let log = beside.log { findings.append(FileLocation.find(log, at: path + "-wal")) }
    if let index = beside.index { findings.append(FileLocation.find(index, at: path + "-shm")) }
    return findings.first { if case .replaced = $0 { true } else { false } }
      ?? findings.first { $0 != .inPlace } ?? .inPlace
  }
}
