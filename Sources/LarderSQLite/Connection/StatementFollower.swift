import CSQLite

/// What is told of the statements that a connection runs: who observes changes, and who records what is
/// read. A connection without one pays a test for each statement.
protocol StatementFollower: AnyObject {
  /// Before the first step of a statement, but of those that begin and end scopes.
  func willRun(_ statement: PreparedStatement)
  /// After a statement has turned out to touch more than was known before it ran.
  func hasTouchedMore(_ statement: PreparedStatement)
  /// After the last step of a statement, or one that has failed, with SQLite's code.
  func hasRun(_ statement: PreparedStatement, _ code: Int32)
  /// After another database was copied into this one.
  func hasReplacedContent()
  /// Before rows are changed by something else than a statement of the connection's.
  func willChangeUnseen()
  /// Around the recording of a changeset, for which SQLite's preupdate hook is taken.
  func willRecord()
  func hasRecorded()
}

/// Records what the statements of a scope read.
final class ReadRecorder: StatementFollower {
  private var regions: [StatementRegion] = []
  private var last: StatementRegion?
  private var hasUnknown = false
  private var limited = Region()

  /// Says that the last statement finds no other row of its table than the one with an id.
  func limitLast(to row: Int64) {
    guard let region = last.take() else { return }
    var part = region.reads
    part.limit(to: [row])
    limited.formUnion(part)
  }

  func willRun(_ statement: PreparedStatement) {
    keepLast()
    last = statement.region
    if last == nil { hasUnknown = true }
  }

  private func keepLast() {
    guard let region = last.take(), regions.last !== region else { return }
    regions.append(region)
  }

  func hasTouchedMore(_ statement: PreparedStatement) {}

  func hasRun(_ statement: PreparedStatement, _ code: Int32) {}

  func hasReplacedContent() {}
  func willChangeUnseen() {}
  func willRecord() {}
  func hasRecorded() {}

  /// What was read. Statements that were compiled anew while they ran have told of that by now.
  var region: Region {
    keepLast()
    if hasUnknown { return .everything }
    var all = limited
    for region in regions { all.formUnion(region.reads) }
    return all
  }
}

extension Database {
  /// Calls a closure, and returns what it has read beside what it has returned.
  func recordingReads<T>(_ body: (Database) throws -> T) throws -> (T, Region) {
    collectRegions()
    let recorder = ReadRecorder()
    let outer = connection.recorder
    connection.recorder = recorder
    defer { connection.recorder = outer }
    let value = try body(self)
    return (value, recorder.region)
  }

  /// Has statements know what they read and write. Those that are compiled already go: SQLite wouldn't tell
  /// of them.
  func collectRegions() {
    guard connection.authorizer.actions == nil, let handle = connection.usableHandle else { return }
    cache.removeAll()
    transactionStatements.removeAll()
    connection.authorizer.collectActions(on: handle)
  }

  /// Says that the statement which has begun finds no other row of its table than the one with an id, for
  /// whoever records what is read.
  @inlinable
  package func isReading(row: @autoclosure () -> Int64?) {
    if isRecordingReads, let row = row() { limitLastRead(to: row) }
  }

  @usableFromInline
  var isRecordingReads: Bool { connection.recorder != nil }

  @usableFromInline
  func limitLastRead(to row: Int64) { connection.recorder?.limitLast(to: row) }
}

extension Connection {
  /// Before a statement runs that is followed.
  func tellWillRun(_ statement: PreparedStatement) {
    recorder?.willRun(statement)
    // What only reads writes nothing that is the database's.
    if !restrictions.contains(.writing) { follower?.willRun(statement) }
  }

  /// After a statement has ended whose end matters.
  func tellHasRun(_ statement: PreparedStatement, _ code: Int32) {
    if afterSteps.contains(.announcedCommit) { onAnnouncedCommit?() }
    if isFollowed { tellFollower(statement, code) }
  }

  /// The same for those who follow alone.
  func tellFollower(_ statement: PreparedStatement, _ code: Int32) {
    let isNew = addRecompiled(to: statement)
    guard let follower, !restrictions.contains(.writing) else { return }
    if isNew { follower.hasTouchedMore(statement) }
    follower.hasRun(statement, code)
  }
}

/// What has to be done after a statement's last step.
struct AfterSteps: OptionSet {
  let rawValue: UInt8
  /// SQLite has begun to commit, as its commit hook tells.
  static let announcedCommit = AfterSteps(rawValue: 1)
  /// Somebody follows the connection's statements.
  static let followed = AfterSteps(rawValue: 2)
}
