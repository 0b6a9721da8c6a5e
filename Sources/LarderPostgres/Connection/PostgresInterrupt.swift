import CLibPQ
import Dispatch
import Glibc
import LarderSQLite
import Synchronization

/// Stops what a connection waits for, from any thread.
///
/// An event that poll waits for beside the socket, so that nothing has to be sent or signalled to wake
/// whoever waits. What tells a request from the waking that an earlier one has left is the flag.
final class PostgresInterrupt: Sendable {
  /// What poll waits for.
  let file: Int32
  let isRequested = Atomic<Bool>(false)
  private let generation = ProcessGeneration.watch()

  init() throws {
    file = larder_event()
    guard file >= 0 else {
      throw PostgresFailure(
        SQLState.cannotConnect, "no descriptor: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(file) }

  /// Has the call that waits now throw; does nothing where none does. The server is asked to cancel the
  /// statement; if it doesn't answer in time, the connection is given up.
  func interrupt() {
    // A child process has the same event as its parent.
    guard generation == ProcessGeneration.current else { return }
    isRequested.store(true, ordering: .releasing)
    wake()
  }

  /// Wakes whoever waits, to look again.
  func wake() { eventfd_write(file, 1) }

  /// Whether an interruption was asked for, which is then forgotten.
  func take() -> Bool {
    var count: UInt64 = 0
    eventfd_read(file, &count)
    return isRequested.exchange(false, ordering: .acquiring)
  }
}

/// The request that the server cancel what a connection runs, on its way.
///
/// It takes a connection of its own, and libpq waits for its end without any limit; hence a queue of its own,
/// whose thread a server that is frozen holds for as long. There is at most one for each connection.
///
/// See [Canceling Queries](https://www.postgresql.org/docs/current/libpq-cancel.html).
final class CancelRequest: Sendable {
  private let hasEnded = Atomic<Bool>(false)

  /// Whether it has arrived, or can't. What the connection runs next is safe from it then.
  var isAnswered: Bool { hasEnded.load(ordering: .acquiring) }

  /// Sends it; nil where there is no connection any more.
  init?(_ handle: OpaquePointer, waking interrupts: PostgresInterrupt) {
    guard let cancel = larder_cancel_make(handle) else { return nil }
    // The address as a number, since pointers aren't Sendable. Only the closure has it from here on.
    let address = UInt(bitPattern: cancel)
    DispatchQueue(label: "larder.cancel").async {
      let cancel = UnsafeMutableRawPointer(bitPattern: address)
      // Whether it fails is of no use: what counts is whether the statement ends.
      larder_cancel_send(cancel)
      larder_cancel_free(cancel)
      self.hasEnded.store(true, ordering: .releasing)
      interrupts.wake()
    }
  }
}
