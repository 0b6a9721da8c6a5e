import Foundation
import Testing

/// How a child process ended.
enum ChildProcess: Equatable {
  /// With this code, from 0 to 255.
  case exited(Int32)
  /// By this signal: 11 for an invalid address, 14 for the alarm of one that hung.
  case ended(signal: Int32)

  /// Runs a closure in a forked process, which ends with the number that it returns.
  ///
  /// Swift can't call fork; looking it up is enough for a child that only calls and exits.
  static func run(_ body: () -> Int32) throws -> ChildProcess {
    typealias Fork = @convention(c) () -> Int32
    let address = try #require(dlsym(nil, "fork"))
    let child = unsafeBitCast(address, to: Fork.self)()
    if child == 0 {
      for signal in [SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGTRAP] {
        _ = Foundation.signal(signal, SIG_DFL)
      }
      // Threads of a pool have all signals blocked, that of the alarm too.
      var signals = sigset_t()
      sigfillset(&signals)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      alarm(20)
      _exit(body())
    }
    try #require(child > 0)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return status & 0x7f == 0 ? .exited((status >> 8) & 0xff) : .ended(signal: status & 0x7f)
  }
}
