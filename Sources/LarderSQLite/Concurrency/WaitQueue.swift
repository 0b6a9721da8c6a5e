/// A FIFO wait queue: an intrusive doubly linked list, so that joining at the end, serving the first and
/// leaving from the middle (a time-out, a cancelled task) cost O(1) each.
struct WaitQueue {
  private(set) var first: WaitingScope?
  private unowned(unsafe) var last: WaitingScope?
  private(set) var count = 0
  /// How many of them are tasks, which no thread of their own gives a deadline.
  private var taskCount = 0
  /// Whether somebody looks for tasks that have waited too long.
  private(set) var isSwept = false

  var isEmpty: Bool { first == nil }

  /// Puts a scope at the end; true where from now on somebody has to look for tasks that wait too long.
  mutating func append(_ scope: WaitingScope) -> Bool {
    scope.isQueued = true
    scope.previous = last
    if let last { last.next = scope } else { first = scope }
    last = scope
    count += 1
    if scope.asTask == nil { return false }
    taskCount += 1
    defer { isSwept = true }
    return !isSwept
  }

  /// Puts a thread before all others.
  mutating func prepend(_ thread: WaitingThread) {
    thread.isQueued = true
    thread.next = first
    if let first { first.previous = thread } else { last = thread }
    first = thread
    count += 1
  }

  mutating func popFirst() -> WaitingScope? {
    guard let first else { return nil }
    remove(first)
    return first
  }

  /// Takes a scope out, wherever it stands. It must be in this queue.
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

  /// Takes out the tasks that have waited since this time or longer. Those behind the first younger
  /// scope are younger still.
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
