import Glibc
import Synchronization

/// Ctrl-C while something is under way that has to be undone.
enum Interruption {
  private static let wasAsked = Atomic<Bool>(false)

  /// From here on, an interrupt doesn't end the program; ``check()`` throws.
  static func catchSignals() {
    // The handler must find it initialized.
    wasAsked.store(false, ordering: .relaxed)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in
      Interruption.wasAsked.store(true, ordering: .relaxed)
    }
    for signal in [SIGINT, SIGTERM] { sigaction(signal, &action, nil) }
  }

  static var isAskedFor: Bool { wasAsked.load(ordering: .relaxed) }

  static func check() throws {
    if isAskedFor { throw Failure(.interrupted, "interrupted") }
  }
}
