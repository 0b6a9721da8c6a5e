import Foundation
import Testing

/// A process that runs a role of crash-check, which is built beside the tests.
final class OtherProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer: [UInt8] = []

  init(_ arguments: String...) throws {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    try #require(count > 0)
    let tests = URL(
      fileURLWithPath: String(
        decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self))
    process.executableURL = tests.deletingLastPathComponent()
      .appendingPathComponent("crash-check")
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try? output.fileHandleForWriting.close()
  }

  deinit {
    if process.isRunning { kill() }
  }

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

  /// Sends the byte that a role waits for.
  func goOn() throws { try input.fileHandleForWriting.write(contentsOf: [10]) }

  /// Ends it with SIGKILL, and waits until it is gone.
  func kill() {
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for its end, and returns its status.
  func end() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
