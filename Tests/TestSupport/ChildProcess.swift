import Foundation
import LarderSQLite

/// A child process, whose output is read line by line. It is killed when nobody holds it any more.
///
/// Foundation's `Process` would do, but takes milliseconds, where these are started by the thousand; and it
/// leaks a little for each thread that runs one, which the address sanitizer reports.
package final class ChildProcess {
  package let identifier: pid_t
  private var status: Int32?
  private let input: Int32
  private let output: Int32
  private var buffer: [UInt8] = []

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// What a standard stream of the process is.
  package enum Stream {
    /// What it is for this process.
    case inherited
    /// A pipe to or from this process.
    case pipe
    /// Where the standard output goes.
    case output
    case file(String)

    package static let nothing = Stream.file("/dev/null")
  }

  /// Starts a program, which is looked for on the PATH if it is a mere name.
  package init(
    _ program: String, _ arguments: [String] = [], in folder: String? = nil, input: Stream = .pipe,
    output: Stream = .pipe, errors: Stream = .inherited
  ) throws {
    // A process that is spawned begins where its parent is: a shell goes to the folder.
    let shell = folder.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0] } ?? []
    let started = try Self.starting.withLock { _ in
      try Self.spawn(shell + [program] + arguments, [input, output, errors])
    }
    (identifier, self.input, self.output) = started
  }

  /// Held while a process is started, so that no other inherits its pipes and keeps them open.
  ///
  /// Not of Void: a state of no size lies where the lock's next property is, and the thread sanitizer takes who
  /// reads that for one who reads the state.
  private static let starting = Lock(0)

  private static func spawn(
    _ command: [String], _ streams: [Stream]
  ) throws -> (identifier: pid_t, input: Int32, output: Int32) {
    var toChild: [Int32] = [-1, -1]
    var fromChild: [Int32] = [-1, -1]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
      throw Failure(description: "no pipe: \(String(cString: strerror(errno)))")
    }
    for file in toChild + fromChild { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (index, stream) in streams.enumerated() {
      let number = Int32(index)
      switch stream {
      case .inherited: break
      case .pipe:
        posix_spawn_file_actions_adddup2(&actions, index == 0 ? toChild[0] : fromChild[1], number)
      case .output: posix_spawn_file_actions_adddup2(&actions, 1, number)
      case .file(let path):
        let flags = index == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
      }
    }
    // Threads of a test may hold signals back, which the process would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words = command.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var identifier: pid_t = 0
    let code = posix_spawnp(&identifier, command[0], &actions, &attributes, &words, environ)
    for file in [toChild[0], fromChild[1]] { close(file) }
    guard code == 0 else {
      for file in [toChild[1], fromChild[0]] { close(file) }
      throw Failure(
        description: "\(command[0]) can't be started: \(String(cString: strerror(code)))")
    }
    return (identifier, toChild[1], fromChild[0])
  }

  /// The program of this process.
  package static let own = "/proc/self/exe"

  /// The path of a program that is built beside the one of this process.
  package static func built(_ name: String) -> String {
    URL(fileURLWithPath: own).resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent(name).path
  }

  /// Starts `test-process`, which is built beside the tests.
  package static func role(_ arguments: String...) throws -> ChildProcess {
    try ChildProcess(built("test-process"), arguments)
  }

  /// Starts this program again.
  package static func again(_ arguments: String...) throws -> ChildProcess {
    try ChildProcess(own, arguments)
  }

  deinit {
    kill()
    close(input)
    close(output)
  }

  /// The next line that it writes; nil when there is none before the deadline, or ever.
  package func line(before deadline: ContinuousClock.Instant = .now + .seconds(60)) -> String? {
    while true {
      if let end = buffer.firstIndex(of: 10) {
        defer { buffer.removeFirst(end + 1) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      let left = max(.zero, deadline - .now)
      var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, Int32(min(left / .milliseconds(1), 1e9))) > 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &bytes, bytes.count)
      guard count > 0 else { return nil }
      buffer += bytes[..<count]
    }
  }

  /// All lines up to its end, or to the first that takes longer.
  package func remainingLines(patience: Duration = .seconds(60)) -> [String] {
    var lines: [String] = []
    while let line = line(before: .now + patience) { lines.append(line) }
    return lines
  }

  /// Sends it a line.
  package func say(_ line: String = "") {
    let bytes = Array((line + "\n").utf8)
    _ = write(input, bytes, bytes.count)
  }

  /// Whether it has neither ended nor written its results, which it does last.
  package var isRunning: Bool {
    var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return buffer.isEmpty && poll(&wanted, 1, 0) == 0
  }

  /// Whether it has ended, be it that nobody has waited for it yet.
  package var hasEnded: Bool {
    if status != nil { return true }
    var found = siginfo_t()
    waitid(P_PID, id_t(identifier), &found, WEXITED | WNOHANG | WNOWAIT)
    return found.si_signo != 0
  }

  package func send(_ signal: Int32) {
    if status == nil { _ = Foundation.kill(identifier, signal) }
  }

  /// Ends it with SIGKILL, unless it has ended, and waits until it is gone.
  package func kill() {
    send(SIGKILL)
    _ = end()
  }

  /// Waits for its end, and returns its status: what it exited with, or 128 and the signal.
  @discardableResult
  package func end() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(identifier, &raw, 0) < 0 && errno == EINTR {}
    let ended = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
    status = ended
    return ended
  }
}

extension ChildProcess {
  /// Runs a program to its end: its status, and all that it wrote. On a thread that ends, so that no task
  /// waits for the one that waits.
  package static func run(
    _ program: String, _ arguments: [String], in folder: String? = nil
  ) async throws -> (status: Int32, output: String) {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            let process = try ChildProcess(
              program, arguments, in: folder, input: .nothing, errors: .output)
            let lines = process.remainingLines(patience: .seconds(86_400)).map { $0 + "\n" }
            let rest = String(decoding: process.buffer, as: UTF8.self)
            return (process.end(), lines.joined() + rest)
          })
      }
    }
  }
}

/// What a child process says to its parent, and waits for.
package enum Parent {
  /// Writes a line. Short enough to arrive in one piece, whoever else writes.
  package static func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(1, bytes, bytes.count)
  }

  /// Waits until it says to go on.
  package static func wait() { _ = readLine() }
}
