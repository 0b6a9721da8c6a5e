import Dispatch
import Glibc
import Synchronization

/// Handles Ctrl-C during work that has to be undone.
package enum Interruption {
  private static let wasAsked = Atomic<Bool>(false)

  /// From here on, SIGINT and SIGTERM don't end the program; ``check()`` throws instead.
  package static func catchSignals() {
    // Initializes the static variable: a signal handler mustn't.
    wasAsked.store(false, ordering: .relaxed)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in
      Interruption.wasAsked.store(true, ordering: .relaxed)
    }
    for signal in [SIGINT, SIGTERM] { sigaction(signal, &action, nil) }
  }

  package static var isAskedFor: Bool { wasAsked.load(ordering: .relaxed) }

  package static func check() throws {
    if isAskedFor { throw Failure(.interrupted, "interrupted") }
  }

  /// Calls a closure on another thread, every 50 ms once an interrupt was requested: the interrupted work may
  /// begin another statement. Stops when the returned alarm is released.
  package static func whenAsked(_ action: @escaping @Sendable () -> Void) -> Alarm {
    Alarm(every: .milliseconds(50)) { if isAskedFor { action() } }
  }
}

/// A repeating timer that calls a closure on another thread for as long as the alarm is retained.
package final class Alarm {
  private let timer: any DispatchSourceTimer

  package init(
    after delay: DispatchTimeInterval = .milliseconds(0), every interval: DispatchTimeInterval,
    _ action: @escaping @Sendable () -> Void
  ) {
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + delay, repeating: interval)
    timer.setEventHandler(handler: action)
    timer.activate()
  }

  deinit { timer.cancel() }
}
