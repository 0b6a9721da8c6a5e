import Glibc

/// A process that this one forks, and how it ended.
enum ForkedProcess: Equatable {
  /// With this code, from 0 to 255.
  case exited(Int32)
  /// By this signal: 11 for an invalid address, 14 for the alarm of one that hung.
  case ended(signal: Int32)

  /// There is no child: `fork` or `waitpid` failed with this error number.
  struct Failure: Error { let number: Int32 }

  /// Runs a closure in a forked process, which ends with the number that it returns.
  ///
  /// What makes it sound: this process has one thread, so that no other can hold a lock that the
  /// child would wait for. Swift can't call fork; looking it up is enough.
  static func run(_ body: () -> Int32) throws -> ForkedProcess {
    typealias Fork = @convention(c) () -> Int32
    guard let address = dlsym(nil, "fork") else { throw Failure(number: ENOSYS) }
    let child = unsafeBitCast(address, to: Fork.self)()
    if child == 0 {
      for signal in [SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGTRAP] {
        _ = Glibc.signal(signal, SIG_DFL)
      }
      // Whoever started the process may have blocked signals, that of the alarm too.
      var signals = sigset_t()
      sigfillset(&signals)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      alarm(20)
      _exit(body())
    }
    guard child > 0 else { throw Failure(number: errno) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw Failure(number: errno) }
    }
    return status & 0x7f == 0 ? .exited((status >> 8) & 0xff) : .ended(signal: status & 0x7f)
  }
}
