import CLibPQ
import Glibc
import LarderSQLite

// Waiting for what the server sends by itself: notifications, and the end of the connection.

extension PostgresConnection {
  /// Waits until the server has sent something, a time has come, or the interrupts are woken. Notifications
  /// go to ``received``.
  ///
  /// - Parameter limit: the time, in nanoseconds of the `MonotonicClock`.
  func waitForInput(until limit: Int) throws {
    takeNotifications()
    guard let handle, isOpen else { throw lost() }
    guard received?.isEmpty != false else { return }
    var files = [
      pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0),
      pollfd(fd: interrupts.file, events: Int16(POLLIN), revents: 0),
    ]
    let left = max(0, limit - MonotonicClock.nanoseconds)
    guard poll(&files, 2, Int32(clamping: (left + 999_999) / 1_000_000)) > 0 else { return }
    if files[1].revents != 0 { _ = interrupts.take() }
    guard files[0].revents != 0 else { return }
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    takeNotifications()
  }

  /// Takes the notifications that have arrived, which would pile up otherwise: nothing reads them unless the
  /// connection listens.
  func takeNotifications() {
    while let handle, let notification = PQnotifies(handle) {
      if received != nil {
        received?.append(
          (
            String(cString: notification.pointee.relname),
            String(cString: notification.pointee.extra)
          ))
      }
      PQfreemem(notification)
    }
  }
}

extension PostgresInterrupt {
  /// Waits for a time, or until it is woken.
  func wait(nanoseconds: Int) {
    var event = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    if poll(&event, 1, Int32(clamping: (nanoseconds + 999_999) / 1_000_000)) > 0 { _ = take() }
  }
}
