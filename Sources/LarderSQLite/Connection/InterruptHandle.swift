import CSQLite
import Synchronization

/// Stops the statement that a connection is running, from any thread.
///
/// ```swift
/// let handle = db.interruptHandle
/// Thread.detachNewThread { handle.interrupt() }
/// ```
///
/// See [Interrupt](https://www.sqlite.org/c3ref/interrupt.html).
public final class InterruptHandle: Sendable {
  // The address as a number, since pointers aren't Sendable. The mutex makes it sound: closing
  // clears the address before the handle goes, and waits for an interrupt under way.
  private let address: Mutex<UInt>
  private let counter = Atomic<Int>(0)
  private let stop: @Sendable () -> Void

  /// The number of interrupts that were requested.
  var count: Int { counter.load(ordering: .relaxed) }

  init(_ handle: OpaquePointer?) {
    address = Mutex(UInt(bitPattern: handle))
    stop = {}
  }

  /// A handle for another engine, whose running statement a closure stops from any thread.
  package init(_ stop: @escaping @Sendable () -> Void) {
    address = Mutex(0)
    self.stop = stop
  }

  /// Makes the statements that run now throw `ResultCode.interrupt`, which rolls back a
  /// transaction that they write in. Does nothing when none runs, or the database is closed.
  public func interrupt() {
    counter.wrappingAdd(1, ordering: .relaxed)
    stop()
    address.withLock { address in
      if let handle = OpaquePointer(bitPattern: address) { sqlite3_interrupt(handle) }
    }
  }

  func invalidate() {
    address.withLock { $0 = 0 }
  }
}
