import Dispatch

/// Watches whether a database file, its log or its index is moved, removed or replaced, for a queue or pool that
/// nobody writes to at the time: then a look has the log moved into the file before somebody opens another one in its
/// place, with that log beside it.
///
/// It begins a second after the queue or pool was opened, and costs neither those that live for less, nor those that
/// write. Where there is no inotify, the next write finds out.
///
/// What makes it Sendable: all happens on the queue of ``FileEvents``.
final class MoveWatcher: FileEventReceiver, @unchecked Sendable {
  private let events = FileEvents.moves
  private let path: String
  private let look: @Sendable () -> Void
  private var isLooking = false
  private var isStopped = false

  /// - Parameter look: looks whether the file is in its place; may wait.
  init(path: String, look: @escaping @Sendable () -> Void) {
    self.path = path
    self.look = look
  }

  func start(after delay: Duration = .seconds(1)) {
    events.queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { [weak self] in
      guard let self, !isStopped else { return }
      events.add(self)
      for suffix in ["", "-wal", "-shm"] { events.watch(path + suffix, for: self) }
      let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
      events.watch(String(path[...slash]), for: self)
    }
  }

  func stop() {
    events.queue.async { [self] in
      isStopped = true
      events.remove(self)
    }
  }

  func hasChanged() {
    guard !isLooking, !isStopped else { return }
    isLooking = true
    DispatchQueue.global(qos: .utility).async { [self] in
      look()
      events.queue.async { self.isLooking = false }
    }
  }
}
