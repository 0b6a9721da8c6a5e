import CSQLite

/// Follows the statements that a connection runs: observes changes, or records what is read. A
/// connection without a follower pays a test for each statement.
protocol StatementFollower: AnyObject {
  /// Called before the first step of a statement, except for those that begin and end scopes. Gets what
  /// it reads and writes, if that is known, and whether it writes.
  func willRun(_ region: StatementRegion?, writes: Bool)
  /// Called after a statement has turned out to touch more than was known before it ran.
  func hasTouchedMore(_ region: StatementRegion?, writes: Bool)
  /// Called after the last step of a statement, or one that has failed, with SQLite's code.
  func hasRun(_ region: StatementRegion?, _ code: Int32)
  /// Called after another database was copied into this one.
  func hasReplacedContent()
  /// Called before rows are changed by anything but a statement of the connection.
  func willChangeUnseen()
  /// Called before somebody else takes SQLite's preupdate hook; ``hasLentRowHook()`` is called after.
  func willLendRowHook()
  func hasLentRowHook()
}

/// Records what the statements of a scope read.
final class ReadRecorder: StatementFollower {
  private var regions: [StatementRegion] = []
  private var last: StatementRegion?
  private var hasUnknown = false
  private var limited = Region()

  /// Limits what the last statement reads of its table to the row with an id.
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
  func willLendRowHook() {}
  func hasLentRowHook() {}

  /// The region that was read. Statements that were recompiled while they ran have reported that by now.
  var region: Region {
    keepLast()
    if hasUnknown { return .everything }
    var all = limited
    for region in regions { all.formUnion(region.reads) }
    return all
  }
}

/// The work that is left after a statement's last step.
struct AfterSteps: OptionSet {
  let rawValue: UInt8
  /// SQLite's commit hook has reported the beginning of a commit.
  static let announcedCommit = AfterSteps(rawValue: 1)
  static let followed = AfterSteps(rawValue: 2)
}
