import Foundation
import Larder

/// Values that belong to a task, or to a thread outside of tasks.
enum Tenant {
  @TaskLocal static var current = "nobody"
}

/// Who calls, as a closure can tell: as if it were alone, a closure sees what was there around the call.
struct Identity: Sendable {
  /// Nil where the closure may run on another thread, as that of a task.
  private let thread: UInt?
  /// The current task, if there is one.
  private let task: Int?
  private let priority: TaskPriority?
  let tenant: String

  /// - Parameter isSynchronous: whether the call blocks its thread.
  init(isSynchronous: Bool) {
    thread = isSynchronous ? UInt(pthread_self()) : nil
    task = Self.currentTask
    priority = Task.basePriority
    tenant = Tenant.current
  }

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// What differs inside of the closure, or nil.
  var difference: String? {
    if let thread, thread != UInt(pthread_self()) { return "runs on another thread" }
    if Tenant.current != tenant { return "sees \(Tenant.current) instead of \(tenant)" }
    if task != Self.currentTask {
      return Self.currentTask == nil ? "runs outside of its task" : "runs in another task"
    }
    if priority != Task.basePriority { return "runs with another priority" }
    return nil
  }
}
