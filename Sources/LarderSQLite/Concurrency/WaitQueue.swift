/// A FIFO wait queue: an intrusive doubly linked list, so that joining at the end, serving the first and
/// leaving from the middle (a time-out, a cancelled task) cost O(1) each.
struct WaitQueue {
  private(set) var first: WaitingScope?
  private unowned(unsafe) var last: WaitingScope?
  private(set) var count = 0
  /// The number of tasks in the queue, which have no thread that watches their deadline.
  private var taskCount = 0
  /// Whether a sweep for tasks that have waited too long is scheduled.
  private(set) var isSwept = false
  private var figures = AccessStatistics()

  /// The statistics of the waits.
  var statistics: AccessStatistics {
    var statistics = figures
    statistics.waiting = count
    return statistics
  }

  var isEmpty: Bool { first == nil }

  /// Appends a scope. True if the caller has to begin the sweep for tasks that wait too long.
  mutating func append(_ scope: WaitingScope) -> Bool {
    scope.isQueued = true
    scope.previous = last
    if let last { last.next = scope } else { first = scope }
    last = scope
    count += 1
    figures.mostWaiting = max(figures.mostWaiting, count)
    if scope.asTask == nil { return false }
    taskCount += 1
    defer { isSwept = true }
    return !isSwept
  }

  /// Inserts a thread before all others.
  mutating func prepend(_ thread: WaitingThread) {
    thread.isQueued = true
    thread.next = first
    if let first { first.previous = thread } else { last = thread }
    first = thread
    count += 1
  }

  /// Notes that a scope which has left the queue has what it waited for.
  mutating func noteSuccess(of scope: WaitingScope, at time: Duration) {
    figures.noteWait(time - scope.start)
  }

  /// Removes a scope, wherever it stands. It must be in this queue.
  mutating func remove(_ scope: WaitingScope) {
    let (previous, next) = (scope.previous, scope.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    scope.previous = nil
    scope.next = nil
    scope.isQueued = false
    count -= 1
    if scope.asTask != nil { taskCount -= 1 }
  }

  /// Removes the tasks that have waited since this time or longer. All scopes behind the first younger one
  /// are younger still.
  mutating func removeTasks(waitingSince time: Duration) -> [WaitingTask] {
    var late: [WaitingTask] = []
    var scope = first
    while let current = scope, current.start <= time {
      scope = current.next
      if let task = current.asTask {
        remove(task)
        late.append(task)
      }
    }
    isSwept = taskCount > 0
    return late
  }
}
