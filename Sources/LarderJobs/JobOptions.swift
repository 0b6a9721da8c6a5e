import FoundationEssentials

/// How a job is to be run: when, in which order, how often, and beside which others.
///
/// All of them can be the type's own (``Job/options``). A call of `enqueue` can change those that are stored with the job:
/// ``queue``, ``priority``, ``due``, ``attempts`` and ``unique``. The others are asked of the job when it is run.
public struct JobOptions: Sendable {
  /// The queue that the job waits in. Workers take jobs of the queues that they are told.
  public var queue = "default"
  /// Jobs with a smaller number run before others of their queue; those with the same one in the order in which
  /// they were put in.
  public var priority = 0
  /// The time before which the job doesn't run; nil for as soon as possible.
  public var due: Date?
  /// How often the job runs until it is dead, also counting runs whose worker was killed.
  public var attempts = 20
  /// The time after which the job's task is cancelled, and has failed.
  public var timeLimit = Duration.seconds(600)
  /// A key that no two unfinished jobs have: a second one isn't put in. Dead jobs are finished.
  public var unique: String?
  /// A limit that the job shares with others; nil for none.
  public var limit: JobLimit?
  /// The time until the next attempt, after this number of attempts: 2, 4, 8 … seconds by default, one hour at
  /// most. The worker makes it up to a fourth longer or shorter by chance, so that jobs that have failed
  /// together aren't retried together.
  public var backOff: @Sendable (_ attempts: Int) -> Duration = { attempts in
    .seconds(min(3_600, 1 << min(max(attempts, 0), 12)))
  }
  {
    didSet { hasOtherBackOff = true }
  }
  /// Whether ``backOff`` was set.
  var hasOtherBackOff = false

  /// The defaults.
  public init() {}
}

/// A limit for all jobs with the same key, of whatever type and queue, in all processes.
public struct JobLimit: Hashable, Sendable {
  /// The key, such as `mail` or `account/5`.
  public var key: String
  /// How many run at a time; nil for any number.
  public var running: Int?
  /// How many begin within ``period``, whichever one looks at; nil for any number. They are spread over it.
  public var starts: Int?
  /// The period of ``starts``.
  public var period: Duration

  /// A limit.
  ///
  /// - Parameters:
  ///   - key: such as `mail` or `account/5`.
  ///   - running: how many of the jobs run at a time.
  ///   - starts: how many of them begin within the period.
  ///   - period: how long that is.
  public init(
    _ key: String, running: Int? = nil, starts: Int? = nil, per period: Duration = .seconds(1)
  ) {
    self.key = key
    self.running = running
    self.starts = starts
    self.period = period
  }
}
