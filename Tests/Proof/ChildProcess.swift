import Foundation

/// This program again, as a process of its own that says what it does in lines.
///
/// Foundation's `Process` would do, but takes milliseconds, and these are started by the thousand.
final class ChildProcess {
  let identifier: pid_t
  private var status: Int32?
  private let input: Int32
  private let output: Int32
  private var buffer: [UInt8] = []

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts `proof` with these arguments.
  convenience init(_ arguments: String...) throws {
    try self.init(program: "/proc/self/exe", arguments: ["proof"] + arguments)
  }

  /// Starts a program, which is looked for on the PATH if it is a mere name.
  init(program: String, arguments: [String]) throws {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
      throw Failure(description: "no pipe: \(String(cString: strerror(errno)))")
    }
    // Another child that outlives this process's end would keep them open.
    for file in toChild + fromChild { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var identifier: pid_t = 0
    let code = posix_spawnp(&identifier, program, &actions, nil, &words, environ)
    close(toChild[0])
    close(fromChild[1])
    self.identifier = identifier
    input = toChild[1]
    output = fromChild[0]
    guard code == 0 else {
      status = 127
      throw Failure(description: "\(program) can't be started: \(String(cString: strerror(code)))")
    }
  }

  deinit {
    kill()
    close(input)
    close(output)
  }

  /// The next line that it writes; nil when there is none before the deadline, or ever.
  func line(before deadline: ContinuousClock.Instant = .now + .seconds(60)) -> String? {
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

  /// All lines up to its end.
  func remainingLines() -> [String] {
    var lines: [String] = []
    while let line = line(before: .now + .seconds(86_400)) { lines.append(line) }
    return lines
  }

  /// Sends it a line.
  func say(_ line: String = "") {
    let bytes = Array((line + "\n").utf8)
    _ = write(input, bytes, bytes.count)
  }

  /// Whether it has neither ended nor written its results, which it does last.
  var isRunning: Bool {
    var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return buffer.isEmpty && poll(&wanted, 1, 0) == 0
  }

  /// Ends it with SIGKILL, unless it has ended, and waits until it is gone.
  func kill() {
    guard status == nil else { return }
    _ = Foundation.kill(identifier, SIGKILL)
    _ = end()
  }

  /// Waits for its end, and returns its status: what it exited with, or 128 and the signal.
  func end() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(identifier, &raw, 0) < 0 && errno == EINTR {}
    let ended = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
    status = ended
    return ended
  }
}

/// Writes a line for the parent. Short enough to arrive in one piece, whoever else writes.
func tellParent(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(1, bytes, bytes.count)
}
