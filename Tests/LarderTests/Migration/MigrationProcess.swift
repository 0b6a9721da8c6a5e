import Foundation
import Testing

/// A process that runs migration-check, which is built beside the tests.
final class MigrationProcess {
  private var identifier: pid_t = 0
  private var status: Int32?
  private let input = Pipe()
  private let output = Pipe()
  private var buffer: [UInt8] = []

  init(_ path: String, count: Int) throws {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("migration-check").path
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, 0)
    posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
    for file in [input.fileHandleForWriting, output.fileHandleForReading] {
      posix_spawn_file_actions_addclose(&actions, file.fileDescriptor)
    }
    var words: [UnsafeMutablePointer<CChar>?] = []
    for word in [program, path, String(count)] { words.append(strdup(word)) }
    words.append(nil)
    defer { for word in words { free(word) } }
    try #require(posix_spawn(&identifier, program, &actions, nil, &words, environ) == 0)
    try input.fileHandleForReading.close()
    try output.fileHandleForWriting.close()
  }

  deinit { kill() }

  /// The next line that it writes; nil when there is none before the deadline, or ever.
  func line(before deadline: ContinuousClock.Instant = .now + .seconds(60)) -> String? {
    while true {
      if let end = buffer.firstIndex(of: 10) {
        defer { buffer.removeFirst(end + 1) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      let left = max(.zero, deadline - .now)
      let file = output.fileHandleForReading.fileDescriptor
      var wanted = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, Int32(min(left / .milliseconds(1), 60_000))) > 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(file, &bytes, bytes.count)
      guard count > 0 else { return nil }
      buffer += bytes[..<count]
    }
  }

  /// The lines up to its end.
  var remainingLines: [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  /// Lets it begin, once it has said that it is ready.
  func goOn() throws {
    #expect(line() == "ready")
    try input.fileHandleForWriting.write(contentsOf: [10])
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
