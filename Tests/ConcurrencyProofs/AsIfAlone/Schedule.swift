import Larder
import TestSupport

/// A random schedule: a queue or pool, and the callers that share it.
struct Schedule: Sendable {
  enum Storage: Sendable {
    case memory
    /// A file with a rollback journal.
    case journal
    case log
  }

  /// Who calls.
  enum Manner: CaseIterable, Sendable {
    case thread
    /// A task that calls the asynchronous forms.
    case task
    /// The same, isolated to an actor.
    case actor
    /// An actor's function that isn't asynchronous, with closures that are isolated to the actor.
    case actorSynchronously
  }

  struct Caller: Sendable {
    let number: Int
    let manner: Manner
    /// The value of its task-local; nil to leave the default.
    let tenant: String?
    let priority: TaskPriority
    let steps: [Step]
  }

  struct Step: Sendable {
    let action: Action
    let form: ScopeForm
    /// How long after the call, in steps of a few microseconds, the task is cancelled; nil for never.
    let cancelsAfter: Int?

    /// Instead of a time: when the commit has been made.
    static let atCommit = -1
  }

  let seed: UInt64
  let isPool: Bool
  let storage: Storage
  let synchronous: Configuration.Synchronous
  /// After how many frames a commit moves the log into the file.
  let checkpointFrames: Int
  let maximumReaders: Int
  /// How long a sync of the log takes, in microseconds.
  let syncTime: UInt32
  /// How long whoever commits pauses when others see the commit and the library doesn't know of it
  /// yet, in microseconds.
  let pauseAfterCommit: UInt32
  /// The number of the sync that fails where syncs are shared; 0 for none.
  let failingSync: Int
  let callers: [Caller]

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.seed = seed
    let kind = Int.random(in: 0..<10, using: &random)
    let isPool = kind >= 6
    self.isPool = isPool
    storage = kind == 0 ? .memory : kind == 1 ? .journal : .log
    synchronous = Int.random(in: 0..<4, using: &random) == 0 ? .normal : .full
    checkpointFrames = [3, 20, 1000].randomElement(using: &random) ?? 1000
    maximumReaders = Int.random(in: 1...4, using: &random)
    syncTime = [0, 50, 150].randomElement(using: &random) ?? 0
    let isDurable = storage == .log && synchronous == .full
    // Of what the seed already gives, so that it gives the same schedule as ever.
    pauseAfterCommit = isDurable && seed % 3 == 0 ? 100 : 0
    failingSync =
      isDurable && Int.random(in: 0..<12, using: &random) == 0
      ? Int.random(in: 1...12, using: &random) : 0
    callers = (0..<Int.random(in: 2...12, using: &random)).map { number in
      Self.caller(number, isPool: isPool, using: &random)
    }
  }

  private static func caller(
    _ number: Int, isPool: Bool, using random: inout SeededGenerator
  ) -> Caller {
    let manner = Manner.allCases.randomElement(using: &random) ?? .thread
    let isTask = manner == .task || manner == .actor
    return Caller(
      number: number, manner: manner,
      tenant: Int.random(in: 0..<4, using: &random) == 0 ? nil : "tenant \(number)",
      priority: [.low, .medium, .high].randomElement(using: &random) ?? .medium,
      steps: (0..<Int.random(in: 1...6, using: &random)).map { _ in
        step(isTask: isTask, isPool: isPool, using: &random)
      })
  }

  private static func step(
    isTask: Bool, isPool: Bool, using random: inout SeededGenerator
  ) -> Step {
    let action = Action.random(using: &random, isPool: isPool)
    let form =
      Bool.random(using: &random)
      ? .immediate : ScopeForm.allCases.randomElement(using: &random) ?? .immediate
    // Whoever is cancelled can't put a limit back.
    let cancels =
      isTask && action != .fill(byHand: true) && Int.random(in: 0..<6, using: &random) == 0
    return Step(
      action: action, form: form,
      cancelsAfter: cancels ? max(Step.atCommit, .random(in: -15...60, using: &random)) : nil)
  }

  /// Whether some caller is cancelled at its commit.
  /// Whether brief scopes come first, so that those of tasks may run on the tasks' own threads.
  var trustsTasks: Bool { seed % 2 == 0 }

  var cancelsAtCommit: Bool {
    callers.contains { $0.steps.contains { $0.cancelsAfter == Step.atCommit } }
  }

  /// Whether a commit is on disk before anybody is told.
  var isDurable: Bool { storage == .log && synchronous == .full }

  func configuration(sharesSyncs: Bool) -> Configuration {
    var configuration = Configuration()
    configuration.journalMode = storage == .journal ? .truncate : .wal
    configuration.synchronous = synchronous
    configuration.groupCommit = sharesSyncs
    configuration.maximumReaders = maximumReaders
    configuration.vfs = "durability"
    // Whoever isn't woken is found by the watchdog instead.
    configuration.scopeTimeout = .seconds(600)
    configuration.prepareDatabase = { [checkpointFrames] db in
      try PageLimit.everybody.set(db)
      _ = try db.value(SQL(raw: "PRAGMA wal_autocheckpoint = \(checkpointFrames)"), as: Int.self)
    }
    return configuration
  }
}

/// How many pages the database may have.
struct PageLimit {
  let pages: Int

  static let everybody = PageLimit(pages: 200)

  func set(_ db: Database) throws {
    _ = try db.value(SQL(raw: "PRAGMA max_page_count = \(pages)"), as: Int.self)
  }
}
