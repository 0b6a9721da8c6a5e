import CLibPQ
import Dispatch
import Glibc
import LarderSQLite
import Synchronization

/// Interrupts the wait of a connection, from any thread.
///
/// It is an eventfd for which poll waits beside the socket, so that nothing has to be sent or signalled to
/// wake the waiting thread. The flag tells a request from the leftover wake-up of an earlier one.
final class PostgresInterrupt: Sendable {
  /// The eventfd for which poll waits.
  let file: Int32
  let isRequested = Atomic<Bool>(false)
  private let generation = ProcessGeneration.watch()

  init() throws {
    file = larder_event()
    guard file >= 0 else {
      throw PostgresFailure(
        SQLState.cannotConnect, "no file descriptor: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(file) }

  /// Makes the call that waits now throw; does nothing if none does. The server is asked to cancel the
  /// statement; if it doesn't answer in time, the connection is given up.
  func interrupt() {
    // A forked child process shares the eventfd with its parent.
    guard generation == ProcessGeneration.current else { return }
    isRequested.store(true, ordering: .releasing)
    wake()
  }

  /// Wakes the waiting thread, so that it checks again.
  func wake() { eventfd_write(file, 1) }

  /// Takes the request: returns whether an interruption was asked for, and clears it.
  func take() -> Bool {
    var count: UInt64 = 0
    eventfd_read(file, &count)
    return isRequested.exchange(false, ordering: .acquiring)
  }
}

/// A request, on its way to the server, to cancel what a connection runs.
///
/// libpq sends it over a connection of its own, and waits without a limit until that ends. So the request
/// runs on a queue of its own, whose thread a frozen server blocks for as long. There is at most one request
/// for each connection.
///
/// See [Canceling Queries](https://www.postgresql.org/docs/current/libpq-cancel.html).
final class CancelRequest: Sendable {
  private let hasEnded = Atomic<Bool>(false)

  /// Whether the request has arrived, or can't arrive. Then it can't hit the connection's next statement.
  var isAnswered: Bool { hasEnded.load(ordering: .acquiring) }

  /// Sends the request; nil if there is no connection any more.
  init?(_ handle: OpaquePointer, waking interrupts: PostgresInterrupt) {
    guard let cancel = larder_cancel_make(handle) else { return nil }
    // The address is a number, since pointers aren't Sendable. Only the closure has it from here on.
    let address = UInt(bitPattern: cancel)
    DispatchQueue(label: "larder.cancel").async {
      let cancel = UnsafeMutableRawPointer(bitPattern: address)
      // Its failure doesn't matter: what counts is whether the statement ends.
      larder_cancel_send(cancel)
      larder_cancel_free(cancel)
      self.hasEnded.store(true, ordering: .releasing)
      interrupts.wake()
    }
  }
}
