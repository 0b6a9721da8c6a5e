import Dispatch
import Glibc
import Synchronization

/// Ctrl-C while something is under way that has to be undone.
package enum Interruption {
  private static let wasAsked = Atomic<Bool>(false)

  /// From here on, an interrupt doesn't end the program; ``check()`` throws.
  package static func catchSignals() {
    // The handler must find it initialized.
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

  /// Has something called, on another thread, once an interrupt was asked for, and again and again from then
  /// on: what it interrupts may begin anew. Ends with what is returned.
  package static func whenAsked(_ action: @escaping @Sendable () -> Void) -> Alarm {
    Alarm(every: .milliseconds(50)) { if isAskedFor { action() } }
  }
}

/// Something that is called on another thread every so often, as long as this is kept.
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
