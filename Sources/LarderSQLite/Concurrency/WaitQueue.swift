/// A FIFO wait queue. Scopes may leave it from the middle: after a time-out, or when their task is cancelled.
struct WaitQueue {
  private var scopes = LinkedList<WaitingScope>()
  /// The number of tasks in the queue, which have no thread that watches their deadline.
  private var taskCount = 0
  /// Whether a sweep for tasks that have waited too long is scheduled.
  private(set) var isSwept = false
  private var figures = AccessStatistics()
  /// When a scope has last got what it waited for.
  private var lastSuccess = Duration.zero

  /// The statistics of the waits.
  var statistics: AccessStatistics {
    var statistics = figures
    statistics.waiting = count
    if figures.waits > 0 { statistics.wait.age = max(.zero, MonotonicClock.now - lastSuccess) }
    return statistics
  }

  var first: WaitingScope? { scopes.first }

  var isEmpty: Bool { count == 0 }

  var count: Int { scopes.count }

  /// Appends a scope. True if the caller has to begin the sweep for tasks that wait too long.
  mutating func append(_ scope: WaitingScope) -> Bool {
    scopes.append(scope)
    figures.mostWaiting = max(figures.mostWaiting, count)
    if scope.asTask == nil { return false }
    taskCount += 1
    defer { isSwept = true }
    return !isSwept
  }

  /// Inserts a thread before all others.
  mutating func prepend(_ thread: WaitingThread) { scopes.prepend(thread) }

  /// Notes that a scope which has left the queue has what it waited for.
  mutating func noteSuccess(of scope: WaitingScope, at time: Duration) {
    let waited = time - scope.start
    figures.waits += 1
    figures.waited += waited
    figures.longestWait = max(figures.longestWait, waited)
    figures.wait.add(max(.zero, waited))
    lastSuccess = time
  }

  /// Removes a scope, wherever it stands. It must be in this queue.
  mutating func remove(_ scope: WaitingScope) {
    scopes.remove(scope)
    if scope.asTask != nil { taskCount -= 1 }
  }

  /// Removes the tasks that have waited since this time or longer. All scopes behind the first younger one
  /// are younger still.
  mutating func removeTasks(waitingSince time: Duration) -> [WaitingTask] {
    var late: [WaitingTask] = []
    var scope = first
    while let current = scope, current.start <= time {
      scope = scopes.element(after: current)
      if let task = current.asTask {
        remove(task)
        late.append(task)
      }
    }
    isSwept = taskCount > 0
    return late
  }
}
