import FoundationEssentials
import Larder

/// A job that is put in again and again, at the times of a `cron` expression.
///
/// ```swift
/// let jobs = JobQueue(pool, [CleanUp.self], schedules: [
///   try JobSchedule("30 3 * * 1-5", CleanUp())      // at 03:30 UTC from Monday to Friday
/// ])
/// ```
///
/// The processes that have the schedule put in one job for each time, however many they are. If no worker ran at one
/// time or several, one job is put in once there is one again.
///
/// In a time zone whose clocks are changed, the hour that comes twice in autumn counts once: nothing is put in for the
/// second one.
public struct JobSchedule: Sendable {
  let name: String
  let times: CronTimes
  let job: any Job

  /// - Parameters:
  ///   - expression: minute, hour, day of the month, month and day of the week (0 or 7 is Sunday): numbers, `*`,
  ///     ranges `1-5`, steps `*/15`, lists `0,30`. If both days are given, one of them is enough.
  ///   - job: the job.
  ///   - timeZone: the time zone of the expression.
  ///   - name: tells schedules apart, also between versions of the program; the name of the job's type and the
  ///     expression by default. A worker refuses two schedules of one name.
  ///
  /// Throws ``JobError/schedule(_:)``.
  public init(
    _ expression: String, _ job: some Job, in timeZone: TimeZone = .gmt, name: String? = nil
  ) throws {
    times = try CronTimes(expression, timeZone)
    self.job = job
    self.name = name ?? "\(type(of: job).name) \(expression)"
  }

  /// The next time after the last one for which a job was put in. Without a row the schedule is new, and due at
  /// once, to make one; with one that is far ahead, to correct it.
  func next(_ db: Database) throws -> Date {
    let last = try ScheduleState.filter { $0.name == name }.select { $0.last }.fetchOne(db)
    guard let last, last <= Date().addingTimeInterval(Self.mostAhead) else { return .distantPast }
    return times.next(after: last)
  }

  /// By how much the clocks of workers may differ, in seconds.
  private static let mostAhead = 300.0

  /// Puts in the job if its time has come, and nobody else has. Returns the error of a job that can't be stored: it is
  /// left out this time, and holds nothing else up.
  func enqueue(_ db: Database, _ now: Date) throws -> (any Error)? {
    guard let state = try ScheduleState.filter({ $0.name == name }).fetchOne(db) else {
      var state = ScheduleState(name: name, last: now)
      try state.insert(db, or: .ignore)
      return nil
    }
    guard state.last <= now.addingTimeInterval(Self.mostAhead) else {
      // The clock was ahead, and has been set back: without this nothing would be put in until then.
      try ScheduleState.filter { $0.name == name && $0.last == state.last }
        .update(db) { $0.last = .value(now) }
      return nil
    }
    guard times.next(after: state.last) <= now else { return nil }
    let isOurs =
      try ScheduleState.filter { $0.name == name && $0.last == state.last }
      .update(db) { $0.last = .value(now) } == 1
    guard isOurs else { return nil }
    do {
      try db.inSavepoint { db in _ = try job.enqueue(db) }
      return nil
    } catch let error where error.isOfValue {
      return error
    }
  }
}

extension JobQueue {
  /// Throws if two schedules have the same name, under which only one of them would run.
  func checkSchedules() throws {
    var names: Set<String> = []
    for schedule in schedules where !names.insert(schedule.name).inserted {
      throw DatabaseError(
        code: .misuse,
        message: "two schedules are named “\(schedule.name)”: give one of them a `name:` of its own"
      )
    }
  }
}

/// The last time for which a schedule's job was put in.
struct ScheduleState: Record {
  var name: String
  var last: Date

  struct Columns: Sendable {
    let name = Column("name", \ScheduleState.name, .primaryKey)
    let last = Column("last", \ScheduleState.last, as: .unixMilliseconds)
  }
  static let columns = Columns()
  static let table = Table("larder_job_schedule", ScheduleState.init, columns.name, columns.last)
}
