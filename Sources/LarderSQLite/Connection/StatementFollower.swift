import CSQLite

/// What is told of the statements that a connection runs: who observes changes, and who records what is
/// read. A connection without one pays a test for each statement.
protocol StatementFollower: AnyObject {
  /// Before the first step of a statement, but of those that begin and end scopes; with what it reads and
  /// writes, if that is known, and whether it writes.
  func willRun(_ region: StatementRegion?, writes: Bool)
  /// After a statement has turned out to touch more than was known before it ran.
  func hasTouchedMore(_ region: StatementRegion?, writes: Bool)
  /// After the last step of a statement, or one that has failed, with SQLite's code.
  func hasRun(_ region: StatementRegion?, _ code: Int32)
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

  func willRun(_ region: StatementRegion?, writes: Bool) {
    keepLast()
    last = region
    if last == nil { hasUnknown = true }
  }

  private func keepLast() {
    guard let region = last.take(), regions.last !== region else { return }
    regions.append(region)
  }

  func hasTouchedMore(_ region: StatementRegion?, writes: Bool) {}

  func hasRun(_ region: StatementRegion?, _ code: Int32) {}

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

/// What has to be done after a statement's last step.
struct AfterSteps: OptionSet {
  let rawValue: UInt8
  /// SQLite has begun to commit, as its commit hook tells.
  static let announcedCommit = AfterSteps(rawValue: 1)
  /// Somebody follows the connection's statements.
  static let followed = AfterSteps(rawValue: 2)
}
